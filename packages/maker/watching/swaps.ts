// Open swaps as a person watches them: the next step of this side, and until when. By the store
// alone, so that it is shown of a maker that does not run, too. Pure.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { ownSides } from '@parley/sdk/settle/record.ts';
import { mayBeFunded, type SwapRecord } from '@parley/sdk/stores/store.ts';
import type { Deal } from '../journal.ts';

export type SwapView = {
  /** The thread's, before there is a swap. */
  readonly id: string;
  readonly pair: string;
  readonly gives: 'base' | 'quote';
  readonly next: string;
  /** null: the market's time for an acceptance. */
  readonly until: UnixSeconds | null;
};

export function swapView(
  { threadId, swapId, pair, gives }: Deal,
  record: SwapRecord | null,
): SwapView {
  const common = { id: swapId ?? threadId, pair, gives };
  if (swapId === null) return { ...common, next: 'accepted: waits for the swap', until: null };
  if (record === null) return { ...common, next: 'agreed: checks the terms', until: null };
  return { ...common, ...nextOf(record) };
}

function nextOf(record: SwapRecord): Pick<SwapView, 'next' | 'until'> {
  const { swap, claim, refund, publicSecret, givenUp } = record;
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = swap.deadlines;
  const { gives, gets } = ownSides(record);
  const isFirst = swap.role === 'initiator';
  if (refund !== null) return { next: 'refund sent: waits for depth', until: null };
  if (claim !== null) return { next: 'claim sent: waits for depth', until: refundAt[gets] };
  if (publicSecret !== null) return { next: 'claims: the secret is public', until: refundAt[gets] };
  if (givenUp !== undefined) return { next: 'given up: refunds', until: refundAt[gives] };
  if (!mayBeFunded(record)) {
    const until = isFirst ? initiatorFundBy : counterpartyFundBy;
    return { next: isFirst ? 'funds first' : 'funds once the other leg is final', until };
  }
  if (isFirst) return { next: 'claims once the other leg is final', until: revealBy };
  return { next: 'waits for the secret, else refunds', until: refundAt[gives] };
}
