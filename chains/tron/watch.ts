// What one adapter remembers between calls: whom it watches, and the secrets of those. All of it
// can be lost: the chain gives it again, but for secrets in claims that failed long ago (docs of
// changes(), in follow.ts).

import { hashlockOf } from '../../core/hashlock.ts';
import type { WatchedEscrow } from '../adapter.ts';
import { addName, type Names, newNames, removeName, secretsIn } from '../calldata.ts';
import type { Http } from './http.ts';
import type { Block, Log } from './node.ts';
import { bareAddress, callsIn, type DecodedCall, escrowName, type TronDeployment } from './plan.ts';
import { claimedTopic, ourTopics } from './topics.ts';

export type Verb = DecodedCall['verb'];

export type Seen = Pick<Block, 'number' | 'id' | 'timestampMs'>;

/** Before its block is solid another may come in its place. */
export type Found = { readonly txid: string; readonly block: number; readonly isSolid: boolean };

export type Logger = (event: string, facts: Readonly<Record<string, unknown>>) => void;

export type Watch = {
  readonly chain: string;
  readonly http: Http;
  readonly deployment: TronDeployment;
  readonly log: Logger;
  /** By escrow. */
  readonly known: Map<string, WatchedEscrow>;
  /** Watched escrows by hashlock. */
  readonly byHashlock: Map<string, Set<string>>;
  /** The contract and the hashlocks of `known`, for finding their names in transactions. */
  readonly names: Names;
  /** Secrets by hashlock, as long as an escrow of it is watched. */
  readonly secrets: Map<string, string>;
  /** To be reported by the next changes(). */
  readonly owed: Set<string>;
  /** Escrows with something above their depth, and the block of it. */
  readonly shallow: Map<string, number>;
  /** The last blocks followed, oldest first, without a gap. */
  readonly blocks: Seen[];
  /** By escrow, then by verb and second: which transaction did it. */
  readonly made: Map<string, Map<string, Found>>;
  /** The searches for such that are under way. */
  readonly searches: Map<string, Promise<Found | null>>;
  /** Ends all that goes on beside calls. */
  readonly closed: AbortController;
  /** Complaints made once. */
  readonly said: Set<string>;
};

export function newWatch(
  chain: string,
  http: Http,
  deployment: TronDeployment,
  log: Logger,
): Watch {
  const names = newNames();
  addName(names, bareAddress(deployment.contract));
  return {
    chain,
    http,
    deployment,
    log,
    known: new Map(),
    byHashlock: new Map(),
    names,
    secrets: new Map(),
    owed: new Set(),
    shallow: new Map(),
    blocks: [],
    made: new Map(),
    searches: new Map(),
    closed: new AbortController(),
    said: new Set(),
  };
}

export function remember(watch: Watch, watched: WatchedEscrow): void {
  if (watch.known.has(watched.address)) return;
  watch.known.set(watched.address, watched);
  const { hashlock } = watched.terms;
  const same = watch.byHashlock.get(hashlock) ?? new Set();
  if (same.size === 0) addName(watch.names, hashlock);
  watch.byHashlock.set(hashlock, same.add(watched.address));
}

export function forget(watch: Watch, escrow: string): void {
  const watched = watch.known.get(escrow);
  if (watched === undefined) return;
  const { hashlock } = watched.terms;
  const same = watch.byHashlock.get(hashlock);
  same?.delete(escrow);
  if (same?.size === 0) {
    watch.byHashlock.delete(hashlock);
    watch.secrets.delete(hashlock);
    removeName(watch.names, hashlock);
  }
  for (const each of [watch.known, watch.owed, watch.shallow, watch.made]) each.delete(escrow);
}

/** Keeps a secret when it opens a hashlock that is watched. Returns the escrows it concerns. */
export function learn(watch: Watch, word: string): ReadonlySet<string> {
  const hashlock = hashlockOf(word);
  const escrows = watch.byHashlock.get(hashlock);
  if (escrows === undefined) return new Set();
  if (!watch.secrets.has(hashlock)) for (const escrow of escrows) watch.owed.add(escrow);
  watch.secrets.set(hashlock, word);
  return escrows;
}

/**
 * What a transaction, in a block or not, failed or not, does or tries to do to watched escrows.
 * `rawData` is all of its raw_data in hex: a memo can show a secret too.
 */
export function touchesOf(watch: Watch, rawData: string): Map<string, Verb | null> {
  const touched = new Map<string, Verb | null>();
  // To be named costs its sender little, so it touches nobody; a secret does (`learn`).
  for (const secret of secretsIn(watch, `0x${rawData}`, false)) learn(watch, secret);
  const wanted = (hashlock: string) => watch.byHashlock.has(hashlock);
  for (const { verb, escrow, secret } of callsIn(rawData, watch.deployment, wanted)) {
    if (watch.known.has(escrow)) touched.set(escrow, verb);
    if (secret === null) continue;
    for (const each of learn(watch, secret)) if (!touched.has(each)) touched.set(each, null);
  }
  return touched;
}

const wordHex = 64;

/** Remembers which transaction did something to a watched escrow. */
export function noteMade(
  watch: Watch,
  {
    escrow,
    verb,
    second,
  }: { readonly escrow: string; readonly verb: Verb; readonly second: number },
  found: Found,
): void {
  if (!watch.known.has(escrow)) return;
  const own = watch.made.get(escrow) ?? new Map<string, Found>();
  watch.made.set(escrow, own.set(`${verb} ${second}`, found));
}

/** The last that did this to an escrow; at this second, where one is given. */
export function madeBy(
  { made }: Watch,
  {
    escrow,
    verb,
    second,
  }: { readonly escrow: string; readonly verb: Verb; readonly second?: number },
): Found | null {
  const own = made.get(escrow);
  if (second !== undefined) return own?.get(`${verb} ${second}`) ?? null;
  const of = [...(own ?? [])].filter(([key]) => key.startsWith(`${verb} `));
  return of.at(-1)?.[1] ?? null;
}

/** The watched escrow that a log of the contract is about, or null. Learns a secret in it. */
export function noteLog(watch: Watch, log: Log): string | null {
  const [topic = '', id] = log.topics;
  if (`0x${log.address}` !== bareAddress(watch.deployment.contract)) return null;
  if (id === undefined || !ourTopics.has(topic)) return null;
  const escrow = escrowName(`0x${id}`, watch.deployment);
  if (!watch.known.has(escrow)) return null;
  if (topic === claimedTopic && log.data.length >= wordHex) learn(watch, log.data.slice(0, 64));
  return escrow;
}
