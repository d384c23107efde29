// The rescue file of all swaps of a store, with their chains as they are pinned.

import type { ChainSource } from '@parley/sdk/chains.ts';
import { writeRescue } from '@parley/sdk/rescue/file.ts';
import type { PhraseStore } from '@parley/sdk/rescue/store.ts';
import type { PinnedChains } from '@parley/sdk/trade.ts';

export async function rescueText(
  store: PhraseStore,
  sourceOn: (chain: string) => Promise<ChainSource>,
): Promise<string> {
  const chains: Record<string, PinnedChains[string]> = {};
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId);
    for (const leg of record === null ? [] : [record.swap.legs.a, record.swap.legs.b]) {
      chains[leg.chain] ??= { source: await sourceOn(leg.chain) };
    }
  }
  return writeRescue(store, chains);
}
