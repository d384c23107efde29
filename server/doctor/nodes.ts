// Every node of every chain, each asked by itself: is it there, of the right chain with the right
// contracts, how far behind, how far is its clock off; do those of one chain agree; and do they
// have the block that the market followed last.

import { coreBackend } from '../../chains/bitcoin/core-backend.ts';
import { esploraBackend } from '../../chains/bitcoin/esplora-backend.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { blockAt as evmBlockAt } from '../../chains/evm/node.ts';
import type { Heads } from '../../chains/interface/reading.ts';
import { type Rpc, rpcClient } from '../../chains/nodes/rpc.ts';
import { within } from '../../chains/nodes/time-limit.ts';
import { httpClient } from '../../chains/tron/http.ts';
import { blockAt as tronBlockAt } from '../../chains/tron/node.ts';
import type { Family } from '../../core/families.ts';
import { inParallel } from '../../host/in-parallel.ts';
import type { KnownHead } from '../db/doctor.ts';
import { openOne } from '../ports/chains.ts';
import { openMs, WrongNodeError } from '../ports/node-identity.ts';
import type { ChainSettings } from '../settings/chains.ts';
import { danger, differs, type Findings, notice, unseen } from './findings.ts';
import type { Parts } from './parts.ts';
import { identitySilence, type Silence, silenceOf } from './silence.ts';

/** How far a chain's clock may be behind ours, and ahead, in seconds. */
const clockBounds: Readonly<Record<Family, { behind: number; ahead: number }>> = {
  // Median time past is about an hour behind, and three in one of a thousand hours.
  bitcoin: { behind: 3 * 3_600, ahead: 7_200 },
  evm: { behind: 600, ahead: 60 },
  tron: { behind: 300, ahead: 60 },
  solana: { behind: 600, ahead: 600 },
};
/** Blocks that a node, or the follower, may be behind the best of its chain: about two minutes. */
const behindBounds: Readonly<Record<Family, number>> = {
  bitcoin: 2,
  evm: 60,
  tron: 40,
  solana: 300,
};
/** Blocks below the lowest head at which nodes are compared: the last ones may still change. */
const agreementDepth: Readonly<Record<Family, number>> = {
  bitcoin: 1,
  evm: 6,
  tron: 20,
  solana: 0,
};

export type NodesDeps = {
  readonly chains: readonly ChainSettings[];
  /** The market's clock, milliseconds. */
  readonly now: () => number;
  readonly chainTimeoutMs: number;
  /** What the market followed last, read again when asked; null: no database tells. */
  readonly known: () => Promise<readonly KnownHead[] | null>;
  /** And how long that may take. */
  readonly wait: () => Promise<void>;
  readonly waitMs: number;
  readonly parts: Parts;
  readonly partMs: number;
};

type Asking = NodesDeps & { readonly signal: AbortSignal };

/** Chains looked at at once, so that one that hangs costs the others nothing. */
const parallel = 8;

type Node = {
  readonly chain: ChainSettings;
  readonly where: string;
  readonly heads: Heads | null;
};

export async function examineNodes(deps: NodesDeps): Promise<void> {
  await inParallel(deps.chains, parallel, (chain) => examineChain(deps, chain));
  await inParallel(deps.chains, parallel, async (chain) => {
    const ms = deps.partMs + deps.waitMs;
    const where = `chain ${chain.chain}, what was followed of it`;
    await deps.parts.run(
      where,
      (findings, signal) => compareFollowed({ ...deps, signal }, chain, findings),
      ms,
    );
  });
}

export function countNodes(chains: readonly ChainSettings[]): number {
  return chains.reduce((sum, chain) => sum + sourcesOf(chain).length, 0);
}

async function examineChain(deps: NodesDeps, chain: ChainSettings): Promise<void> {
  const { parts } = deps;
  const sources = sourcesOf(chain);
  const seen = await Promise.all(
    sources.map(async (source, at) => {
      const which = sources.length === 1 ? 'its node' : `node ${at + 1} of ${sources.length}`;
      const where = `chain ${chain.chain}, ${which}`;
      let node: Node = { chain: source, where, heads: null };
      await parts.run(where, async (findings, signal) => {
        node = await examineNode({ ...deps, signal }, node, findings);
      });
      return node;
    }),
  );
  const answered = seen.filter((each) => each.heads !== null);
  await parts.run(`chain ${chain.chain}, its nodes together`, async (findings, signal) => {
    compareHeights(answered, findings);
    await compareBlocks({ ...deps, signal }, answered, findings);
  });
}

