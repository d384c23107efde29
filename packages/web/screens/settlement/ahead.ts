// Which sides of a swap have something to send yet, and what is lost where their wallet cannot pay
// for it. Pure.

import { type ChainKey, has } from '@parley/core/families.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { GasSide } from '@parley/sdk/gas.ts';
import type { SwapView } from '../../engine/types.ts';
import { factsOf, sidesOf } from './situation.ts';

type SideAhead = GasSide & { readonly chain: string };

/** Sides that have something to send yet. */
export function sidesAhead(swap: SwapView): readonly SideAhead[] {
  if (swap.phase === 'ended' || swap.state === 'preparing') return [];
  const { own, other } = sidesOf(swap);
  const isTold = (leg: LegName) =>
    swap.problems.some((each) => each.kind === 'gas' && (each.leg ?? swap.gives) === leg);
  const mine = factsOf(own);
  const theirs = factsOf(other);
  const pays = mine.funded === null && !swap.isRestored;
  const collects = theirs.claimed === null && theirs.refunded === null && mine.refunded === null;
  return [
    ...(pays && !isTold(own.leg) ? [sideOf(swap, own.leg)] : []),
    ...(collects && !isTold(other.leg) && swap.relay === null ? [sideOf(swap, other.leg)] : []),
  ];
}

/** A leg as the own wallet has to do with it. */
export function sideOf({ legs, gives }: SwapView, leg: LegName): SideAhead {
  const { chain, asset, amount, ownAddress: address } = legs[leg];
  return { side: leg === gives ? 'gives' : 'gets', chain, asset, amount, address };
}

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
