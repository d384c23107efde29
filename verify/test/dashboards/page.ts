// The page that draws the panels of a dashboard, on Grafana's grid of 24 columns.

import { join } from 'node:path';
import type { Page } from 'playwright-core';

export type Line = {
  readonly name: string;
  readonly points: readonly (readonly [at: number, value: number])[];
};
export type Drawn = {
  readonly title: string;
  /** The last value alone. */
  readonly isStat: boolean;
  readonly place: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly unit: 'short' | 's' | 'percentunit' | 'bytes';
  readonly lines: readonly Line[];
};
export type Board = {
  readonly title: string;
  readonly panels: readonly Drawn[];
  readonly start: number;
  readonly end: number;
};

const style = `
body { margin: 0; padding: 20px; background: var(--ground); color: var(--ink);
  font: 13px/1.4 "Liberation Sans", sans-serif; }
h1 { margin: 0 0 14px; font-size: 20px; }
main { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 30px; gap: 8px; }
section { display: flex; flex-direction: column; overflow: hidden; padding: 10px 12px;
  border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
h2 { margin: 0; font-size: 13px; }
.value { margin: auto 0; font-size: 34px; font-weight: bold; color: var(--accent); }
.chart { flex: 1; min-height: 0; }
.none { margin: auto; color: var(--ink-soft); }
ul { display: flex; flex-wrap: wrap; gap: 0 12px; max-height: 36px; margin: 0; padding: 0;
  overflow: hidden; list-style: none; font-size: 11px; color: var(--ink-soft); }
li::before { content: ""; display: inline-block; width: 10px; height: 3px; margin-right: 5px;
  vertical-align: middle; background: var(--own); }
`;

export async function drawInPage(page: Page, root: string, board: Board): Promise<void> {
  await page.setContent('<!doctype html><h1></h1><main></main>');
  await page.addStyleTag({ path: join(root, 'packages/web/style/tokens.css') });
  await page.addStyleTag({ path: join(root, 'node_modules/uplot/dist/uPlot.min.css') });
  await page.addStyleTag({ content: style });
  await page.addScriptTag({ path: join(root, 'node_modules/uplot/dist/uPlot.iife.min.js') });
  await page.evaluate(drawAll, board);
  await page.waitForFunction(() => document.querySelectorAll('canvas').length > 0);
}

/** Runs in the page, and knows nothing from outside itself. */
function drawAll({ title, panels, start, end }: Board): void {
  type Plot = new (options: object, data: object, into: HTMLElement) => unknown;
  const { uPlot } = globalThis as unknown as { uPlot: Plot };
  const colours =
    '#0f6f5c #d9822b #2b6cb0 #b3261e #7b4fbf #8a8d2c #1a9ba8 #c2477f #5d636e #3d8b40 #a0522d #4a4a9c'.split(
      ' ',
    );
  const short = (value: number) =>
    Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(value);
  const seconds = (value: number) => {
    if (Math.abs(value) < 1) return `${short(value * 1_000)} ms`;
    if (Math.abs(value) < 120) return `${short(value)} s`;
    return Math.abs(value) < 7_200 ? `${short(value / 60)} min` : `${short(value / 3_600)} h`;
  };
  const shown = {
    short,
    s: seconds,
    percentunit: (value: number) => `${short(value * 100)} %`,
    bytes: (value: number) => `${short(value / 2 ** 20)} MiB`,
  };
  const element = (name: string, into: Element, text = '') => {
    const made = document.createElement(name);
    made.textContent = text;
    into.append(made);
    return made;
  };
  const main = document.querySelector('main') as HTMLElement;
  (document.querySelector('h1') as HTMLElement).textContent = title;
  for (const { title: name, isStat, place, unit, lines } of panels) {
    const card = element('section', main);
    card.style.gridArea = `${place.y + 1} / ${place.x + 1} / span ${place.h} / span ${place.w}`;
    element('h2', card, name);
    if (lines.length === 0) {
      element('p', card, 'No data').className = 'none';
      continue;
    }
    if (isStat) {
      const last = lines[0]?.points.at(-1)?.[1] ?? 0;
      element('p', card, shown[unit](last)).className = 'value';
      continue;
    }
    const chart = element('div', card);
    chart.className = 'chart';
    const legend = element('ul', card);
    for (const [at, line] of lines.entries()) {
      const item = element('li', legend, line.name);
      item.style.setProperty('--own', colours[at % colours.length] ?? '');
    }
    const times = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))];
    times.sort((one, other) => one - other);
    const values = lines.map(({ points }) => {
      const byTime = new Map(points);
      return times.map((at) => byTime.get(at) ?? null);
    });
    const series = lines.map((_, at) => {
      return { stroke: colours[at % colours.length], width: 1.5, points: { show: false } };
    });
    const axis = { font: '11px sans-serif', stroke: '#5d636e', grid: { stroke: '#eceae4' } };
    const { clientWidth, clientHeight } = chart;
    const options = {
      width: clientWidth,
      height: clientHeight,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: () => [start, end] },
        y: {
          range: (_: unknown, low: number, high: number) => [Math.min(0, low), high * 1.1 || 1],
        },
      },
      axes: [
        { ...axis, size: 24, values: (_: unknown, at: number[]) => at.map(clockOf) },
        { ...axis, size: 58, values: (_: unknown, all: number[]) => all.map(shown[unit]) },
      ],
      series: [{}, ...series],
    };
    new uPlot(options, [times, ...values], chart);
  }
  function clockOf(at: number): string {
    return new Date(at * 1_000).toISOString().slice(11, 16);
  }
}
