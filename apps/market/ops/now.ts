// `ops now`: the state of the market on one screen. The command reads ids of customers and the hosts
// of their webhooks, and no more of them.

import { harmless } from '@parley/host/command.ts';
import type { Database } from '../db/database.ts';
import { holdingGaps } from '../db/gaps.ts';
import { mostSwaps, overdueSteps, swapsByStatus } from '../db/gauges.ts';
import { haltedAssets, listHalts } from '../db/halts.ts';
import { readHeads } from '../db/heads.ts';
import { nearDeadlines } from '../db/house-shown.ts';
import { listActions } from '../db/operator-actions.ts';
import { failingShown } from '../db/webhooks-shown.ts';
import { timeOf } from '../restore/gate.ts';
import { actionLine } from './audit.ts';
import { keeperLines, keeperState } from './keeper.ts';
import { print, reading } from './operator.ts';
import { statsLines, statsOf } from './stats.ts';
import { webhookLine } from './webhooks.ts';

/** Lines of a part; its last line says how many more there are. */
const mostShown = 20;
/** Deadlines of the last hour, and of the next one. */
const nearSeconds = 3_600;
/** An urgent step is overdue after so long; a job of the keeper that failed so often. */
const overdueSeconds = 60;
const failures = 3;
const dayMs = 86_400_000;

type Part = { readonly title: string; readonly lines: readonly string[] };

/** Everything, read one after the other on one connection. */
async function partsOf(db: Database, now = Date.now()): Promise<Part[]> {
  const seconds = Math.floor(now / 1_000);
  const heads = await readHeads(db);
  const chains = heads.map(({ chain }) => chain);
  const halts = await listHalts(db);
  const assets = await haltedAssets(db, mostShown);
  const held = (await holdingGaps(db)).map(timeOf);
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
        ...held.map((each) => `agreements wait, time is missing: ${each}`),
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
    { title: 'Acts of operators', lines: actions.map(actionLine) },
  ];
}

export function linesOf(parts: readonly Part[]): string[] {
  return parts.flatMap(({ title, lines: all }) => {
    const more = all.length > mostShown ? [`and ${all.length - mostShown} more`] : [];
    const lines = [...all.slice(0, mostShown), ...more].map((each) => `  ${harmless(each)}`);
    return [title, ...(lines.length === 0 ? ['  nothing'] : lines)];
  });
}

const iso = (at: Date) => at.toISOString();
const age = (now: number, at: Date) => `${Math.max(0, Math.round((now - at.getTime()) / 1_000))} s`;

export async function now(json: boolean): Promise<number> {
  const parts = await reading((db) => partsOf(db));
  print(json ? JSON.stringify(parts) : linesOf(parts).join('\n'));
  return 0;
}
