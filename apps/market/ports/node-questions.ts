// The first questions to each node, with the answers that are expected: whether it is of the
// configured chain with the pinned contracts, whether its clock fits, and whether the nodes of one
// chain show the same block. The start asks the first; the doctor asks all.

import { coreBackend } from '@parley/chains/bitcoin/core-backend.ts';
import { esploraBackend } from '@parley/chains/bitcoin/esplora-backend.ts';
import { exchange } from '@parley/chains/bitcoin/http.ts';
import { bitcoinNetworkOf } from '@parley/chains/bitcoin/networks.ts';
import { coreRpc } from '@parley/chains/bitcoin/rpc.ts';
import { chainIdOf, blockAt as evmBlockAt, headBlock as evmHead } from '@parley/chains/evm/node.ts';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { contractFault } from '@parley/chains/evm/state.ts';
import type { Heads } from '@parley/chains/interface/reading.ts';
import { rpcClient } from '@parley/chains/nodes/rpc.ts';
import { solanaFault } from '@parley/chains/solana/agreement.ts';
import { accountsAt, clockIn } from '@parley/chains/solana/node.ts';
import { clockSysvar } from '@parley/chains/solana/programs.ts';
import { httpClient } from '@parley/chains/tron/http.ts';
import { tronFault } from '@parley/chains/tron/identity.ts';
import {
  secondOf,
  blockAt as tronBlockAt,
  headBlock as tronHead,
} from '@parley/chains/tron/node.ts';
import type { Family } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { worldOfBitcoin } from '@parley/core/worlds.ts';
import type { ChainSettings, Of } from '../settings/chains.ts';

/** The questions to one node. Each throws what the node throws, and the signal bounds it. */
type Questions = {
  /** The fault, a clause such as "is of chain id 5, not 7 as configured"; null = as expected. */
  fault(signal: AbortSignal): Promise<string | null>;
  head(signal: AbortSignal): Promise<Heads>;
  /** As the heads name it; null where the node does not know it. Solana: always null. */
  blockHash(height: number, signal: AbortSignal): Promise<string | null>;
};

/** `source`: a chain with one node. `callMs`: the limit of one call. */
export function questionsTo(
  source: ChainSettings,
  callMs: number,
  now: () => UnixSeconds,
): Questions {
  switch (source.family) {
    case 'bitcoin':
      return toBitcoin(source, callMs, now);
    case 'evm':
      return toEvm(source, callMs);
    case 'tron':
      return toTron(source, callMs);
    case 'solana':
      return toSolana(source, callMs);
  }
}

function toBitcoin(source: Of<'bitcoin'>, timeMs: number, now: () => UnixSeconds): Questions {
  const { rpcUrl, esploraUrl = '' } = source;
  const common = { network: bitcoinNetworkOf(worldOfBitcoin(source.network)), now };
  const limits = { timeMs };
  const backend =
    rpcUrl === undefined
      ? esploraBackend({ ...common, limits, url: esploraUrl })
      : coreBackend({ ...common, limits, url: rpcUrl });
  return {
    fault: async (signal) => {
      const found = await (rpcUrl === undefined
        ? networkOfEsplora(esploraUrl, timeMs, signal)
        : networkOfCore(rpcUrl, timeMs, signal));
      if (networks[source.network].includes(found)) return null;
      return `is of Bitcoin ${found}, not ${source.network} as configured`;
    },
    head: (signal) => backend.tip(signal),
    blockHash: (height, signal) => backend.blockHash(height, signal),
  };
}

function toEvm(source: Of<'evm'>, attemptTimeoutMs: number): Questions {
  const { chain, chainId, rpcUrls } = source;
  const rpc = rpcClient({ chain, urls: rpcUrls, attemptTimeoutMs, rounds: 1 });
  return {
    fault: async (signal) => {
      const id = await chainIdOf(rpc, signal);
      if (id !== chainId) return `is of chain id ${id}, not ${chainId} as configured`;
      return (await contractFault(rpc, evmDeployment(chainId, source), signal))?.says ?? null;
    },
    head: async (signal) => {
      const { number, hash, timestamp } = await evmHead(rpc, signal);
      return { height: number, hash, clock: timestamp };
    },
    blockHash: async (height, signal) =>
      (await evmBlockAt(rpc, height, false, signal))?.hash ?? null,
  };
}

