// Which sides of a swap have something to send yet, and what is lost where their wallet cannot pay
// for it. Pure.

import type { GasSide } from '../../../sdk/gas.ts';
import type { SwapView } from '../../engine/types.ts';
import { factsOf, sidesOf } from './situation.ts';

type SideAhead = GasSide & { readonly chain: string };

/** Sides that have something to send yet. */
export function sidesAhead(swap: SwapView): readonly SideAhead[] {
  if (swap.phase === 'ended' || swap.state === 'preparing') return [];
  const { own, other } = sidesOf(swap);
  const isTold = (leg: string) =>
    swap.problems.some((each) => each.kind === 'gas' && (each.leg ?? swap.gives) === leg);
  const [mine, theirs] = [factsOf(own), factsOf(other)];
  const sideOf = (side: SideAhead['side'], { chain, asset, amount, ownAddress }: typeof own) => ({
    ...{ side, chain, asset, amount, address: ownAddress },
  });
  const pays = mine.funded === null && !swap.isRestored;
  const collects = theirs.claimed === null && theirs.refunded === null && mine.refunded === null;
  return [
    ...(pays && !isTold(own.leg) ? [sideOf('gives', own)] : []),
    ...(collects && !isTold(other.leg) && swap.relay === null ? [sideOf('gets', other)] : []),
  ];
}

/** What is lost where fees cannot be paid, and by when. */
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
