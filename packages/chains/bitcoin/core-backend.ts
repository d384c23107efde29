// The chain as a Core node (24 or later, or Knots) shows it; without wallet and txindex.

import { bytesOfHex } from '#bytes';
import type { Heads } from '../interface/reading.ts';
import type { CoreMethod } from '../nodes/methods.ts';
import { onceHeard } from '../nodes/offers.ts';
import type { BitcoinBackend, MempoolInterest } from './backend.ts';
import { blockOf, mustBeAsked } from './block.ts';
import { askedTargets, pacesOf } from './fees.ts';
import { unavailable } from './http.ts';
import type { BitcoinNetwork } from './networks.ts';
import { parseTx } from './raw-transaction.ts';
import {
  type CoreOptions,
  type CoreRpc,
  coreName,
  coreRpc,
  RpcRefusal,
  refusedBytes,
  unexpected,
} from './rpc.ts';

type ChainInfo = {
  chain: string;
  blocks: number;
  bestblockhash: string;
  mediantime: number;
  initialblockdownload: boolean;
};

const maxFetched = 2_000;
const defaultLongList = 5_000;
const longListSeconds = 5;
const maxOutpoints = 1_000;

type State = {
  readonly rpc: CoreRpc;
  readonly network: BitcoinNetwork;
  readonly now: () => number;
  readonly longList: number;
  known: Set<string>;
  listedAt: number;
  /** Where the next round of `spenders` starts. */
  turn: number;
};

export type CoreBackendOptions = CoreOptions & {
  readonly network: BitcoinNetwork;
  readonly now: () => number;
  readonly longList?: number;
};

export function coreBackend(options: CoreBackendOptions): BitcoinBackend {
  const { network, now, longList = defaultLongList } = options;
  const rpcState = { rpc: coreRpc(options), network, now, longList };
  const state: State = { ...rpcState, known: new Set(), listedAt: 0, turn: 0 };
  const { rpc } = state;
  return {
    name: coreName,
    past: {
      kind: 'by_block',
      firstHeight: (since, signal) => firstHeight(rpc, since, signal),
      blockHashes: (heights, signal) => blockHashes(rpc, heights, signal),
    },
    tip: (signal) => tip(rpc, network, signal),
    blockHash: (height, signal) => blockHash(rpc, height, signal),
    block: async (hash, signal) => {
      const hex = await rpc.call<string>('getblock', [hash, 0], signal).catch(unexpected);
      return blockOf(coreName, hash, bytesOfHex(hex));
    },
    tookBack: (hash, signal) => tookBack(rpc, hash, signal),
    mempool: (interest, signal) => mempool(state, interest, signal),
    feeEstimate: (at, signal) => feeEstimate(rpc, at, signal),
    mempoolEntry: (txid, signal) => mempoolEntry(rpc, txid, signal),
    spenders: (outpoints, signal) => spendersOf(rpc, outpoints, signal),
    rawOf: (txid, height, signal) => rawOf(rpc, txid, height, signal),
    send: (rawHex, txid, signal) => send(rpc, rawHex, txid, signal),
  };
}

async function tip(rpc: CoreRpc, network: BitcoinNetwork, signal: AbortSignal): Promise<Heads> {
  return headsOf(network, await rpc.call<ChainInfo>(...chainInfo, signal).catch(unexpected));
}

const chainInfo = ['getblockchaininfo', []] as const;

function headsOf(network: BitcoinNetwork, info: ChainInfo): Heads {
  if (!network.coreChains.includes(info.chain)) {
    throw unavailable(coreName, `it runs ${info.chain}, and this is Bitcoin ${network.name}`);
  }
  // On regtest a moved clock alone makes a node think that it is behind.
  if (info.initialblockdownload && network.name !== 'regtest') {
    throw unavailable(coreName, `it is still catching up, at block ${info.blocks}`);
  }
  return { height: info.blocks, hash: info.bestblockhash, clock: info.mediantime };
}

function isChainInfo(
  answer: readonly string[] | ChainInfo | RpcRefusal | undefined,
): answer is ChainInfo {
  return answer !== undefined && 'bestblockhash' in answer;
}

const outOfRange = -8;

async function blockHash(rpc: CoreRpc, height: number, signal: AbortSignal) {
  try {
    return await rpc.call<string>('getblockhash', [height], signal);
  } catch (error) {
    if (error instanceof RpcRefusal && error.code === outOfRange) return null;
    return unexpected(error);
  }
}

/** It says nothing of a block that it does not know. */
async function tookBack(rpc: CoreRpc, hash: string, signal: AbortSignal): Promise<boolean> {
  try {
    type Header = { hash: string; confirmations: number };
    const header = await rpc.call<Header>('getblockheader', [hash], signal);
    mustBeAsked(coreName, hash, header.hash);
    return header.confirmations < 0;
  } catch (error) {
    if (error instanceof RpcRefusal) return false;
    throw error;
  }
}

