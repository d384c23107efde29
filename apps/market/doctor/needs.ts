// The needs of a market of a node beyond the first questions (ports/node-questions.ts): every
// method that its adapter calls, and the days that a swap may last. It sends nothing: a method that
// gets no arguments refuses them, or is not there.

import { coreBackend } from '@parley/chains/bitcoin/core-backend.ts';
import { bitcoinNetworkOf } from '@parley/chains/bitcoin/networks.ts';
import { coreRpc, RpcRefusal } from '@parley/chains/bitcoin/rpc.ts';
import { blockAt, headBlock as evmHead, logsOf } from '@parley/chains/evm/node.ts';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { evmBlockSeconds } from '@parley/chains/evm/policy.ts';
import { mostRequests, ours } from '@parley/chains/evm/scan.ts';
import { TurnedAway, turnsAway } from '@parley/chains/nodes/exchange.ts';
import {
  coreMethods,
  evmMethods,
  solanaMethods,
  spareMethods,
  tronPaths,
} from '@parley/chains/nodes/methods.ts';
import { RpcError, rpcClient } from '@parley/chains/nodes/rpc.ts';
import { firstBlock, signaturesOf } from '@parley/chains/solana/node.ts';
import { httpClient, NotServed, TronRefusal } from '@parley/chains/tron/http.ts';
import {
  blocksOf,
  infosAt,
  blockAt as tronBlockAt,
  headBlock as tronHead,
} from '@parley/chains/tron/node.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { worldOfBitcoin } from '@parley/core/worlds.ts';
import type { ChainSettings, Of } from '../settings/chains.ts';
import { policyOf } from '../settings/policies.ts';

/** The longest timelock is 30 days ahead (core/timelocks.ts). */
const historySeconds = 31 * 86_400;
const tronBlockSeconds = 3;
/** Blocks of java-tron in one answer. */
const tronBlocks = 100;

/** `methods`: each throws where it is not served. `history`: the sentence of what is missing. */
type Needs = {
  readonly methods: readonly string[];
  readonly ask: (method: string, signal: AbortSignal) => Promise<unknown>;
  readonly history: (signal: AbortSignal) => Promise<readonly string[]>;
};

/** The lacks of a node, a clause each. `source`: a chain with one node. `callMs`: of one call. */
export async function lacksOf(
  source: ChainSettings,
  callMs: number,
  now: () => UnixSeconds,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { methods, ask, history } = needsOf(source, callMs, now);
  const missing: string[] = [];
  for (const method of methods) {
    if (spareMethods.has(method)) continue;
    const isServed = await ask(method, signal).then(() => true, serves);
    if (!isServed) missing.push(`does not serve ${method}`);
  }
  const lost = await history(signal).catch((error: unknown) => {
    // Readers of answers wrap it.
    const refusal = isRefusal(error) ? error : (error as Error).cause;
    if (!isRefusal(refusal)) throw error;
    return [`refuses to give what is 31 days old: ${refusal.message}`];
  });
  return [...missing, ...lost];
}

function needsOf(source: ChainSettings, callMs: number, now: () => UnixSeconds): Needs {
  switch (source.family) {
    case 'bitcoin':
      return needsOfBitcoin(source, callMs, now);
    case 'evm':
      return needsOfEvm(source, callMs);
    case 'tron':
      return needsOfTron(source, callMs);
    case 'solana':
      return needsOfSolana(source, callMs, now);
  }
}

const isRefusal = (error: unknown): error is RpcError | RpcRefusal | TronRefusal =>
  error instanceof RpcError || error instanceof RpcRefusal || error instanceof TronRefusal;

