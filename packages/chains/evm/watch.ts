// The memory of one adapter between calls. Secrets in claims that failed long ago are not given
// again.

import type { ChainPolicy } from '@parley/core/policy.ts';
import { claimedTopic, fundedTopic, refundedTopic } from '../escrows/calls.ts';
import { contractsOf, escrowName } from '../escrows/plan.ts';
import { touchesIn, type Verb } from '../escrows/touches.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/watch.ts';
import { addName, type Names, newNames } from '../kit/watch.ts';
import type { Width } from '../kit/widths.ts';
import type { Rpc, RpcOptions } from '../nodes/rpc.ts';
import { type Block, evmNodes, type Log, type Tx } from './node.ts';
import { calledBy, callsIn, type EvmContracts, type EvmDeployment, evmDeployment } from './plan.ts';
import type { DepthTag } from './policy.ts';

export type { Verb };

export type EvmAdapterOptions = EvmContracts & {
  readonly chain: string;
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  readonly policy: ChainPolicy;
  readonly depthTag?: DepthTag | null;
  /** Most blocks in one request for logs; it is lowered where a provider allows fewer. */
  readonly maxLogRange?: number;
  readonly rpc?: Pick<RpcOptions, 'attemptTimeoutMs' | 'rounds' | 'mostBytes'>;
  readonly log?: kit.Logger;
};

/** A transaction that did something to an escrow, as last seen on chain. */
export type Mark = {
  readonly verb: Verb;
  readonly txid: string;
  readonly block: number;
  readonly index: number;
};

export type Known = {
  readonly watched: WatchedEscrow;
  readonly marks: Map<string, Mark>;
  /**
   * Transactions that called it directly, and their blocks; looked at when its logs do not explain
   * its state.
   */
  readonly callers: Map<string, string>;
  /** Verb, transaction and block: its receipt says that it did not do this there. */
  readonly cleared: Set<string>;
  /** All its logs up to here are in `marks`; null = not looked yet. */
  scannedTo: number | null;
};

export type Seen = Pick<Block, 'number' | 'hash'> & { readonly touched: ReadonlySet<string> };

export type Watch = kit.Watching<Known> & {
  readonly chainId: number;
  readonly rpc: Rpc;
  readonly deployment: EvmDeployment;
  readonly contracts: readonly string[];
  readonly depthTag: DepthTag | null;
  /** Escrows that want at least so many confirmations wait for the tag too. */
  readonly tagFrom: number;
  readonly logRange: Width;
  /** The contracts too: a transaction that names one may have called it. */
  readonly names: Names;
  /** Those at their depth and above the last final block; told again once they are not. */
  readonly unfinal: Map<string, number>;
  /** Fundings in the pending block, by escrow. */
  waiting: ReadonlyMap<string, string>;
  readonly blocks: Seen[];
  readTo: number | null;
  /** Logs of all blocks from here to the tip were matched with `known`. */
  followedFrom: number;
  /** How far above the tip the logs were read before a skip ended early; 0: none has. */
  skippedTo: number;
  readonly hours: Map<number, number>;
};

const defaultLogRange = 10_000;

export function newWatch(options: EvmAdapterOptions): Watch {
  const { chain, chainId, policy, maxLogRange = defaultLogRange } = options;
  const { normal, high } = policy;
  const deployment = evmDeployment(chainId, options);
  const contracts = contractsOf(deployment);
  const names = newNames();
  for (const contract of contracts) addName(names, contract);
  return {
    ...kit.newWatching<Known>(chain, options.log),
    chainId,
    rpc: evmNodes({ chain, urls: options.rpcUrls, ...options.rpc }, chainId, normal.confirmations),
    deployment,
    contracts,
    depthTag: options.depthTag ?? null,
    tagFrom: high.confirmations > normal.confirmations ? high.confirmations : 0,
    logRange: { now: maxLogRange, taken: 0, most: maxLogRange },
    names,
    unfinal: new Map(),
    waiting: new Map(),
    blocks: [],
    readTo: null,
    followedFrom: 0,
    skippedTo: 0,
    hours: new Map(),
  };
}

export function remember(watch: Watch, watched: WatchedEscrow): Known {
  const begin = () => ({
    watched,
    marks: new Map(),
    callers: new Map<string, string>(),
    cleared: new Set<string>(),
    scannedTo: null,
  });
  return kit.remember(watch, watched, begin);
}

export function forget(watch: Watch, address: string): void {
  kit.forget(watch, address);
  watch.unfinal.delete(address);
}

export function mark(known: Known, found: Mark): void {
  known.marks.set(`${found.verb} ${found.txid}`, found);
}

const wordHex = 64;

export function touchesOf(watch: Watch, tx: Pick<Tx, 'to' | 'input'>): Map<string, Verb | null> {
  const isDirect = tx.to !== null && watch.contracts.includes(tx.to);
  return touchesIn(watch, tx.input, isDirect, (wanted) =>
    callsIn(tx.input, calledBy(tx.to, watch.deployment), wanted),
  );
}

export function noteLog(watch: Watch, log: Log): string | null {
  const { contracts, known } = watch;
  const [topic, id] = log.topics;
  const at = { txid: log.txid, block: log.block, index: log.index };
  if (!contracts.includes(log.address) || id === undefined) return null;
  const found = known.get(escrowName(id, { contract: log.address }));
  if (found === undefined) return null;
  if (topic === fundedTopic) {
    mark(found, { verb: 'fund', ...at });
  } else if (topic === claimedTopic) {
    const word = log.data.slice(2, 2 + wordHex);
    if (word.length === wordHex) kit.learn(watch, word);
    mark(found, { verb: 'claim', ...at });
  } else if (topic === refundedTopic) {
    mark(found, { verb: 'refund', ...at });
  } else {
    return null;
  }
  return found.watched.address;
}