async function blockHashes(rpc: CoreRpc, heights: readonly number[], signal: AbortSignal) {
  const calls = heights.map((height) => ({ method: 'getblockhash', params: [height] }) as const);
  const hashes = await rpc.batch<string>(calls, signal);
  return hashes.map((each) => {
    if (!(each instanceof RpcRefusal)) return each;
    return each.code === outOfRange ? null : unexpected(each);
  });
}

/** Block times may be off by two hours against real time (consensus: MAX_FUTURE_BLOCK_TIME). */
const clockSkewSeconds = 7_200;
/** The median time past is of so many blocks, and never falls (BIP 113). */
const medianBlocks = 11;
/** Timelocks reach 30 days ahead at most; blocks may come twice as fast for a while. */
const mostSearched = 9_000;

/** By two requests: the widest search takes eight of them, where by halves it took 26. */
const askedAtOnce = 16;

async function firstHeight(rpc: CoreRpc, since: number, signal: AbortSignal): Promise<number> {
  const top = await rpc.call<number>('getblockcount', [], signal).catch(unexpected);
  let low = Math.max(0, top - mostSearched);
  let high = top;
  while (low < high) {
    const apart = Math.ceil((high - low) / askedAtOnce);
    const heights: number[] = [];
    for (let height = low; height < high; height += apart) heights.push(height);
    const times = await mediansAt(rpc, heights, signal);
    const late = times.findIndex((time) => time === null || time >= since - clockSkewSeconds);
    if (late !== -1) high = heights[late] ?? high;
    low = (heights[late === -1 ? heights.length - 1 : late - 1] ?? low - 1) + 1;
  }
  return Math.max(0, low - medianBlocks);
}

/** Null above the best block, which may have been taken back meanwhile. */
async function mediansAt(rpc: CoreRpc, heights: readonly number[], signal: AbortSignal) {
  type Header = { hash: string; mediantime: number };
  const hashes = await blockHashes(rpc, heights, signal);
  const found = hashes.filter((hash) => hash !== null);
  const calls = found.map((hash) => ({ method: 'getblockheader', params: [hash] }) as const);
  const headers = await rpc.batch<Header>(calls, signal);
  const times = headers.map((each, at) => {
    if (each instanceof RpcRefusal) return unexpected(each);
    mustBeAsked(coreName, found[at] ?? '', each.hash);
    return each.mediantime;
  });
  return hashes.map((hash) => (hash === null ? null : (times[found.indexOf(hash)] ?? null)));
}

async function mempool(state: State, interest: MempoolInterest, signal: AbortSignal) {
  const { rpc, network, longList } = state;
  if (interest.isNewInterest && state.known.size <= longList) state.known = new Set();
  const long = state.known.size > longList;
  const wait = long && Math.abs(state.now() - state.listedAt) < longListSeconds;
  const first = long ? await spenders(state, interest.outpoints(), signal) : [];
  // One that was read before what it spends was known is read again.
  for (const txid of first) state.known.delete(txid);
  const early = await fetchNew(state, first, signal);
  if (wait) {
    return { transactions: early, gone: [], best: await tip(rpc, network, signal) };
  }
  const [listed, info] = await rpc.batch<string[] | ChainInfo>(
    [
      { method: 'getrawmempool', params: [] },
      { method: 'getblockchaininfo', params: [] },
    ],
    signal,
  );
  if (!Array.isArray(listed) || !isChainInfo(info)) {
    throw unavailable(coreName, 'it does not show its mempool');
  }
  const present = new Set(listed);
  state.listedAt = state.now();
  state.known = new Set([...state.known].filter((txid) => present.has(txid)));
  const transactions = [...early, ...(await fetchNew(state, listed, signal))];
  return {
    transactions,
    gone: interest.unmined.filter((txid) => !present.has(txid)),
    best: headsOf(network, info),
  };
}

/** Spends of these outputs in the mempool: cheap where the whole list is long. */
async function spenders(state: State, outpoints: readonly string[], signal: AbortSignal) {
  const start = state.turn < outpoints.length ? state.turn : 0;
  const asked = outpoints.slice(start, start + maxOutpoints);
  state.turn = start + asked.length;
  return spendersOf(state.rpc, asked, signal);
}