function toTron(source: Of<'tron'>, attemptTimeoutMs: number): Questions {
  const { chain, sources, ...deployment } = source;
  const http = httpClient({ chain, sources, attemptTimeoutMs, rounds: 1 });
  return {
    fault: async (signal) => (await tronFault(http, deployment, signal))?.says ?? null,
    head: async (signal) => {
      const block = await tronHead(http, 'head', signal);
      return { height: block.number, hash: block.hash, clock: secondOf(block) };
    },
    blockHash: async (height, signal) => (await tronBlockAt(http, height, signal))?.hash ?? null,
  };
}

function toSolana(source: Of<'solana'>, attemptTimeoutMs: number): Questions {
  const { chain, rpcUrls, genesisHash, program } = source;
  const rpc = rpcClient({ chain, urls: rpcUrls, attemptTimeoutMs, rounds: 1 });
  return {
    fault: (signal) => solanaFault(rpc, { genesisHash, program }, signal),
    head: async (signal) => {
      const { slot, accounts } = await accountsAt(rpc, [clockSysvar], 'confirmed', signal);
      return { height: slot, hash: '', clock: clockIn(accounts[0] ?? null, chain) };
    },
    blockHash: async () => null,
  };
}

/** The names by which a node calls the networks of each setting (Core's getblockchaininfo). */
const networks: Readonly<Record<Of<'bitcoin'>['network'], readonly string[]>> = {
  mainnet: ['main'],
  testnet: ['test', 'testnet4'],
  signet: ['signet'],
  regtest: ['regtest'],
};

/** Hash of the first block: Bitcoin Core, src/kernel/chainparams.cpp. */
const firstBlocks: Readonly<Record<string, string>> = {
  '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f': 'main',
  '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943': 'test',
  '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043': 'testnet4',
  '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6': 'signet',
  '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206': 'regtest',
};

async function networkOfCore(url: string, timeMs: number, signal: AbortSignal): Promise<string> {
  const rpc = coreRpc({ url, limits: { timeMs } });
  const { chain } = await rpc.call<{ chain: unknown }>('getblockchaininfo', [], signal);
  return shown(chain);
}

async function networkOfEsplora(
  base: string,
  timeMs: number,
  signal: AbortSignal,
): Promise<string> {
  const url = `${base.replace(/\/+$/, '')}/block-height/0`;
  const limits = { timeMs, bytes: 100_000 };
  const request = { url, method: 'GET' as const, headers: {} };
  const { status, body } = await exchange('Esplora server', request, limits, signal);
  if (status !== 200) throw new Error(`the Esplora server answered HTTP ${status}`);
  const hash = new TextDecoder().decode(body).trim();
  return firstBlocks[hash] ?? `with first block ${shown(hash)}`;
}

function shown(value: unknown): string {
  return String(value).slice(0, 80);
}

type Bounds = {
  /** Seconds that a chain's clock may be behind ours, and ahead. */
  readonly clock: { readonly behind: number; readonly ahead: number };
  /** Blocks that a node may be behind the best of its chain: about two minutes. */
  readonly behind: number;
  /** Blocks below the lowest head at which nodes are compared: the last ones may still change. */
  readonly below: number;
};

const bounds: Readonly<Record<Family, Bounds>> = {
  // Median time past is about an hour behind, and three in one of a thousand hours.
  bitcoin: { clock: { behind: 3 * 3_600, ahead: 7_200 }, behind: 2, below: 1 },
  evm: { clock: { behind: 600, ahead: 60 }, behind: 60, below: 6 },
  tron: { clock: { behind: 300, ahead: 60 }, behind: 40, below: 20 },
  solana: { clock: { behind: 600, ahead: 600 }, behind: 300, below: 0 },
};

/** An answer that is not the expected one. */
export type Wrong = {
  readonly what: 'wrong_node' | 'node_clock' | 'node_behind' | 'nodes_disagree';
  /** For people: which node, or which chain where its nodes differ. */
  readonly where: string;
  readonly says: string;
  readonly todo: string;
  readonly facts: Readonly<Record<string, number>>;
};

