// The rescue file of this browser's swaps: written anew as they go on, saved when the person wants.

import type { AppChain } from '@parley/core/app-chain.ts';
import { type ChainKey, type Family, families, type Network } from '@parley/core/families.ts';
import { pageLimit } from '@parley/core/limits.ts';
import type { Chains, PartyChain } from '@parley/sdk/chains.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { messageOf, RescueError, SettleError, VerificationError } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import {
  type RescueChain,
  type RescueFile,
  type RescueSwap,
  readOwnRescue,
  readRescue,
} from '@parley/sdk/rescue/file.ts';
import { type Restored, restoreFromFile, restoreFromMarket } from '@parley/sdk/rescue/restore.ts';
import type { PhraseStore } from '@parley/sdk/rescue/store.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import { mustHaveDecimals } from '@parley/trader/coins.ts';
import { rescueText } from '@parley/trader/rescue.ts';
import { held, type Live } from '../live.ts';
import type { Kept } from './keeping.ts';
import type { OpenNodes } from './nodes.ts';
import type { RescueFileState } from './types.ts';

type TronPinned = Pick<
  Extract<AppChain, { readonly family: 'tron' }>,
  'chainId' | 'contract' | 'creation' | 'shards' | 'formerContracts'
>;

type RescueParts = {
  readonly client: ParleyClient;
  readonly kept: Kept;
  readonly nodes: OpenNodes;
  readonly phraseStore: () => Promise<PhraseStore>;
  /** Restored swaps are to be driven. */
  readonly onRestored: () => void;
  /** Written or saved: other tabs read it again. */
  readonly onChange: () => void;
};

/** Solana's clusters by their first block (packages/core/worlds.ts); dev ones have no lasting id. */
const clusters: Readonly<Record<Network, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  testnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  dev: '',
};
const fileKey = 'rescue file';
const savedKey = 'rescue file saved';
/** The assets that a market is configured with, and as many that were listed. */
const mostAssetPages = 200;
const nodeMs = 15_000;

export async function openRescue(parts: RescueParts) {
  const { kept } = parts;
  const file = held<RescueFileState>({ swaps: 0, writtenAt: null, isSaved: true });
  let writing: Promise<void> = Promise.resolve();
  const read = async () => {
    const text = await kept.get(fileKey);
    const saved = await kept.get(savedKey);
    file.set(stateOf(text, saved));
  };
  const write = async (): Promise<string> => {
    const store = await parts.phraseStore();
    const text = await rescueText(store, parts.nodes.source);
    await kept.change(fileKey, () => text);
    await read();
    parts.onChange();
    return text;
  };
  const due = () => {
    // Without a phrase there is nothing that a file could bring back.
    writing = writing.then(async () => void (await write())).catch(() => {});
  };
  /** A chain that cannot be opened holds up no swap of others. */
  const opened = async (names: readonly ChainKey[]): Promise<Opened> => {
    const chains: Record<ChainKey, PartyChain> = {};
    const faults = new Map<ChainKey, string>();
    const open = async (name: ChainKey) => {
      try {
        chains[name] = { source: await parts.nodes.source(name) };
      } catch (error) {
        faults.set(name, messageOf(error));
      }
    };
    await Promise.all(names.map(open));
    return { chains, faults };
  };
  await read();
  return {
    /** Written anew when a swap is verified and when it is funded. */
    file: file as Live<RescueFileState>,
    /** Another tab has changed it. */
    read,
    /** Swaps have changed: writes it again, one after the other. */
    due,
    /** The newest; counts as saved. Throws `no_phrase`. */
    save: async () => {
      const text = await write();
      await kept.change(savedKey, () => contentOf(text));
      await read();
      parts.onChange();
      return text;
    },
    /** The content of a file, to look at. Throws RescueError. */
    open: async (text: string) => {
      const file = readRescue(text);
      // Anybody could have made it: it names chains for this look, and none for good.
      await parts.nodes.guess(chainsOf(file));
      return file;
    },
    /** Throws RescueError. The swaps are driven from then on. */
    fromFile: async (text: string) => {
      const store = await parts.phraseStore();
      const own = chainsOf(readOwnRescue(store, text));
      await parts.nodes.learn(own);
      const names = own.map(({ chain }) => chain);
      const { chains, faults } = await opened(names);
      const restored = await restoreFromFile(store, text, { chains });
      // The person has it.
      await kept.change(savedKey, () => contentOf(text));
      return told(restored, faults);
    },
    /** `confirm`: whether a swap is what was agreed. */
    fromMarket: async (confirm: (swap: RescueSwap) => Promise<boolean> | boolean) => {
      const store = await parts.phraseStore();
      const { userId, wallets } = await parts.client.me();
      const names = parts.nodes.chains.now().map(({ chain }) => chain);
      const { chains, faults } = await opened(names);
      const own = new Set(
        Object.values(wallets).flatMap(({ login, proven }) => [login ?? '', ...proven]),
      );
      const assets = await assetsOf(parts.client);
      const isOwn = (_: ChainKey, { address }: { readonly address: string }) => own.has(address);
      const asked = async (swap: RescueSwap) => {
        await mustShowAmounts(swap, chains);
        return confirm(swap);
      };
      const how = { client: parts.client, userId, chains, assets, isOwn, confirm: asked };
      const { swaps, isWhole } = await restoreFromMarket(store, how);
      return { swaps: told(swaps, faults), isWhole };
    },
  };

  function told(restored: readonly Restored[], faults: Opened['faults']): readonly Restored[] {
    parts.onRestored();
    due();
    return restored.map((each) => withFault(each, faults));
  }
}

