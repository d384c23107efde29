// The memory of one adapter between calls. Secrets in claims that failed long ago are not given
// again.

import type { ChainPolicy } from '@parley/core/policy.ts';
import * as topics from '../escrows/calls.ts';
import { contractsOf, escrowName } from '../escrows/plan.ts';
import { touchesIn, type Verb } from '../escrows/touches.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/watch.ts';
import { addName, type Names, newNames } from '../kit/watch.ts';
import type { Width } from '../kit/widths.ts';
import type { Http, HttpOptions, TronSource } from './http.ts';
import { type Block, type Head, isSame, type Log } from './node.ts';
import { bareAddress, callsIn, type TronDeployment, type TronOrigin } from './plan.ts';

export type { Verb };

export type TronAdapterOptions = {
  readonly chain: string;
  readonly deployment: TronOrigin;
  readonly sources: readonly TronSource[];
  readonly policy: ChainPolicy;
  readonly http?: Pick<HttpOptions, 'attemptTimeoutMs' | 'rounds' | 'mostBytes'>;
  readonly log?: kit.Logger;
};

export type Seen = Omit<Block, 'txs'> & {
  /** The escrows, watched then, that it is about; null: it was not read. */
  readonly about: ReadonlySet<string> | null;
};

/** Before its block is solid another may come in its place. `hash`: of its block, where known. */
export type Found = {
  readonly txid: string;
  readonly block: number;
  readonly hash: string | null;
  readonly isSolid: boolean;
};

export type Known = {
  readonly watched: WatchedEscrow;
  readonly made: Map<Verb, Found>;
  /** The last block that was followed before it was watched. */
  readonly since: number;
  /** Its claim is in no block above this one, as far as was searched; null: not searched yet. */
  searchedTo: number | null;
};

export type Event = { readonly txid: string; readonly block: number; readonly log: Log };

/** A search in that index, and from when on there may be another one. */
export type Searched = {
  going: Promise<void> | null;
  againAt: number;
  readonly found: Event[];
};

export type Watch = kit.Watching<Known> & {
  readonly http: Http;
  readonly deployment: TronDeployment;
  readonly contracts: ReadonlyMap<string, string>;
  /** How long a party may take to sign. */
  readonly signSeconds: number;
  /** The contracts too: a transaction that names one may have called it. */
  readonly names: Names;
  readonly blocks: Seen[];
  readTo: number | null;
  /** The searches for transactions that did something, as far as they are under way. */
  readonly searches: Map<string, Promise<Found | null>>;
  /** The last searches in the index of events, of escrows that are only looked at too. */
  readonly searched: Map<string, Searched>;
  /** Blocks that the index is asked about at once. */
  readonly eventRange: Width;
  /** The first block from a second on. */
  readonly starts: Map<number, number>;
  readonly clock: () => number;
};

/** node.jsonrpc.maxBlockRange of java-tron, unless its operator says otherwise. */
const mostEventBlocks = 5_000;

type Of = Pick<TronAdapterOptions, 'chain' | 'policy' | 'log'> & {
  readonly http: Http;
  readonly deployment: TronDeployment;
};

export function newWatch({ chain, policy: { signSeconds }, log, http, deployment }: Of): Watch {
  const names = newNames();
  const contracts = new Map(
    contractsOf(deployment).map((each) => [bareAddress(each).slice(2), each]),
  );
  for (const bytes of contracts.keys()) addName(names, bytes);
  const own = { http, deployment, contracts, signSeconds, names, blocks: [], readTo: null };
  const clock = () => performance.now();
  const eventRange = { now: mostEventBlocks, taken: 0, most: mostEventBlocks };
  const searches = { searches: new Map(), searched: new Map(), starts: new Map() };
  return { ...kit.newWatching<Known>(chain, log), ...own, ...searches, eventRange, clock };
}

export function remember(watch: Watch, watched: WatchedEscrow): Known {
  const since = watch.blocks.at(-1)?.number ?? 0;
  const begin = () => ({ watched, made: new Map(), since, searchedTo: null });
  return kit.remember(watch, watched, begin);
}

/**
 * Blocks above the solid one that may have done something to an escrow: all but those below this
 * head that were followed while it was watched, and are not about it.
 */
export function blocksToSearch(
  { known, blocks }: Pick<Watch, 'known' | 'blocks'>,
  escrow: string,
  solid: number,
  head: Head,
): number[] {
  const since = known.get(escrow)?.since ?? head.number;
  const followed = followedTo(blocks, head).filter(({ number }) => number > since);
  const clear = new Set(
    followed.flatMap(({ number, about }) => (about?.has(escrow) === false ? number : [])),
  );
  const all = Array.from({ length: Math.max(0, head.number - solid) }, (_, at) => solid + 1 + at);
  return all.filter((block) => !clear.has(block));
}

/** The blocks that were followed and are below this head, as its parents, or are it. */
function followedTo(blocks: readonly Seen[], head: Head): Seen[] {
  const joint = blocks.findLast((each) => isSame(each, head) || each.hash === head.parentHash);
  return blocks.filter(({ number }) => number <= (joint?.number ?? -1));
}

/** Whether the block that has it is one of those: then it stands, and is not read again. */
export function isBelow({ blocks }: Pick<Watch, 'blocks'>, found: Found, head: Head): boolean {
  return followedTo(blocks, head).some(({ hash }) => hash === found.hash);
}

export function touchesOf(watch: Watch, rawData: string): Map<string, Verb | null> {
  const { deployment } = watch;
  return touchesIn(watch, `0x${rawData}`, false, (wanted) => callsIn(rawData, deployment, wanted));
}

const wordHex = 64;

type Act = { readonly escrow: string; readonly verb: Verb };

export function noteMade({ known }: Watch, { escrow, verb }: Act, found: Found): void {
  known.get(escrow)?.made.set(verb, found);
}

/** The last that is known to have done this to an escrow. */
export function madeBy({ known }: Watch, { escrow, verb }: Act): Found | null {
  return known.get(escrow)?.made.get(verb) ?? null;
}

/** The watched escrow that a log of a contract is about, or null. Learns a secret in it. */
export function noteLog(watch: Watch, log: Log): string | null {
  const [topic = '', id] = log.topics;
  const contract = watch.contracts.get(log.address);
  if (contract === undefined || id === undefined || !ourTopics.has(topic)) return null;
  const escrow = escrowName(`0x${id}`, { contract });
  if (!watch.known.has(escrow)) return null;
  if (topic === claimedTopic && log.data.length >= wordHex) kit.learn(watch, log.data.slice(0, 64));
  return escrow;
}

export const fundedTopic = topics.fundedTopic.slice(2);
export const claimedTopic = topics.claimedTopic.slice(2);
const refundedTopic = topics.refundedTopic.slice(2);

export const ourTopics: ReadonlySet<string> = new Set([fundedTopic, claimedTopic, refundedTopic]);

export const verbOfTopic = new Map([
  [fundedTopic, 'fund'],
  [claimedTopic, 'claim'],
  [refundedTopic, 'refund'],
] as const);

export const topicOfVerb = {
  fund: fundedTopic,
  claim: claimedTopic,
  refund: refundedTopic,
} as const;