async function spendersOf(rpc: CoreRpc, outpoints: readonly string[], signal: AbortSignal) {
  if (outpoints.length === 0) return [];
  const asked = outpoints.map((outpoint) => {
    const [txid = '', vout = ''] = outpoint.split(':');
    return { txid, vout: Number(vout) };
  });
  type Answer = { spendingtxid?: string }[];
  const found = await rpc.call<Answer>('gettxspendingprevout', [asked], signal).catch(unexpected);
  return found.flatMap(({ spendingtxid }) => (spendingtxid === undefined ? [] : [spendingtxid]));
}

async function fetchNew(state: State, txids: readonly string[], signal: AbortSignal) {
  const fresh = txids.filter((txid) => !state.known.has(txid)).slice(0, maxFetched);
  if (fresh.length === 0) return [];
  const calls = fresh.map((txid) => ({ method: 'getrawtransaction', params: [txid] }) as const);
  const raws = await state.rpc.batch<string>(calls, signal);
  for (const txid of fresh) state.known.add(txid);
  // A refusal here: it left the mempool between the two calls.
  return raws.flatMap((raw) => (raw instanceof RpcRefusal ? [] : [parseTx(raw)]));
}

type Smart = { feerate?: number };
type PoolInfo = { mempoolminfee: number; incrementalrelayfee?: number };

async function feeEstimate(rpc: CoreRpc, at: number, signal: AbortSignal) {
  const calls = [
    ...askedTargets.map((blocks) => ({ method: 'estimatesmartfee', params: [blocks] }) as const),
    { method: 'getmempoolinfo', params: [] } as const,
  ];
  const answers = await rpc.batch<Smart | PoolInfo>(calls, signal);
  const info = answers.at(-1);
  const rates = answers.slice(0, -1).map((answer, at) => {
    const rate = answer instanceof RpcRefusal || !('feerate' in answer) ? null : answer.feerate;
    return [askedTargets[at] ?? 0, rate && satPerVbyte(rate)] as const;
  });
  const known = info !== undefined && !(info instanceof RpcRefusal) && 'mempoolminfee' in info;
  const least = known ? satPerVbyte(info.mempoolminfee) : 1;
  const increment = known ? satPerVbyte(info.incrementalrelayfee ?? 0) : 1;
  const paces = pacesOf(Object.fromEntries(rates));
  if (paces === null) return known ? { fast: null, least, increment, at } : null;
  return { ...paces, least, increment, at };
}

function satPerVbyte(coinsPerKvB: number): number {
  return Math.round(coinsPerKvB * 1e8) / 1_000;
}

type Entry = {
  vsize: number;
  time: number;
  descendantsize: number;
  ancestorsize: number;
  fees: { base: number; descendant: number; ancestor: number };
};

async function mempoolEntry(rpc: CoreRpc, txid: string, signal: AbortSignal) {
  try {
    const entry = await rpc.call<Entry>('getmempoolentry', [txid], signal);
    const { vsize, fees } = entry;
    const sats = (coins: number) => BigInt(Math.round(coins * 1e8));
    return {
      txid,
      vsize,
      feeSats: sats(fees.base),
      withDescendantsFeeSats: sats(fees.descendant),
      withDescendantsVsize: entry.descendantsize,
      withAncestors: { vsize: entry.ancestorsize, feeSats: sats(fees.ancestor) },
      since: entry.time,
    };
  } catch (error) {
    if (error instanceof RpcRefusal) return null;
    throw error;
  }
}

/** Without a txindex: by the block at `height`. */
async function rawOf(rpc: CoreRpc, txid: string, height: number | null, signal: AbortSignal) {
  const ask = <T>(method: CoreMethod, params: readonly unknown[]): Promise<T | null> =>
    rpc.call<T>(method, params, signal).catch((error: unknown) => {
      if (error instanceof RpcRefusal) return null;
      throw error;
    });
  const found = await ask<Found>('getrawtransaction', [txid, 1]);
  // A txindex keeps what was in a block that was taken back: that is nowhere now.
  const isStale = found?.blockhash !== undefined && (found.confirmations ?? 0) < 1;
  if (found !== null && !isStale) return found.hex;
  const block = height === null ? null : await blockHash(rpc, height, signal);
  return block === null ? null : ask<string>('getrawtransaction', [txid, false, block]);
}

type Found = { hex: string; blockhash?: string; confirmations?: number };
const alreadyMined = -27;

async function send(rpc: CoreRpc, rawHex: string, txid: string, signal: AbortSignal) {
  try {
    await rpc.call('sendrawtransaction', [rawHex], signal);
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    // The txid leaves the witness out: other bytes of the same id are not the ones it has.
    const there = await onceHeard(rawOf(rpc, txid, null, signal));
    if (there === rawHex || (there === null && error.code === alreadyMined)) return;
    const { code, message: words } = error;
    throw refusedBytes(coreName, { words, code }, { code });
  }
}
