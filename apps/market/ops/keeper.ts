// `ops keeper`: the watchtower's spending today, its waiting transactions and its stuck ones.

import { onOneLine } from '@parley/host/command.ts';
import type { Database } from '../db/database.ts';
import {
  keeperChains,
  openJobs,
  postsShown,
  spentBetween,
  stuckAttempts,
  stuckJobs,
} from '../db/keeper-shown.ts';
import { print, reading } from './operator.ts';

const stuckFailures = 3;
const stuckDueMs = 600_000;
const stuckSignedMs = 1_800_000;
/** Counted by purpose: past so many the rest is left out. */
const mostCounted = 200_000;
export const mostStuck = 50;
const dayMs = 86_400_000;

export async function keeperState(db: Database, now = Date.now()) {
  const day = new Date(Math.floor(now / dayMs) * dayMs);
  const chains = (await keeperChains(db)).map((each) => each.chain);
  const dueBefore = new Date(now - stuckDueMs);
  return {
    day: day.toISOString().slice(0, 10),
    posts: await postsShown(db),
    spent: await spentBetween(db, chains, day, new Date(day.getTime() + dayMs)),
    open: await openJobs(db, mostCounted),
    stuckJobs: await stuckJobs(db, { failures: stuckFailures, dueBefore, limit: mostStuck }),
    stuckTransactions: await stuckAttempts(db, new Date(now - stuckSignedMs), mostStuck),
  };
}

export type KeeperState = Awaited<ReturnType<typeof keeperState>>;

export function keeperLines(state: KeeperState): string[] {
  const { day, posts, spent, open, stuckJobs, stuckTransactions } = state;
  return [
    ...posts.map(({ chain, address, seenAt }) => {
      return `at work  ${chain}  ${address}  seen ${seenAt.toISOString()}`;
    }),
    ...spent.map(({ chain, purpose, transactions, charged }) => {
      const what = `${transactions} transactions for ${purpose ?? 'nothing more'}`;
      return `spent ${day}  ${chain}  ${charged}  (${what})`;
    }),
    ...open.map(({ chain, purpose, count, failing, reserve, dueAt }) => {
      const of = `${count} to ${purpose}, ${failing} have failed, reserve ${reserve}`;
      return `open  ${chain}  ${of}, first due ${dueAt.toISOString()}`;
    }),
    ...stuckJobs.map(({ chain, id, verb, swapId, leg, failures, lastFailure, dueAt }) => {
      const why = lastFailure === null ? '' : `, last: ${onOneLine(lastFailure)}`;
      const what = `job ${id}: ${verb} of leg ${leg} of swap ${swapId}`;
      return `STUCK  ${chain}  ${what}, due ${dueAt.toISOString()}, failed ${failures}${why}`;
    }),
    ...stuckTransactions.map(({ chain, txid, outcome, signedAt }) => {
      return `STUCK  ${chain}  transaction ${txid} is ${outcome} since ${signedAt.toISOString()}`;
    }),
  ];
}

export async function keeper(json: boolean): Promise<number> {
  const state = await reading((db) => keeperState(db));
  const money = (_: string, each: unknown) => (typeof each === 'bigint' ? String(each) : each);
  const lines = keeperLines(state);
  print(
    json
      ? JSON.stringify(state, money)
      : lines.join('\n') || 'no job is open, and the day has no costs',
  );
  return state.stuckJobs.length + state.stuckTransactions.length > 0 ? 1 : 0;
}