/** The codes of JSON-RPC for an unknown method, and for arguments that do not fit. */
const methodNotFound = -32_601;
const wrongArguments = -32_602;
/** Gateways and lite nodes word it as they like. */
const notServed = /method.{0,80}(not|n't|un|disabled)|unsupported|this API is closed/i;

/** Whether what was said of no arguments was said of the arguments. Throws where it is silence. */
function serves(error: unknown): boolean {
  if (error instanceof RpcRefusal) return error.code !== methodNotFound;
  if (error instanceof RpcError && error.code === wrongArguments) return true;
  if (error instanceof RpcError && (error.code === methodNotFound || turnsAway(error.status))) {
    return false;
  }
  if (isRefusal(error)) return !notServed.test(error.message);
  if (error instanceof NotServed || error instanceof TurnedAway) return false;
  // Core's whitelist refuses as it refuses a password.
  if (error instanceof ParleyError && error.kind === 'unavailable') return false;
  throw error;
}

function needsOfBitcoin(source: Of<'bitcoin'>, timeMs: number, now: () => UnixSeconds): Needs {
  const { rpcUrl: url } = source;
  // An Esplora server has all of its chain, and one API.
  if (url === undefined) return { methods: [], ask: async () => {}, history: async () => [] };
  const limits = { timeMs };
  const rpc = coreRpc({ url, limits });
  const network = bitcoinNetworkOf(worldOfBitcoin(source.network));
  const backend = coreBackend({ url, limits, network, now });
  return {
    methods: coreMethods,
    ask: (method, signal) => rpc.call(method as (typeof coreMethods)[number], [], signal),
    history: async (signal) => {
      const { past } = backend;
      const first =
        past.kind === 'by_block' ? await past.firstHeight(now() - historySeconds, signal) : 0;
      const hash = await backend.blockHash(first, signal);
      const block = hash === null ? null : await backend.block(hash, signal).catch(() => null);
      return block === null
        ? [`does not give block ${first}, of 31 days ago: prune=10000 or more`]
        : [];
    },
  };
}

function needsOfEvm(source: Of<'evm'>, attemptTimeoutMs: number): Needs {
  const { chain, chainId, rpcUrls } = source;
  const rpc = rpcClient({ chain, urls: rpcUrls, attemptTimeoutMs, rounds: 1 });
  const filter = { address: evmDeployment(chainId, source).contract, topics: [ours] };
  const blockSeconds = evmBlockSeconds(chainId);
  const { depthTag } = policyOf(source);
  return {
    methods: evmMethods,
    ask: (method, signal) => rpc.ask(0, method as (typeof evmMethods)[number], [], signal),
    history: async (signal) => {
      const { number } = await evmHead(rpc, signal);
      const lacks: string[] = [];
      if (depthTag !== null && (await blockAt(rpc, depthTag, false, signal)) === null) {
        lacks.push(`names no ${depthTag} block: high values never come to their depth`);
      }
      const old = Math.max(0, number - Math.ceil(historySeconds / blockSeconds));
      if ((await blockAt(rpc, old, false, signal)) === null) {
        return [...lacks, `has no block ${old}, of 31 days ago`];
      }
      const range = Math.ceil(historySeconds / blockSeconds / mostRequests);
      await logsOf(rpc, filter, old, Math.min(number, old + range - 1), signal);
      return lacks;
    },
  };
}

function needsOfTron(source: Of<'tron'>, attemptTimeoutMs: number): Needs {
  const { chain, sources } = source;
  const http = httpClient({ chain, sources, attemptTimeoutMs, rounds: 1 });
  return {
    methods: tronPaths,
    ask: (path, signal) => http.ask(0, path as (typeof tronPaths)[number], {}, signal),
    history: async (signal) => {
      const { number } = await tronHead(http, 'head', signal);
      // No node has receipts of the first block.
      const old = Math.max(1, number - historySeconds / tronBlockSeconds);
      if ((await tronBlockAt(http, Math.min(old, number), signal)) === null) {
        return [`has no block ${old}, of 31 days ago: a lite node`];
      }
      const last = Math.min(number, old + tronBlocks - 1);
      const blocks = last < old ? [] : await blocksOf(http, old, last, signal);
      const block = blocks.find(({ txs }) => txs.length > 0);
      if (block === undefined) return [];
      const receipts = await infosAt(http, block.number, signal);
      if (receipts.length >= block.txs.length) return [];
      return [`keeps no receipts of block ${block.number} (storage.transHistory.switch = on)`];
    },
  };
}

function needsOfSolana(
  source: Of<'solana'>,
  attemptTimeoutMs: number,
  now: () => UnixSeconds,
): Needs {
  const { chain, rpcUrls, program } = source;
  const rpc = rpcClient({ chain, urls: rpcUrls, attemptTimeoutMs, rounds: 1 });
  return {
    methods: solanaMethods,
    ask: (method, signal) => rpc.ask(0, method as (typeof solanaMethods)[number], [], signal),
    history: async (signal) => {
      // A validator without transactions knows a first block all the same.
      await signaturesOf(rpc, program, { until: null, before: null, limit: 10 }, signal);
      const { slot, at } = await firstBlock(rpc, signal);
      const days = Math.floor((now() - at) / 86_400);
      if (slot === 0 || now() - at >= historySeconds) return [];
      return [`keeps ${days} days of transactions, and a swap may last 31`];
    },
  };
}
