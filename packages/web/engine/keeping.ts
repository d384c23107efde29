// Where a page keeps what is a person's, and whether something of it has to go on. Loaded without
// the engine, by pages that may need none.

import type { Network } from '@parley/core/families.ts';
import { type BrowserStore, indexedDbStore } from '@parley/sdk/stores/indexed-db.ts';
import { config } from '../market/config.ts';
import { recalled, remember } from '../texts/remembered.ts';
import { indexedDbKept, type Kept } from './kept.ts';
import { chainsAtStake, hasOpen, networkOf } from './stake.ts';

type Keeping = { readonly name: string; readonly store: BrowserStore; readonly kept: Kept };

const networkKey = 'parley network';

const opened = new Map<Network, Promise<Keeping>>();

/** The same for all who ask. Throws StoreError; asked again it tries again. */
export function keepingOf(network: Network): Promise<Keeping> {
  const before = opened.get(network);
  if (before !== undefined) return before;
  const opening = open(`parley-${network}`).catch((error: unknown) => {
    opened.delete(network);
    throw error;
  });
  opened.set(network, opening);
  return opening;
}

async function open(name: string): Promise<Keeping> {
  return { name, store: await indexedDbStore(name), kept: await indexedDbKept(`${name}-kept`) };
}

/** Without its market the app is of the network that it was of. */
export async function networkNow(): Promise<Network> {
  const told = 'marketConfig' in globalThis ? config.network : null;
  const before = recalled('localStorage', networkKey);
  const known = (['mainnet', 'testnet', 'dev'] as const).find((each) => each === before) ?? null;
  const isAtStake = async (of: Network) => {
    const { store, kept } = await keepingOf(of);
    return (await chainsAtStake(store, kept)).size > 0;
  };
  const network = await networkOf(told ?? known ?? config.network, known, isAtStake);
  remember('localStorage', networkKey, network);
  return network;
}

/** Swaps that are over for good, so that no look reads them again. */
const over = new Set<string>();

/** Whether a swap or an acceptance here goes on only with an engine. Throws StoreError. */
export async function hasOpenSwaps(): Promise<boolean> {
  const { store, kept } = await keepingOf(await networkNow());
  return hasOpen(store, kept, over);
}
