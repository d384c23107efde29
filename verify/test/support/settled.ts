// Swaps for tests of what counts them: the row alone, without its RFQ, thread and legs.

import { randomBytes } from 'node:crypto';
import type { SwapStatus } from '@parley/core/status.ts';
import type { Database } from '@parley/market/db/database.ts';

/** A swap of these accounts, agreed at that Unix second. */
export async function insertSwap(
  db: Database,
  { makerId, takerId }: { readonly makerId: string; readonly takerId: string },
  agreedAt: number,
  status: SwapStatus = 'counterparty_claimed',
): Promise<void> {
  const hashlock = randomBytes(32).toString('hex');
  await db.transaction(async (tx) => {
    const run = (text: string, ...values: unknown[]) => tx.rows({ name: '', text, values });
    await run('set local session_replication_role = replica');
    await run(
      `insert into swaps (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg, status,
          agreed_at, initiator_fund_by, expires_at, counterparty_fund_by, reveal_by, created_at,
          updated_at, done, rules)
        select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $1, $2, $3, 'b', $4,
          $5, 0, 0, 0, 0, now(), now(), true, '{}'`,
      hashlock,
      makerId,
      takerId,
      status,
      agreedAt,
    );
  });
}
