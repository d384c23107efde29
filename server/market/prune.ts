// What is dropped or put away with age, in bounded batches. main.ts calls `prune` now and then;
// calling it too often costs one index look-up a statement.

import type { Tx } from '../db/database.ts';
import { pruneOutbox } from '../db/outbox.ts';
import { storeExpired } from '../db/rfqs.ts';
import type { Deps } from '../deps.ts';
import { outboxDays } from './bounds.ts';

/** Rows a statement: some 10 ms of work. */
const batch = 500;
/** Batches a call: the rest waits for the next call. */
const mostBatches = 20;
const dayMs = 86_400_000;
/** Processes whose clocks differ this much still agree on what has expired. */
const graceMs = 60_000;

/** Deletes at most `limit` rows that are older than the instant; returns how many. */
export type Pruner = (tx: Tx, before: Date, limit: number) => Promise<number>;

export type Pruned = { readonly outbox: number; readonly expired: number };

/** Drops events older than 7 days, and puts expired RFQs out of the book's index. */
export async function prune(deps: Pick<Deps, 'db' | 'now'>): Promise<Pruned> {
  const now = deps.now();
  return {
    outbox: await inBatches(deps.db, pruneOutbox, new Date(now - outboxDays * dayMs)),
    expired: await inBatches(deps.db, storeExpired, new Date(now - graceMs)),
  };
}

/** Repeats one bounded statement until it finds less than a batch, or enough for one call. */
export async function inBatches(tx: Tx, pruner: Pruner, before: Date): Promise<number> {
  let pruned = 0;
  for (let done = 0; done < mostBatches; done += 1) {
    const rows = await pruner(tx, before, batch);
    pruned += rows;
    if (rows < batch) break;
  }
  return pruned;
}
