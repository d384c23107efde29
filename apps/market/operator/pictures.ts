// Small pictures in SVG, for the operator's page. Places are percentages, so that a picture fits its
// card at every width and its texts and circles keep their shape. Each says its facts in text
// beside it, and is hidden from a screen reader.

import { type Bubble, placeOf, ticks } from './deadlines.ts';
import type { Minute } from './traffic.ts';
import { html, type Markup } from './words.ts';

const percent = (share: number) => `${(Math.min(1, Math.max(0, share)) * 100).toFixed(2)}%`;

/** `share` of its length filled, `soft` more in a paler colour, and a mark at `mark`. */
export function bar(share: number, { soft = 0, mark = null, tone = 'accent' }: Bar = {}): Markup {
  const line =
    mark === null
      ? null
      : html`<rect class="mark" x="${percent(mark)}" width="2" height="100%"></rect>`;
  return html`<svg class="bar ${tone}" aria-hidden="true"><rect class="soft" width="${percent(share + soft)}" height="100%"></rect><rect class="full" width="${percent(share)}" height="100%"></rect>${line}</svg>`;
}

type Bar = {
  readonly soft?: number;
  readonly mark?: number | null;
  readonly tone?: 'accent' | 'warn' | 'bad' | 'good';
};

/** Pixels. A circle with more in it is larger, up to that. */
const smallest = 6;
const largest = 17;

/** A lane's width beside its first and last circle, as a share. */
const inset = 0.03;
const across = (place: number) => percent(inset + place * (1 - 2 * inset));

export function lane(bubbles: readonly Bubble[]): Markup {
  const circles = bubbles.map(({ place, count }) => {
    const radius = Math.min(largest, smallest + 2.5 * Math.sqrt(count - 1));
    const number =
      count === 1
        ? null
        : html`<text x="${across(place)}" y="50%" dy="0.35em">${count > 99 ? '99+' : count}</text>`;
    const tone = place < placeOf(3_600) ? 'soon' : 'later';
    return html`<circle class="${tone}" cx="${across(place)}" cy="50%" r="${(count === 1 ? smallest : Math.max(10, radius)).toFixed(1)}"></circle>${number}`;
  });
  return html`<svg class="lane" aria-hidden="true"><line x1="0" x2="100%" y1="50%" y2="50%"></line>${circles}</svg>`;
}

export function axis(): Markup {
  const labels = ticks.map(([seconds, label], at) => {
    const anchor = at === 0 ? 'start' : at === ticks.length - 1 ? 'end' : 'middle';
    return html`<text x="${at === 0 ? '0' : across(placeOf(seconds))}" y="14" text-anchor="${anchor}">${label}</text>`;
  });
  return html`<svg class="axis" aria-hidden="true">${labels}</svg>`;
}

/** A column for each minute, the faults of ours on top of it. */
export function minutesChart(minutes: readonly Minute[]): Markup {
  const most = Math.max(1, ...minutes.map(({ ok, refused, failed }) => ok + refused + failed));
  const width = 1 / minutes.length;
  const columns = minutes.map(({ ok, refused, failed }, at) => {
    const column = (from: number, count: number, kind: string) =>
      count === 0
        ? null
        : html`<rect class="${kind}" x="${percent(at * width)}" width="${percent(width * 0.72)}" y="${percent(1 - (from + count) / most)}" height="${percent(count / most)}"></rect>`;
    return [
      column(0, ok, 'ok'),
      column(ok, refused, 'refused'),
      column(ok + refused, failed, 'failed'),
    ];
  });
  return html`<svg class="minutes" aria-hidden="true"><line x1="0" x2="100%" y1="100%" y2="100%"></line>${columns}</svg>`;
}

const paths = {
  good: 'M5 12.5l4.5 4.5L19 7.5',
  warn: 'M12 6.5v7M12 17.2v.3',
  bad: 'M7.5 7.5l9 9M16.5 7.5l-9 9',
} as const;

export function sign(tone: keyof typeof paths): Markup {
  return html`<svg class="sign ${tone}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="12"></circle><path d="${paths[tone]}"></path></svg>`;
}
