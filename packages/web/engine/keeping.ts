// Where a page keeps what is a person's, and whether something of it has to go on. Loaded without
// the engine, by pages that may need none.

import type { AppChain } from '@parley/core/app-chain.ts';
import type { ChainKey, Network } from '@parley/core/families.ts';
import { SettleError, StoreError } from '@parley/sdk/errors.ts';
import type { Browser } from '@parley/sdk/stores/browser.ts';
import { openDatabase } from '@parley/sdk/stores/database.ts';
import { type BrowserStore, indexedDbStore } from '@parley/sdk/stores/indexed-db.ts';
import { readKept, type Store, type SwapRecord } from '@parley/sdk/stores/store.ts';
import { config } from '../market/config.ts';
import { recalled, remember } from '../texts/remembered.ts';
import { type Ended, mayStillCome } from './view.ts';

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

export type Kept = {
  /** null: the place is empty. */
  get(key: string): Promise<string | null>;
  /**
   * `next` gets the value there; null empties it. If it throws, the error passes on and the value
   * stays.
   */
  change(key: string, next: (held: string | null) => string | null): Promise<void>;
};

const folder = 'kept';

/** Throws StoreError, as does each call. `name`: one for all tabs of a person. */
async function indexedDbKept(name: string): Promise<Kept> {
  const browser = globalThis as unknown as Browser;
  const upgrades = [
    (db: { createObjectStore(name: string): unknown }) => void db.createObjectStore(folder),
  ];
  const database = await openDatabase(browser, { name, upgrades, isBusy: () => false });
  // No entry is ever deleted, so that a write is one transaction: an empty text is none.
  const textOf = (held: unknown) => {
    const { text = '' } = (held ?? {}) as { readonly text?: string };
    return text === '' ? null : text;
  };
  return {
    get: async (key) => textOf(await database.read(folder, (entries) => entries.get(key))),
    change: (key, next) =>
      database.write(folder, key, (held) => ({
        text: next(textOf(held)) ?? '',
        keptAtMs: Date.now(),
      })),
  };
}

/** For tests, and for a page that may keep nothing. */
export function memoryKept(): Kept {
  const all = new Map<string, string>();
  return {
    get: async (key) => all.get(key) ?? null,
    change: async (key, next) => {
      const text = next(all.get(key) ?? null);
      if (text === null) all.delete(key);
      else all.set(key, text);
    },
  };
}

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
