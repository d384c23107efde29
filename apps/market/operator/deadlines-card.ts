// Swaps by deadline: the overdue first, then a picture of the next two days, then the next few by
// name.

import type { Deadline } from '../db/operator.ts';
import { type Lane, lanesOf, soonest, steps } from './deadlines.ts';
import { card, command, figure, noDatabase } from './parts.ts';
import { axis, lane } from './pictures.ts';
import type { Seen, Stored } from './read.ts';
import { clock, coins, grouped, html, type Markup, plural, span, symbolShown } from './words.ts';

/** Work that the market should have done by itself, by step of the metric. */
const overdueWords: Readonly<Record<string, readonly [one: string, many: string, how: string]>> = {
  reconcile: ['swap waits', 'swaps wait', 'npm run ops -- doctor'],
  keeper: ['gas transaction waits', 'gas transactions wait', 'npm run ops -- keeper'],
  refund: ['signed refund waits', 'signed refunds wait', 'npm run ops -- keeper'],
};

export function deadlinesCard(seen: Seen): Markup {
  const { stored, nowMs } = seen;
  const title = 'Swaps by deadline';
  if (stored === null) return card('deadlines', title, '', noDatabase);
  const now = nowMs / 1_000;
  const lanes = lanesOf(stored.deadlines, now);
  const count = lanes.reduce((sum, each) => sum + each.count, 0);
  const more = lanes.some(({ isMore }) => isMore) ? 'at least ' : '';
  const note = `${more}${plural(count, 'deadline')} ahead`;
  const inside = html`${overdueShown(seen, stored)}
<div class="lanes">${lanes.map((each) => laneShown(each, seen))}<div class="ends"></div>${axis()}</div>
${listShown(stored, now)}`;
  return card('deadlines', title, note, inside);
}

function overdueShown({ figures, nowMs }: Seen, stored: Stored): Markup | null {
  const late = figures.all('market_overdue_steps').filter(({ value }) => value > 0);
  if (late.length === 0) return null;
  const rows = late.map(({ labels }) => {
    const { step = '' } = labels;
    const [one, many, how] = overdueWords[step] ?? [step, step, 'npm run ops -- doctor'];
    const counted = figures.one('market_overdue_steps', { step });
    const oldest = figures.one('market_overdue_oldest_seconds', { step });
    return html`<li class="bad"><p><b class="tag">Overdue</b> <b>${figure(counted, grouped)}</b> ${counted?.value === 1 ? one : many} for the market, the oldest for ${figure(oldest, span)}.</p><p>${command(how)}</p></li>`;
  });
  const named = stored.overdue.map(({ swapId, status, at }) => {
    return html`<li class="bad"><p><b class="tag">Overdue</b> Swap <span class="mono">${swapId}</span>, ${status.replaceAll('_', ' ')}, for ${span(nowMs / 1_000 - at)}.</p><p>${command(`npm run ops -- doctor --swap ${swapId}`)}</p></li>`;
  });
  return html`<ul class="findings overdue">${rows}${named}</ul>`;
}

function laneShown({ step, count, isMore, withinHour, next, bubbles }: Lane, { figures }: Seen) {
  const first = figures.one('market_next_deadline_seconds', { step });
  const when =
    next === null || first === null
      ? html`nothing due`
      : html`${withinHour > 0 ? `${grouped(withinHour)} within an hour, ` : ''}next in ${figure(first, span)}`;
  return html`<p class="lane-name"><b>${steps[step]}</b> <b class="count">${grouped(count)}${isMore ? '+' : ''}</b><span class="dim">${when}</span></p>${lane(bubbles)}`;
}

function listShown(stored: Stored, now: number): Markup | null {
  const listed = soonest(stored.deadlines);
  if (listed.length === 0) return html`<p class="dim">No open swap waits for a deadline.</p>`;
  return html`<table><caption>The next ${listed.length === 1 ? 'one' : listed.length}</caption><thead><tr><th scope="col">Left</th><th scope="col">Who does what</th><th scope="col" class="right">Amount</th><th scope="col" class="wide">By</th><th scope="col" class="wide">Swap</th></tr></thead><tbody>${listed.map((each) => rowOf(each, stored, now))}</tbody></table>`;
}

function rowOf({ step, at, swapId, leg }: Deadline, { amounts }: Stored, now: number): Markup {
  const of = amounts.find((each) => each.swapId === swapId && each.leg === leg);
  const amount =
    of === undefined
      ? html`<span class="dim">not known</span>`
      : html`<span class="nowrap">${coins(of.amount, of.decimals)} ${symbolShown(of.symbol)}</span> <span class="dim nowrap">${of.chain}</span>`;
  const left = at - now;
  return html`<tr><td class="nowrap"><b class="${left < 3_600 ? 'soon' : ''}">${span(left)}</b></td><td>${steps[step]}</td><td class="right">${amount}</td><td class="wide dim nowrap">${clock(at * 1_000)}</td><td class="wide mono">${swapId}</td></tr>`;
}
