// How accounts kept what they agreed to. Told with RFQs and threads, of whole days that are over. A
// count that moved with every swap would say who traded with whom.

import { countStandings, type Standing } from '../db/agreements.ts';
import type { Database } from '../db/database.ts';
import { leastFundings, mostRecorded, standingSeconds } from './bounds.ts';

const daySeconds = 86_400;
/** Accounts that a process remembers to have counted today. */
const mostRemembered = 20_000;

const counted = new WeakMap<Database, Map<string, number>>();

/**
 * Counts for these accounts up to the beginning of today (UTC), where that was not done. Returns
 * whether it was now.
 */
export async function recount(
  db: Database,
  accountIds: readonly string[],
  nowMs: number,
): Promise<boolean> {
  const until = Math.floor(nowMs / 1_000 / daySeconds) * daySeconds;
  const known = counted.get(db) ?? new Map<string, number>();
  counted.set(db, known);
  const due = [...new Set(accountIds)].filter((id) => known.get(id) !== until);
  if (due.length === 0) return false;
  const from = until - standingSeconds;
  const found = await countStandings(db, due, {
    ...{ from, until, limit: mostRecorded, leastFundings },
  });
  if (known.size + due.length > mostRemembered) known.clear();
  for (const id of due) known.set(id, until);
  return found.length > 0;
}

/** What `read` finds, with the standings of these accounts as of today. */
export async function withStandings<Found>(
  { db, now }: { readonly db: Database; readonly now: () => number },
  read: () => Promise<Found>,
  accountsOf: (found: Found) => readonly string[],
): Promise<Found> {
  const found = await read();
  return (await recount(db, accountsOf(found), now())) ? read() : found;
}

const at = (unixSeconds: number) => new Date(unixSeconds * 1_000).toISOString();

export function standingView({ from, until, ...counts }: Standing) {
  return { ...counts, countedFrom: at(from), countedUntil: at(until) };
}
