// The facts that a market must not change while money is at stake: the network that the page is of,
// and how a chain of an open swap is known. A dev network makes both anew at any time.

import type { AppChain } from '@parley/core/app-chain.ts';
import type { ChainKey, Network } from '@parley/core/families.ts';
import { SettleError, StoreError } from '@parley/sdk/errors.ts';
import { readKept, type Store, type SwapRecord } from '@parley/sdk/stores/store.ts';
import type { Ended } from './ended.ts';
import type { Kept } from './kept.ts';
import { mayStillCome } from './view.ts';

export const endedKey = (swapId: string) => `ended ${swapId}`;
/** The key of the acceptances that wait for the other side. */
export const dealsKey = 'deals';

/** Chains of the swaps of this browser that are not over. */
export async function chainsAtStake(
  store: Pick<Store, 'swapIds' | 'getSwap'>,
  kept: Pick<Kept, 'get'>,
): Promise<ReadonlySet<ChainKey>> {
  const found = new Set<ChainKey>();
  for (const swapId of await store.swapIds()) {
    if ((await kept.get(endedKey(swapId))) !== null) continue;
    const record = await readable(store, swapId);
    for (const { chain } of record === null ? [] : Object.values(record.swap.legs)) {
      found.add(chain);
    }
  }
  return found;
}

/** `over`: those that are known to be over, to which it adds. */
export async function hasOpen(
  store: Pick<Store, 'swapIds' | 'getSwap'>,
  kept: Pick<Kept, 'get'>,
  over: Set<string>,
): Promise<boolean> {
  const deals = await kept.get(dealsKey);
  if (deals !== null && readKept<{ all: unknown[] }>(deals).all.length > 0) return true;
  for (const swapId of await store.swapIds()) {
    if (over.has(swapId)) continue;
    const ended = await kept.get(endedKey(swapId));
    if (ended === null) return true;
    const record = await readable(store, swapId);
    if (record !== null && isAwaited(record, readKept<Ended>(ended))) return true;
    over.add(swapId);
  }
  return false;
}

/** Whether a payment may still come that goes back only if somebody looks. */
function isAwaited(record: SwapRecord, { outcome }: Ended): boolean {
  const { trade, swap, byHand = false, restored } = record;
  return mayStillCome({ trade, swap, isByHand: byHand, isRestored: restored === true }, outcome);
}

/** null: it is not there, or damaged, which `onFault` hears: the others go on without it. */
export async function readable(
  store: Pick<Store, 'getSwap'>,
  swapId: string,
  onFault: (error: StoreError) => void = () => {},
): Promise<SwapRecord | null> {
  try {
    return await store.getSwap(swapId);
  } catch (error) {
    if (!(error instanceof SettleError)) throw error;
    onFault(new StoreError('failed', error.message, { cause: error }));
    return null;
  }
}

/** `told`: by the market of today. Another store would hide the swaps of the one before. */
export async function networkOf(
  told: Network,
  before: Network | null,
  isAtStake: (network: Network) => Promise<boolean>,
): Promise<Network> {
  if (before === null || before === told || before === 'dev') return told;
  return (await isAtStake(before)) ? before : told;
}

/** Each as the market tells it now, but for chains at stake that it knew otherwise before. */
export function asAgreed(
  told: readonly AppChain[],
  before: readonly AppChain[],
  atStake: ReadonlySet<ChainKey>,
): AppChain[] {
  return told.map((now) => {
    const was = before.find(({ chain }) => chain === now.chain);
    const stays = was !== undefined && atStake.has(now.chain) && knownAs(was) !== knownAs(now);
    return stays ? was : now;
  });
}

function knownAs({ nodes: _, ...chain }: AppChain): string {
  return JSON.stringify(Object.entries(chain).sort(([one], [other]) => (one < other ? -1 : 1)));
}
