// What one adapter remembers between calls: whom it watches, which transactions it saw touch
// them, and the secrets of those it watches. All of it can be lost: the chain gives it again, but
// for secrets in claims that failed long ago (docs of changes(), in follow.ts).

import { hashlockOf } from '../../core/hashlock.ts';
import type { WatchedEscrow } from '../adapter.ts';
import { addName, type Names, removeName, secretsIn } from '../calldata.ts';
import { claimedTopic, fundedTopic, refundedTopic } from '../escrows/topics.ts';
import type { Rpc } from '../rpc.ts';
import type { Block, Log, Tx } from './node.ts';
import { callsIn, type DecodedCall, type EvmDeployment, escrowName } from './plan.ts';
import type { DepthTag } from './policy.ts';
import type { Slot } from './simulate.ts';

export type Verb = DecodedCall['verb'];

/** A transaction that did something to an escrow, as last seen on chain. */
export type Mark = {
  readonly verb: Verb;
  readonly txid: string;
  readonly block: number;
  readonly index: number;
};

/** A watched escrow and what was seen of it. */
export type Known = {
  readonly watched: WatchedEscrow;
  /** By verb and txid. */
  readonly marks: Map<string, Mark>;
  /** Transactions that called it directly; looked at when its logs do not explain its state. */
  readonly callers: Set<string>;
  /** All its logs up to here are in `marks`; null = not looked yet. */
  scannedTo: number | null;
};

/** A transaction that waits for its block. */
export type Waiting = { readonly verb: Verb; readonly txid: string };

export type Seen = Pick<Block, 'number' | 'hash'> & { readonly touched: ReadonlySet<string> };

export type Logger = (event: string, facts: Readonly<Record<string, unknown>>) => void;

export type Watch = {
  readonly chain: string;
  readonly chainId: number;
  readonly rpc: Rpc;
  readonly deployment: EvmDeployment;
  readonly depthTag: DepthTag | null;
  /** Escrows that want at least so many confirmations wait for the tag too. */
  readonly tagFrom: number;
  readonly log: Logger;
  readonly logRange: { now: number; taken: number; readonly most: number };
  /** By escrow. */
  readonly known: Map<string, Known>;
  /** Watched addresses by hashlock. */
  readonly byHashlock: Map<string, Set<string>>;
  /** The contract and the hashlocks of `known`, for finding their names in calldata. */
  readonly names: Names;
  /** Secrets by hashlock, as long as an escrow of it is watched. */
  readonly secrets: Map<string, string>;
  /** To be reported by the next changes(). */
  readonly owed: Set<string>;
  /** Escrows with something above their depth, and the block of it. */
  readonly shallow: Map<string, number>;
  /** Those at their depth and above the last final block; told again once they are not. */
  readonly unfinal: Map<string, number>;
  /** What the pending block holds, by escrow. */
  waiting: ReadonlyMap<string, Waiting>;
  /** Waiting transactions by hash: whether they would succeed on this block. */
  tried: { readonly head: string; readonly works: Map<string, boolean> };
  /** Where tokens keep the balance that a trial lends. */
  readonly slots: Map<string, Slot>;
  /** The last blocks followed, oldest first, without a gap. */
  readonly blocks: Seen[];
  /** Logs of all blocks from here to the tip were matched with `known`. */
  followedFrom: number;
  /** Block numbers by hour of their time. */
  readonly hours: Map<number, number>;
  /** Complaints made once. */
  readonly said: Set<string>;
};

export function remember(watch: Watch, watched: WatchedEscrow): Known {
  const before = watch.known.get(watched.address);
  if (before !== undefined) return before;
  const known: Known = { watched, marks: new Map(), callers: new Set(), scannedTo: null };
  watch.known.set(watched.address, known);
  const { hashlock } = watched.terms;
  const same = watch.byHashlock.get(hashlock) ?? new Set();
  if (same.size === 0) addName(watch.names, hashlock);
  watch.byHashlock.set(hashlock, same.add(watched.address));
  return known;
}

export function forget(watch: Watch, address: string): void {
  const known = watch.known.get(address);
  if (known === undefined) return;
  const { hashlock } = known.watched.terms;
  const same = watch.byHashlock.get(hashlock);
  same?.delete(address);
  if (same?.size === 0) {
    watch.byHashlock.delete(hashlock);
    watch.secrets.delete(hashlock);
    removeName(watch.names, hashlock);
  }
  for (const each of [watch.known, watch.owed, watch.shallow, watch.unfinal]) each.delete(address);
}

/** Keeps a secret when it opens a hashlock that is watched. Returns the escrows it concerns. */
export function learn(watch: Watch, word: string): ReadonlySet<string> {
  const hashlock = hashlockOf(word);
  const escrows = watch.byHashlock.get(hashlock);
  if (escrows === undefined) return new Set();
  if (!watch.secrets.has(hashlock)) for (const address of escrows) watch.owed.add(address);
  watch.secrets.set(hashlock, word);
  return escrows;
}

export function mark(known: Known, found: Mark): void {
  known.marks.set(`${found.verb} ${found.txid}`, found);
}

const wordHex = 64;

/** What a transaction, mined or not, failed or not, does or tries to do to watched escrows. */
export function touchesOf(watch: Watch, tx: Pick<Tx, 'to' | 'input'>): Map<string, Verb | null> {
  const touched = new Map<string, Verb | null>();
  const isDirect = tx.to === watch.deployment.contract;
  // To be named costs its sender little, so it touches nobody; a secret does (`learn`).
  for (const secret of secretsIn(watch, tx.input, isDirect)) learn(watch, secret);
  if (tx.input.length < 2 + 8 + 6 * wordHex) return touched;
  const wanted = (hashlock: string) => watch.byHashlock.has(hashlock);
  for (const { verb, escrow, secret } of callsIn(tx.input, watch.deployment, wanted)) {
    if (watch.known.has(escrow)) touched.set(escrow, verb);
    if (secret === null) continue;
    for (const each of learn(watch, secret)) if (!touched.has(each)) touched.set(each, null);
  }
  return touched;
}

/** Reads a log of ours into its escrow's marks. Returns the escrow, or null when not watched. */
export function noteLog(watch: Watch, log: Log): string | null {
  const { deployment, known } = watch;
  const [topic, id] = log.topics;
  const at = { txid: log.txid, block: log.block, index: log.index };
  if (log.address !== deployment.contract || id === undefined) return null;
  const found = known.get(escrowName(id, deployment));
  if (found === undefined) return null;
  if (topic === fundedTopic) {
    mark(found, { verb: 'fund', ...at });
  } else if (topic === claimedTopic) {
    const word = log.data.slice(2, 2 + wordHex);
    if (word.length === wordHex) learn(watch, word);
    mark(found, { verb: 'claim', ...at });
  } else if (topic === refundedTopic) {
    mark(found, { verb: 'refund', ...at });
  } else {
    return null;
  }
  return found.watched.address;
}
