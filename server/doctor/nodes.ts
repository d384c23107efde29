// Every node of every chain, each asked by itself: is it there, of the right chain with the right
// contracts, how far behind, how far is its clock off; and do those of one chain agree.

import { coreBackend } from '../../chains/bitcoin/core-backend.ts';
import { esploraBackend } from '../../chains/bitcoin/esplora-backend.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { blockAt as evmBlockAt } from '../../chains/evm/node.ts';
import type { Heads } from '../../chains/interface/reading.ts';
import { rpcClient } from '../../chains/nodes/rpc.ts';
import { httpClient } from '../../chains/tron/http.ts';
import { blockAt as tronBlockAt } from '../../chains/tron/node.ts';
import type { Family } from '../../core/families.ts';
import { inParallel } from '../../host/in-parallel.ts';
import { openOne } from '../ports/chains.ts';
import { WrongNodeError } from '../ports/node-identity.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { type Add, danger, differs, unseen } from './findings.ts';
import { inTime, type Parts } from './parts.ts';
import { silenceOf } from './reads.ts';

type Bounds = {
  /** How far a chain's clock may be behind ours, and ahead, in seconds. */
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

/** Chains asked at once, so that one that hangs costs the others nothing. */
const parallel = 8;

/** The doctor itself reports the nodes' faults. */
export const silentLog = { info: () => {}, warn: () => {} };

type NodesDeps = {
  readonly chains: readonly ChainSettings[];
  /** The market's clock, milliseconds. */
  readonly now: () => number;
  /** The limit of one call. */
  readonly callMs: number;
  readonly parts: Parts;
};

type Node = { readonly source: ChainSettings; readonly where: string; readonly heads: Heads };

/** How many there are. */
export async function examineNodes(deps: NodesDeps): Promise<number> {
  const counts = await inParallel(deps.chains, parallel, (chain) => examineChain(deps, chain));
  return counts.reduce((sum, each) => sum + each, 0);
}

async function examineChain(deps: NodesDeps, chain: ChainSettings): Promise<number> {
  const sources = sourcesOf(chain);
  const answered: Node[] = [];
  await Promise.all(
    sources.map((source, at) => {
      const where = placeOf(chain.chain, at, sources.length);
      return deps.parts.run(where, async (add, signal) => {
        const heads = await examineNode(deps, { source, where }, add, signal);
        if (heads !== null) answered.push({ source, where, heads });
      });
    }),
  );
  await deps.parts.run(`chain ${chain.chain}, its nodes together`, (add, signal) =>
    compareNodes(deps, chain, answered, add, signal),
  );
  return sources.length;
}

/** Which node of a chain, by its place in the settings: its address may hold a key. */
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

async function examineNode(
  { now, callMs }: NodesDeps,
  { source, where }: Omit<Node, 'heads'>,
  add: Add,
  ending: AbortSignal,
): Promise<Heads | null> {
  const silent = (why: string, todo: string) => {
    add(unseen('node_silent', where, `it does not answer: ${why}`, todo, { why }));
    return null;
  };
  const { adapter, identify } = openOne(
    source,
    { chainTimeoutMs: callMs },
    { now, log: silentLog },
  );
  try {
    const silences: string[] = [];
    await identify((_source, why) => void silences.push(why));
    const [silence] = silences;
    if (silence !== undefined) {
      const isLate = /TimeoutError|in time/.test(silence);
      const { why, todo } = silenceOf(isLate ? { name: 'TimeoutError' } : null, callMs);
      return silent(isLate ? why : silence.replace(/; nothing changed$/, ''), todo);
    }
    const heads = await inTime(callMs, ending, (signal) => adapter.heads(signal));
    compareClock(heads, source.family, { now, where, add });
    return heads;
  } catch (error) {
    ending.throwIfAborted();
    if (error instanceof WrongNodeError) {
      const todo = 'correct PARLEY_CHAINS: nothing of this node may be believed';
      add(danger('wrong_node', where, error.message, todo));
      return null;
    }
    const { why, todo } = silenceOf(error, callMs);
    return silent(why, todo);
  } finally {
    await adapter.close();
  }
}

export function compareClock(
  { clock, height }: Heads,
  family: Family,
  { now, where, add }: { now: () => number; where: string; add: Add },
): void {
  const ahead = clock - Math.floor(now() / 1_000);
  const most = bounds[family].clock;
  if (ahead <= most.ahead && -ahead <= most.behind) return;
  const how =
    ahead > 0 ? `ahead of ours, at most ${most.ahead}` : `behind ours, at most ${most.behind}`;
  const says = `the clock of block ${height} is ${Math.abs(ahead)} s ${how}`;
  const todo = 'see whether the node has stopped, the chain has, or this machine’s clock is off';
  add(differs('node_clock', where, says, todo, { ahead, height }));
}

/** Their heights, and the same block of all of them. */
export async function compareNodes(
  deps: Pick<NodesDeps, 'now' | 'callMs'>,
  { chain, family }: ChainSettings,
  nodes: readonly Node[],
  add: Add,
  ending: AbortSignal,
): Promise<void> {
  if (nodes.length < 2) return;
  const heights = nodes.map(({ heads }) => heads.height);
  const best = Math.max(...heights);
  for (const { where, heads } of nodes) {
    const behind = best - heads.height;
    if (behind <= bounds[family].behind) continue;
    const says = `its head ${heads.height} is ${behind} blocks behind that of another node, ${best}`;
    const todo = 'see whether it still syncs; while it is first it holds the market back';
    add(differs('node_behind', where, says, todo, { behind, best }));
  }
  const height = Math.max(0, Math.min(...heights) - bounds[family].below);
  const hashes = await Promise.all(
    nodes.map(({ source }) =>
      inTime(deps.callMs, ending, (signal) => blockIdAt(deps, source, height, signal)).catch(
        () => null,
      ),
    ),
  );
  if (new Set(hashes.filter((each) => each !== null)).size < 2) return;
  const said = nodes.map(({ where }, at) => `${where}: ${hashes[at] ?? 'none'}`).join('; ');
  const says = `its nodes differ about block ${height}: ${said}`;
  const todo = 'find out which one is wrong and take it away; meanwhile nobody funds or reveals';
  add(danger('nodes_disagree', `chain ${chain}`, says, todo, { height }));
}

/** The hash of one block as the heads name it; null where it is not known. Solana: never. */
async function blockIdAt(
  { now, callMs: timeMs }: Pick<NodesDeps, 'now' | 'callMs'>,
  source: ChainSettings,
  height: number,
  signal: AbortSignal,
): Promise<string | null> {
  const { chain } = source;
  switch (source.family) {
    case 'bitcoin': {
      const { rpcUrl, esploraUrl = '' } = source;
      const network = bitcoinNetworks[source.network === 'signet' ? 'testnet' : source.network];
      const common = { network, limits: { timeMs } };
      const backend =
        rpcUrl === undefined
          ? esploraBackend({ ...common, url: esploraUrl })
          : coreBackend({ ...common, url: rpcUrl, now: () => Math.floor(now() / 1_000) });
      return backend.blockHash(height, signal);
    }
    case 'evm': {
      const rpc = rpcClient({ chain, urls: source.rpcUrls, attemptTimeoutMs: timeMs });
      return (await evmBlockAt(rpc, height, false, signal))?.hash ?? null;
    }
    case 'tron': {
      const http = httpClient({ chain, sources: source.sources, attemptTimeoutMs: timeMs });
      return (await tronBlockAt(http, height, signal))?.hash ?? null;
    }
    case 'solana':
      return null;
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