type Opened = {
  readonly chains: Chains;
  /** Why a chain has none. */
  readonly faults: ReadonlyMap<ChainKey, string>;
};

function withFault(restored: Restored, faults: Opened['faults']): Restored {
  const fault = [...faults].find(([chain]) => restored.why.includes(`"${chain}"`));
  if (restored.outcome !== 'refused' || fault === undefined) return restored;
  return { ...restored, why: `${restored.why}: ${fault[1]}` };
}

/** The person is asked about amounts: decimals are the market's word until a chain says so. */
async function mustShowAmounts({ trade }: RescueSwap, chains: Chains) {
  for (const asset of [trade.base, trade.quote]) {
    const source = chains[asset.chain]?.source;
    if (source === undefined) continue;
    try {
      await mustHaveDecimals(source, asset, AbortSignal.timeout(nodeMs));
    } catch (error) {
      if (error instanceof VerificationError) throw error;
      const what = `the node of "${asset.chain}" does not say the decimals of its coin`;
      throw new SettleError('no_source', `${what}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** Throws RescueError `bad_file`. */
function chainsOf({ chains, network }: Pick<RescueFile, 'chains' | 'network'>): AppChain[] {
  const odd = chains.find(({ chain, family }) => typeof chain !== 'string' || !isFamily(family));
  if (odd === undefined) return chains.map((each) => appChain(each, network));
  const what = JSON.stringify(odd).slice(0, 80);
  throw new RescueError('bad_file', `the rescue file names a chain that is none: ${what}`);
}

const isFamily = (named: Family) => families.includes(named);

/** How a chain is known by a file: nodes are named by the person. */
function appChain(of: RescueChain, network: Network): AppChain {
  const { chain } = of;
  switch (of.family) {
    case 'bitcoin': {
      const { network: bitcoin } = of;
      return { family: 'bitcoin', chain, nodes: [], bitcoin: bitcoin as 'mainnet' };
    }
    case 'evm': {
      const { contract, shards = [], formerContracts = [] } = of.deployment;
      const names = (all: readonly { readonly contract: string }[]) =>
        all.map((each) => each.contract);
      const beside = { shards: names(shards), formerContracts: names(formerContracts) };
      return { family: 'evm', chain, nodes: [], chainId: of.chainId, contract, ...beside };
    }
    case 'tron': {
      // The pinned contracts of a TRON source name each creation.
      const pinned = of.deployment as unknown as TronPinned;
      const { chainId, contract, creation, shards = [], formerContracts = [] } = pinned;
      const beside = { shards, formerContracts };
      return { family: 'tron', chain, nodes: [], chainId, contract, creation, ...beside };
    }
    case 'solana': {
      const { program } = of.deployment;
      return { family: 'solana', chain, nodes: [], genesisHash: clusters[network], program };
    }
  }
}

/** Each with its market's word for contract and decimals: the person confirms every swap. */
async function assetsOf(client: ParleyClient): Promise<PinnedAsset[]> {
  const all: PinnedAsset[] = [];
  const page = (from: object) => client.assets({ limit: pageLimit.most, ...from });
  for await (const { assets } of pagesOf(mostAssetPages, page)) {
    for (const { id, chain, address: token, decimals } of assets) {
      all.push({ id, chain, token, decimals, highValueFrom: null });
    }
  }
  return all;
}

function stateOf(text: string | null, saved: string | null): RescueFileState {
  if (text === null) return { swaps: 0, writtenAt: null, isSaved: true };
  const { swaps, writtenAt } = readRescue(text);
  // A swap that has ended since may be in the saved file still.
  const had = new Set((saved ?? '').split('\n'));
  const isSaved =
    swaps.length === 0 ||
    contentOf(text)
      .split('\n')
      .every((each) => had.has(each));
  return { swaps: swaps.length, writtenAt, isSaved };
}

/** The swaps and escrows of the file, whenever it was written. */
function contentOf(text: string): string {
  const { swaps } = readRescue(text);
  return swaps
    .map(({ swap: { id, legs } }) => `${id} ${legs.a.escrow?.address} ${legs.b.escrow?.address}`)
    .sort()
    .join('\n');
}
