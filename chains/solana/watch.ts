// What one adapter remembers between calls: whom it watches, which transactions it saw touch them,
// and every secret it ever saw. All of it can be lost: the chain's history gives it again.

import { hash } from 'node:crypto';
import { bytesToHex } from '@noble/hashes/utils.js';
import { hashlockOf } from '../../core/hashlock.ts';
import type { WatchedEscrow } from '../adapter.ts';
import type { Rpc } from '../rpc.ts';
import type { ReadMessage } from './message.ts';
import type { Transaction } from './node.ts';
import { decodeInstruction, type SolanaDeployment, type Wanted } from './plan.ts';

export type Verb = Wanted['verb'];

/** A successful transaction that did something to an escrow. */
export type Mark = {
  readonly verb: Verb;
  readonly txid: string;
  readonly slot: number;
};

export type Known = {
  readonly watched: WatchedEscrow;
  /** By verb. */
  readonly marks: Map<Verb, Mark>;
  /** Transactions read already. */
  readonly taken: Set<string>;
  /** All of its history up to here is finalized and read. */
  cursor: string | null;
};

export type Logger = (event: string, facts: Readonly<Record<string, unknown>>) => void;

export type Watch = {
  readonly chain: string;
  readonly rpc: Rpc;
  readonly deployment: SolanaDeployment;
  readonly mostDriftSeconds: number;
  /** Unix seconds of the wall. */
  readonly now: () => number;
  readonly log: Logger;
  readonly known: Map<string, Known>;
  readonly byHashlock: Map<string, Set<string>>;
  /** By hashlock, never forgotten. */
  readonly secrets: Map<string, string>;
  /** To be reported by the next changes(). */
  readonly owed: Set<string>;
  /** Escrows with something that is not finalized, and the slot of it. */
  readonly shallow: Map<string, number>;
  /** Of the program: all finalized ones up to here were read. */
  cursor: string | null;
  /** Whether the cursor was set; null is one too, on a chain where nobody used the program yet. */
  isFollowing: boolean;
  /** Of the program, read but not finalized: whom they touched. */
  readonly recent: Map<string, ReadonlySet<string>>;
  /** How often a transaction that the node lists could not be had. */
  readonly missing: Map<string, number>;
  headSlot: number;
  readonly said: Set<string>;
};

export function once(watch: Watch, event: string, facts: Readonly<Record<string, unknown>>): void {
  if (watch.said.has(event)) return;
  watch.said.add(event);
  watch.log(event, facts);
}

export function remember(watch: Watch, watched: WatchedEscrow): Known {
  const before = watch.known.get(watched.address);
  if (before !== undefined) return before;
  const known: Known = { watched, marks: new Map(), taken: new Set(), cursor: null };
  watch.known.set(watched.address, known);
  const { hashlock } = watched.terms;
  const same = watch.byHashlock.get(hashlock) ?? new Set();
  watch.byHashlock.set(hashlock, same.add(watched.address));
  watch.owed.add(watched.address);
  return known;
}

export function forget(watch: Watch, address: string): void {
  const known = watch.known.get(address);
  if (known === undefined) return;
  const { hashlock } = known.watched.terms;
  const same = watch.byHashlock.get(hashlock);
  same?.delete(address);
  if (same?.size === 0) watch.byHashlock.delete(hashlock);
  for (const each of [watch.known, watch.owed, watch.shallow]) each.delete(address);
}

/** Keeps a secret when it opens a hashlock that is watched. */
export function learn(watch: Watch, secret: string): void {
  const hashlock = hashlockOf(secret);
  if (watch.secrets.has(hashlock)) return;
  const escrows = watch.byHashlock.get(hashlock);
  if (escrows === undefined) return;
  watch.secrets.set(hashlock, secret);
  for (const address of escrows) watch.owed.add(address);
}

const secretBytes = 32;

/** The preimage of one of these hashlocks, at any place of some bytes. */
export function secretIn(bytes: Uint8Array, hashlocks: ReadonlySet<string>): string | null {
  for (let at = 0; at + secretBytes <= bytes.length; at++) {
    const part = bytes.subarray(at, at + secretBytes);
    if (hashlocks.has(hash('sha256', part, 'hex'))) return bytesToHex(part);
  }
  return null;
}

/**
 * Learns every secret of watched escrows that a transaction shows: whoever claims through another
 * program, in another form or in vain has shown it all the same.
 */
export function learnFrom(
  watch: Watch,
  touched: ReadonlySet<string>,
  parts: readonly Uint8Array[],
): void {
  const open = new Set<string>();
  for (const address of touched) {
    const hashlock = watch.known.get(address)?.watched.terms.hashlock;
    if (hashlock !== undefined && !watch.secrets.has(hashlock)) open.add(hashlock);
  }
  if (open.size === 0) return;
  for (const bytes of parts) {
    const secret = secretIn(bytes, open);
    if (secret !== null) learn(watch, secret);
  }
}

/** Reads a transaction of the chain: marks, secrets. Returns the watched escrows that it names. */
export function take(watch: Watch, transaction: Transaction): ReadonlySet<string> {
  const { keys, read, inner, txid, slot, failed } = transaction;
  const touched = new Set(keys.filter((key) => watch.known.has(key)));
  if (touched.size === 0) return touched;
  learnFrom(watch, touched, [read.message, ...inner.map(({ data }) => data)]);
  for (const address of touched) watch.known.get(address)?.taken.add(txid);
  if (failed) return touched;
  const called = [
    ...read.instructions.map(({ program, accounts, data }) => ({
      program,
      accounts: accounts.map((at) => keys[at] ?? null),
      data,
    })),
    ...inner,
  ];
  for (const { program, accounts, data } of called) {
    if (program !== watch.deployment.program) continue;
    const found = decodeInstruction(data, accounts);
    const known = found === null ? undefined : watch.known.get(found.escrow);
    if (found === null || known === undefined) continue;
    // A refund after a claim only sends home what the claim left.
    if (found.verb === 'refund' && known.marks.has('claim')) continue;
    if (!known.marks.has(found.verb)) known.marks.set(found.verb, { verb: found.verb, txid, slot });
  }
  return touched;
}

/** What a transaction that is not on chain yet would do, as far as its own bytes say. */
export function touchesIn(watch: Watch, read: ReadMessage, keys: readonly string[]) {
  return read.instructions.flatMap(({ program, accounts, data }) => {
    if (program !== watch.deployment.program) return [];
    const found = decodeInstruction(
      data,
      accounts.map((at) => keys[at] ?? null),
    );
    return found !== null && watch.known.has(found.escrow) ? [found] : [];
  });
}
