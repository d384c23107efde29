// The contents of the operator's page: numbers, ids, and what operators wrote. The page reads no
// more of customers than ids and the hosts of their webhooks. It is HTML without a script.

import type { Database } from '../../server/db/database.ts';
import { openReadings } from '../../server/db/gaps.ts';
import { mostSwaps, overdueSteps, swapsByStatus } from '../../server/db/gauges.ts';
import { haltedAssets, listHalts } from '../../server/db/halts.ts';
import { headsShown, nearDeadlines } from '../../server/db/house-shown.ts';
import { listActions } from '../../server/db/operator-actions.ts';
import { version } from '../../server/db/version.ts';
import { failingShown } from '../../server/db/webhooks-shown.ts';
import { toldOf } from '../../server/restore/gate.ts';
import { harmless } from '../command.ts';
import { actionLine } from './audit.ts';
import { keeperLines, keeperState } from './keeper.ts';
import { statsLines, statsOf } from './stats.ts';
import { webhookLine } from './webhooks.ts';

/** Lines of a part: how many more there are is its last one. */
const mostShown = 20;
/** Deadlines of the last hour, and of the next one. */
const nearSeconds = 3_600;
/** An urgent step is overdue after so long; a job of the keeper that failed so often. */
const overdueSeconds = 60;
const failures = 3;
const dayMs = 86_400_000;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (each) => escapes[each]!);

export type Part = { readonly title: string; readonly lines: readonly string[] };

/** Everything, read one after the other on one connection. */
export async function partsOf(db: Database, now = Date.now()): Promise<Part[]> {
  const seconds = Math.floor(now / 1_000);
  const heads = await headsShown(db);
  const chains = heads.map(({ chain }) => chain);
  const halts = await listHalts(db);
  const assets = await haltedAssets(db, mostShown);
  const held = (await openReadings(db)).map(toldOf);
  const swaps = await swapsByStatus(db, mostSwaps);
  const from = seconds - nearSeconds;
  const to = seconds + nearSeconds;
  const near = await nearDeadlines(db, from, to, mostShown);
  const about = { chains, failures };
  const overdue = await overdueSteps(db, seconds - overdueSeconds, about);
  const webhooks = await failingShown(db, mostShown);
  const keeper = keeperLines(await keeperState(db, now));
  const day = new Date(now).toISOString().slice(0, 10);
  const stats = statsLines(await statsOf(db, day, Math.floor(now / dayMs) * dayMs));
  const wanted = { command: null, operator: null, since: null, limit: mostShown };
  const actions = await listActions(db, wanted);
  const late = overdue.filter(({ count }) => count > 0);
  return [
    {
      title: 'Held',
      lines: [
        ...held.map((each) => `agreements wait: ${each}`),
        ...halts.map(({ chain, at, reason }) => `chain ${chain} since ${iso(at)}: ${reason}`),
        ...assets.map(({ chain, symbol, at }) => `asset ${symbol} on ${chain} since ${at}`),
      ],
    },
    {
      title: 'Chains',
      lines: heads.map(({ chain, height, seenAt }) => {
        return `${chain}  block ${height}, seen ${age(now, seenAt)} ago`;
      }),
    },
    {
      title: 'Open swaps',
      lines: swaps.map(({ status, highValue, count }) => {
        return `${count} ${status}${highValue ? ' of high value' : ''}`;
      }),
    },
    {
      title: 'Overdue',
      lines: late.map(({ step, count, at }) => {
        const first = at === null ? '' : `, first due ${iso(new Date(at * 1_000))}`;
        return `${count} to ${step}${first}`;
      }),
    },
    {
      title: 'Deadlines of the last hour and the next one',
      lines: near.map(({ step, swapId, at }) => {
        return `${iso(new Date(at * 1_000))}  ${step}  swap ${swapId}`;
      }),
    },
    { title: 'Failing webhooks', lines: webhooks.map(webhookLine) },
    { title: 'Keeper', lines: keeper },
    { title: 'Today', lines: stats },
    { title: 'What operators did', lines: actions.map(actionLine) },
  ];
}

const iso = (at: Date) => at.toISOString();
const age = (now: number, at: Date) => `${Math.max(0, Math.round((now - at.getTime()) / 1_000))} s`;

export const style = `body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem }
body { color: #111; background: #fff }
h1 { font-size: 1.3rem } h2 { font-size: 1rem; margin: 1.5rem 0 0.25rem }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere } p { color: #555 }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #111 } p { color: #aaa } }
`;

export function htmlOf(parts: readonly Part[], now = new Date()): string {
  const sections = parts.map(({ title, lines: all }) => {
    const more = all.length > mostShown ? [`and ${all.length - mostShown} more`] : [];
    const lines = [...all.slice(0, mostShown), ...more];
    const shown =
      lines.length === 0 ? '<p>nothing</p>' : `<pre>${escaped(harmless(lines.join('\n')))}</pre>`;
    return `<section><h2>${escaped(title)}</h2>${shown}</section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Operator</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="style.css"></head>
<body><h1>Operator, ${escaped(version)}</h1>
<p>As of ${now.toISOString()}. It only shows; it is read anew every 30 s.</p>
<main>${sections.join('\n')}</main></body></html>
`;
}