/** Each source as a chain of that source alone. */
function sourcesOf(chain: ChainSettings): ChainSettings[] {
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

async function examineNode(deps: Asking, nothing: Node, findings: Findings): Promise<Node> {
  const { chain, where } = nothing;
  const log = { info: () => {}, warn: () => {} };
  const { adapter, identify } = openOne(chain, deps, { now: deps.now, log });
  try {
    const silences: string[] = [];
    await identify((_source, why) => void silences.push(why));
    const [silence] = silences;
    if (silence !== undefined) return silent(findings, nothing, identitySilence(silence, openMs));
    const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(deps.chainTimeoutMs)]);
    const heads = await within(signal, chain.chain, adapter.heads(signal));
    compareClock(deps, chain, where, heads, findings);
    return { chain, where, heads };
  } catch (error) {
    deps.signal.throwIfAborted();
    if (error instanceof WrongNodeError) {
      const todo = 'correct PARLEY_CHAINS: nothing of this node may be believed';
      findings.add(danger('wrong_node', where, error.message, todo, {}));
      return nothing;
    }
    return silent(findings, nothing, silenceOf(error, deps.chainTimeoutMs));
  } finally {
    await adapter.close();
  }
}

function silent(findings: Findings, node: Node, { why, todo }: Silence): Node {
  const says = `it does not answer: ${why}`;
  findings.add(unseen('node_silent', node.where, says, todo, { why }));
  return node;
}

function compareClock(
  { now }: NodesDeps,
  { family }: ChainSettings,
  where: string,
  { clock, height }: Heads,
  findings: Findings,
): void {
  const ahead = clock - Math.floor(now() / 1_000);
  const bounds = clockBounds[family];
  if (ahead <= bounds.ahead && -ahead <= bounds.behind) return;
  const which = ahead > 0 ? 'ahead of' : 'behind';
  const most = ahead > 0 ? bounds.ahead : bounds.behind;
  const says = `the clock of block ${height} is ${Math.abs(ahead)} s ${which} ours, at most ${most}`;
  const todo =
    'see whether the node has stopped, the chain has, or the clock of this machine is off';
  findings.add(differs('node_clock', where, says, todo, { ahead, height }));
}

function compareHeights(nodes: readonly Node[], findings: Findings): void {
  const best = Math.max(...nodes.map(({ heads }) => heads?.height ?? 0));
  for (const { chain, where, heads } of nodes) {
    const behind = best - (heads?.height ?? 0);
    if (behind <= behindBounds[chain.family]) continue;
    const says = `its head ${heads?.height} is ${behind} blocks behind that of another node, ${best}`;
    const todo = 'see whether it still syncs; while it is first it holds the market back';
    findings.add(differs('node_behind', where, says, todo, { behind, best }));
  }
}

/** The same block of all nodes of one chain. */
async function compareBlocks(
  deps: Asking,
  nodes: readonly Node[],
  findings: Findings,
): Promise<void> {
  const [first] = nodes;
  if (first === undefined || nodes.length < 2) return;
  const { chain, family } = first.chain;
  const lowest = Math.min(...nodes.map(({ heads }) => heads?.height ?? 0));
  const height = Math.max(0, lowest - agreementDepth[family]);
  const hashes = await Promise.all(nodes.map((node) => blockIdAt(deps, node.chain, height)));
  const known = hashes.filter((each) => each !== null);
  if (new Set(known).size < 2) return;
  const said = nodes.map(({ where }, at) => `${where}: ${hashes[at] ?? 'none'}`).join('; ');
  const says = `its nodes differ about block ${height}: ${said}`;
  const todo = 'find out which one is wrong and take it away; meanwhile nobody funds or reveals';
  findings.add(danger('nodes_disagree', `chain ${chain}`, says, todo, { height }));
}

