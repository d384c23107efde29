// A funding that was sent and is not mined when the time to fund has passed. It must not stay in
// somebody's pool, to be mined when nobody expects it. So what it spends is spent otherwise: its
// nonce on EVM, one of its coins on Bitcoin. On TRON and Solana it dies. So does one that was
// signed for others to send. Only then has nothing moved. If the funding is mined after all, the
// swap goes on from there and is refunded in time.

import { mayBeFunded, type SwapRecord } from '../stores/store.ts';
import { type Context, legOf, ownSides, type Seen } from './context.ts';
import { isPastFunding } from './hands/late.ts';
import { handOf } from './hands/of.ts';
import { endAuthorization } from './ways/authorization.ts';

/** Whether the own funding is late for good. */
export function isLate(record: SwapRecord, { state, clocks }: Seen): boolean {
  const { gives } = ownSides(record);
  const { funded, claimed, refunded } = state.legs[gives].facts;
  if (!mayBeFunded(record)) return false;
  if ((funded?.confirmations ?? 0) > 0 || claimed !== null || refunded !== null) return false;
  return isPastFunding(record, clocks.wall, clocks[gives]);
}

/** One step towards a funding that can never be mined: the record has none in the end. */
export async function cancelFunding(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const { funding } = record;
  if (funding === null) return endAuthorization(context, record);
  return handOf(context, legOf(record, ownSides(record).gives)).cancelFunding(record, funding);
}