export const wrongNode = (where: string, fault: string): Wrong => ({
  what: 'wrong_node',
  where,
  says: fault,
  todo: 'correct PARLEY_CHAINS: this node may not be believed',
  facts: {},
});

export function wrongClock(
  { clock, height }: Heads,
  family: Family,
  { now, where }: { readonly now: () => UnixSeconds; readonly where: string },
): Wrong | null {
  const ahead = clock - now();
  const most = bounds[family].clock;
  if (ahead <= most.ahead && -ahead <= most.behind) return null;
  const how =
    ahead > 0 ? `ahead of ours, at most ${most.ahead}` : `behind ours, at most ${most.behind}`;
  return {
    what: 'node_clock',
    where,
    says: `the clock of block ${height} is ${Math.abs(ahead)} s ${how}`,
    todo: 'see whether the node has stopped, the chain has, or this machine’s clock is off',
    facts: { ahead, height },
  };
}

export type Answered = {
  readonly where: string;
  readonly heads: Heads;
  readonly questions: Questions;
};

/** Their heights, and the same block of all of them. `bounded`: one call, null for a failure. */
export async function wrongTogether(
  { chain, family }: Pick<ChainSettings, 'chain' | 'family'>,
  nodes: readonly Answered[],
  bounded: <T>(ask: (signal: AbortSignal) => Promise<T>) => Promise<T | null>,
): Promise<readonly Wrong[]> {
  if (nodes.length < 2) return [];
  const heights = nodes.map(({ heads }) => heads.height);
  const best = Math.max(...heights);
  const late = nodes.flatMap(({ where, heads }): Wrong[] => {
    const behind = best - heads.height;
    if (behind <= bounds[family].behind) return [];
    const says = `its head ${heads.height} is ${behind} blocks behind that of another node, ${best}`;
    const todo = 'see whether it still syncs; while it is first it holds the market back';
    return [{ what: 'node_behind', where, says, todo, facts: { behind, best } }];
  });
  const height = Math.max(0, Math.min(...heights) - bounds[family].below);
  const hashes = await Promise.all(
    nodes.map(({ questions }) => bounded((signal) => questions.blockHash(height, signal))),
  );
  if (new Set(hashes.filter((each) => each !== null)).size < 2) return late;
  const said = nodes.map(({ where }, at) => `${where}: ${hashes[at] ?? 'none'}`).join('; ');
  const differs: Wrong = {
    what: 'nodes_disagree',
    where: `chain ${chain}`,
    says: `its nodes differ about block ${height}: ${said}`,
    todo: 'find out which one is wrong and take it away; meanwhile nobody funds or reveals',
    facts: { height },
  };
  return [...late, differs];
}

/** A node by its place in the settings: its address may hold a key. */
export function placeOf(chain: string, at: number, of: number): string {
  return `chain ${chain}, ${of === 1 ? 'its node' : `node ${at + 1} of ${of}`}`;
}

/** Each source as a chain of that source alone. */
export function sourcesOf(chain: ChainSettings): ChainSettings[] {
  switch (chain.family) {
    case 'bitcoin': {
      const { second, ...first } = chain;
      if (second === undefined) return [first];
      const { rpcUrl: _, esploraUrl: __, ...rest } = first;
      return [first, { ...rest, ...second }];
    }
    case 'evm':
    case 'solana':
      return chain.rpcUrls.map((url) => ({ ...chain, rpcUrls: [url] }));
    case 'tron':
      return chain.sources.map((source) => ({ ...chain, sources: [source] }));
  }
}

/** The URLs of one source. */
export function urlsOf(source: ChainSettings): string[] {
  switch (source.family) {
    case 'bitcoin':
      return [source.rpcUrl, source.esploraUrl].flatMap((each) => each ?? []);
    case 'evm':
    case 'solana':
      return [...source.rpcUrls];
    case 'tron':
      return source.sources.flatMap(({ url, solidityUrl, jsonRpcUrl }) =>
        [url, solidityUrl, jsonRpcUrl].flatMap((each) => each ?? []),
      );
  }
}
