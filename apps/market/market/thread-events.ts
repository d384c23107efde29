// The events for the other side of a thread, where it asks for them by name: that its price was
// accepted, that the taker moved it, that the thread closed. Other makers do not hear of it: quotes
// are sealed, and a closed thread says nothing of the one that won.

import type { Party } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { insertIfAsked } from '../db/feed-events.ts';
import type { Thread } from '../db/threads.ts';

const commonOf = ({ id, rfq, price }: Thread) => ({
  threadId: id,
  rfqId: rfq.id,
  quoteAmount: price.quoteAmount.toString(),
});

/** For the other side of `by`. `expiresAt`: when that acceptance lapses; null = both have. */
export function tellAccepted(
  tx: Tx,
  thread: Thread,
  by: Party,
  expiresAt: Date | null,
): Promise<void> {
  const { makerId, takerId, swapId, updatedAt: at } = thread;
  const role: Party = by === 'maker' ? 'taker' : 'maker';
  return insertIfAsked(tx, {
    topic: 'thread.accepted',
    accountId: role === 'maker' ? makerId : takerId,
    payload: {
      ...commonOf(thread),
      role,
      acceptanceExpiresAt: expiresAt?.toISOString() ?? null,
      swapId,
    },
    at,
  });
}

/** For the maker: the taker moved the price. The maker's is `quote.created` to the taker. */
export function tellProposed(tx: Tx, thread: Thread): Promise<void> {
  const { makerId, updatedAt: at } = thread;
  const { expiresAt } = thread.price;
  const end = expiresAt === null ? {} : { quoteExpiresAt: new Date(expiresAt).toISOString() };
  return insertIfAsked(tx, {
    topic: 'thread.proposed',
    accountId: makerId,
    payload: { ...commonOf(thread), ...end },
    at,
  });
}
