// The rescue file of a profile: written anew whenever a swap has begun or was funded, so that it
// can be copied at any time (docs/rescue.md).

import type { PinnedChains } from '../sdk/trade.ts';
import { writePrivate } from './places.ts';
import type { Session, Unlocked } from './session.ts';

/** Resolves to its text. */
export async function keepRescue(session: Session, { store }: Pick<Unlocked, 'store'>) {
  const { writeRescue } = await import('../sdk/rescue/file.ts');
  const chains: Record<string, PinnedChains[string]> = {};
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    for (const leg of record === null ? [] : [record.swap.legs.a, record.swap.legs.b]) {
      chains[leg.chain] ??= { source: await session.source(leg.chain) };
    }
  }
  const text = await writeRescue(store, chains);
  await writePrivate(session.places.rescue, text);
  return text;
}
