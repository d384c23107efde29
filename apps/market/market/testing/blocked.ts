// Tests only: an interleaving is forced, not hoped for.

import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Database } from '../../db/database.ts';

/** Waits until so many sessions of the database wait for a lock. */
export async function untilBlocked(db: Database, count: number): Promise<void> {
  await waitUntil(async () => {
    const waiting = await db.rows({
      name: 'test_blocked',
      text: `select 1 as one from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      values: [],
    });
    return waiting.length >= count;
  });
}
