// The loss where a wallet cannot pay the fee of its next step, and the steps that go on without
// this page. Pure.

import { type ChainKey, has } from '@parley/core/families.ts';
import type { SwapView } from '../../engine/types.ts';
import { factsOf, sidesOf } from './situation.ts';

/** The loss where fees cannot be paid, and by when. */
export function gasUrgency({
  state,
}: Pick<SwapView, 'state'>): 'fund' | 'reveal' | 'collect' | 'refund' {
  switch (state) {
    case 'claiming':
    case 'received':
      return 'collect';
    case 'refunding':
      return 'refund';
    case 'revealing':
    case 'funded':
      return 'reveal';
    default:
      return 'fund';
  }
}

export type Left = 'refunds' | 'refund' | 'claim';

/**
 * Steps that happen without this page: on Bitcoin by refunds that were signed beforehand, elsewhere
 * by any party that has gas.
 */
export function leftWith(swap: SwapView, isKept: (chain: ChainKey) => boolean): readonly Left[] {
  if (swap.phase !== 'running') return [];
  const { own, other } = sidesOf(swap);
  const mine = factsOf(own);
  const theirs = factsOf(other);
  const isIn = mine.funded !== null && mine.refunded === null && mine.claimed === null;
  const isOwed = theirs.claimed === null && theirs.refunded === null && mine.refunded === null;
  const claims = swap.role === 'counterparty' && mine.funded !== null && isOwed;
  return [
    ...(swap.isRefundLeft && isIn ? (['refunds'] as const) : []),
    ...(!has(own, 'coins') && isIn && isKept(own.chain) ? (['refund'] as const) : []),
    ...(!has(other, 'coins') && claims && isKept(other.chain) ? (['claim'] as const) : []),
  ];
}
