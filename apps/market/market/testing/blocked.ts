// Tests only: an interleaving is forced, not hoped for.

import type { Database } from '../../db/database.ts';

/** Waits until so many sessions of the database wait for a lock. */
export async function untilBlocked(db: Database, count: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const waiting = await db.rows({
      name: 'test_blocked',
      text: `select 1 as one from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      values: [],
    });
    if (waiting.length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('nobody waits for a lock');
}