/** What the market followed last is on the node's chain, and near its head. */
async function compareFollowed(
  deps: Asking,
  chain: ChainSettings,
  findings: Findings,
): Promise<void> {
  let wrong = await followedWrong(deps, chain);
  // A market that works has seen it a moment later.
  if (wrong.length > 0) {
    await deps.wait();
    wrong = await followedWrong(deps, chain);
  }
  for (const tell of wrong) tell(findings);
}

type Telling = (findings: Findings) => void;

async function followedWrong(deps: Asking, chain: ChainSettings): Promise<Telling[]> {
  const known = await deps.known();
  if (known === null) return [];
  const followed = known.find((each) => each.chain === chain.chain);
  const where = `chain ${chain.chain}`;
  if (followed !== undefined) return followedOne(deps, chain, followed, where);
  const todo = 'start the market, or see its log';
  return [
    (to) => to.add(notice('not_followed_yet', where, 'no market has followed it yet', todo, {})),
  ];
}

async function followedOne(
  deps: Asking,
  chain: ChainSettings,
  { height, hash, seen_at: seenAt }: KnownHead,
  where: string,
): Promise<Telling[]> {
  const [one] = sourcesOf(chain);
  const head = one === undefined ? null : await headOf(deps, one);
  // Nothing is known without it, and the node was named as silent.
  if (head === null || one === undefined) return [];
  const told: Telling[] = [];
  const behind = head.height - height;
  if (behind > behindBounds[chain.family]) {
    const since = seenAt.toISOString();
    const says = `the market is ${behind} blocks behind it: at ${height} since ${since}`;
    const todo = 'start the market, or see its log for why looks at this chain fail';
    told.push((to) => to.add(differs('follower_behind', where, says, todo, { behind, height })));
  }
  // A node that lost blocks, or went to another fork, has none or another there.
  const known = await blockIdAt(deps, one, height);
  if (chain.family === 'solana' || known === hash) return told;
  if (known === null && head.height >= height) return told;
  const what = known === null ? `its head is ${head.height}` : `the node has ${known} there`;
  const says = `the market followed block ${height} ${hash}; ${what}`;
  const todo =
    'the node is on another fork: see which is right; a reorganisation is followed by itself';
  told.push((to) => to.add(differs('other_fork', where, says, todo, { height, hash })));
  return told;
}

async function headOf(deps: Asking, chain: ChainSettings): Promise<Heads | null> {
  const log = { info: () => {}, warn: () => {} };
  const { adapter } = openOne(chain, deps, { now: deps.now, log });
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(deps.chainTimeoutMs)]);
  try {
    return await within(signal, chain.chain, adapter.heads(signal));
  } catch {
    deps.signal.throwIfAborted();
    return null;
  } finally {
    await adapter.close();
  }
}

/** The hash of one block as the heads name it; null where it is not known. Solana: never. */
async function blockIdAt(
  deps: Asking,
  chain: ChainSettings,
  height: number,
): Promise<string | null> {
  const signal = AbortSignal.any([deps.signal, AbortSignal.timeout(deps.chainTimeoutMs)]);
  try {
    return await within(signal, chain.chain, askBlock(deps, chain, height, signal));
  } catch {
    deps.signal.throwIfAborted();
    return null;
  }
}

async function askBlock(
  { now, chainTimeoutMs: timeMs }: NodesDeps,
  each: ChainSettings,
  height: number,
  signal: AbortSignal,
): Promise<string | null> {
  const { chain } = each;
  switch (each.family) {
    case 'bitcoin': {
      const network = bitcoinNetworks[each.network === 'signet' ? 'testnet' : each.network];
      const limits = { timeMs };
      const seconds = () => Math.floor(now() / 1_000);
      const backend =
        each.rpcUrl === undefined
          ? esploraBackend({ url: each.esploraUrl ?? '', network, limits })
          : coreBackend({ url: each.rpcUrl, network, limits, now: seconds });
      return backend.blockHash(height, signal);
    }
    case 'evm': {
      const rpc: Rpc = rpcClient({ chain, urls: each.rpcUrls, attemptTimeoutMs: timeMs });
      return (await evmBlockAt(rpc, height, false, signal))?.hash ?? null;
    }
    case 'tron': {
      const http = httpClient({ chain, sources: each.sources, attemptTimeoutMs: timeMs });
      return (await tronBlockAt(http, height, signal))?.hash ?? null;
    }
    case 'solana':
      return null;
  }
}
