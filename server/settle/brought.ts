// A secret that somebody brings for the long leg. The initiator is never paid there: whoever can
// claim it read the secret elsewhere. It counts as seen, so no gate of ours is left and the short
// chain is not asked.

import type { Secret } from '../../core/hashlock.ts';
import type { LegName } from '../../core/trade.ts';
import type { Swap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { reconcile } from './reconcile.ts';

/**
 * The swap with its secret public, where this claim shows that it is; else as it was. `secret`
 * opens its hashlock. The initiator hears of it now, while it can still claim the short leg.
 */
export async function withBrought(
  deps: Deps,
  swap: Swap,
  { name, secret }: { readonly name: LegName; readonly secret: Secret },
  signal: AbortSignal,
): Promise<Swap> {
  if (swap.state.secret !== null || !swap.state.legs[name].long) return swap;
  try {
    await reconcile(deps, swap.id, { chains: [], brought: secret, signal });
  } catch (error) {
    // The claim does not wait for it: the follower stores the secret when the chain shows it.
    deps.log.warn({ swapId: swap.id, err: error }, 'a secret that was brought is not stored yet');
  }
  return { ...swap, state: { ...swap.state, secret } };
}
