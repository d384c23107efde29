// The rescue file of a profile: written anew whenever a swap has begun or was funded, so that it
// can be copied at any time (docs/rescue.md).

import type { PinnedChains } from '../sdk/trade.ts';
import { writePrivate } from './places.ts';
import type { Session, Unlocked } from './session.ts';

/** Resolves to its text. */
export async function keepRescue(
  session: Session,
  { store, isTyped }: Pick<Unlocked, 'store' | 'isTyped'>,
) {
  const { writeRescue } = await import('../sdk/rescue/file.ts');
  const chains: Record<string, PinnedChains[string]> = {};
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    for (const leg of record === null ? [] : [record.swap.legs.a, record.swap.legs.b]) {
      chains[leg.chain] ??= { source: await session.source(leg.chain) };
    }
  }
  const text = await writeRescue(store, chains);
  // Sealed by other words it would take the place of the only one that the profile's own open.
  if (!isTyped) await writePrivate(session.places.rescue, text);
  return text;
}
