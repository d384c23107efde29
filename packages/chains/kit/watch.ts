// The memory of an adapter: whom it watches, and their secrets. The chain gives all of it again.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { hashlockOf, type Secret } from '@parley/core/hashlock.ts';
import { bytesOfHex, sha256Hex } from '#bytes';
import type { WatchedEscrow } from '../interface/reading.ts';

export type Logger = (event: string, facts: Readonly<Record<string, unknown>>) => void;

type Kept = { readonly watched: WatchedEscrow };

/** `Known`: a watched escrow, and what its family has seen of it. */
export type Watching<Known extends Kept = Kept> = {
  readonly chain: string;
  readonly log: Logger;
  readonly known: Map<string, Known>;
  readonly byHashlock: Map<string, Set<string>>;
  /** The hashlocks of `known`, where they are looked for in calldata. */
  readonly names?: Names;
  /** Secrets by hashlock, as long as an escrow of it is watched. */
  readonly secrets: Map<string, string>;
  readonly owed: Set<string>;
  /** Escrows with something above their depth, and the block of it. */
  readonly shallow: Map<string, number>;
  /** Ends all that goes on beside calls. */
  readonly closed: AbortController;
  /** Complaints made once. */
  readonly said: Set<string>;
};

export function newWatching<Known extends Kept>(
  chain: string,
  log: Logger = () => {},
): Watching<Known> {
  return {
    chain,
    log,
    known: new Map(),
    byHashlock: new Map(),
    secrets: new Map(),
    owed: new Set(),
    shallow: new Map(),
    closed: new AbortController(),
    said: new Set(),
  };
}

/** `begin` makes what is kept of an escrow from now on. */
export function remember<Known extends Kept>(
  watching: Pick<Watching<Known>, 'known' | 'byHashlock' | 'names'>,
  watched: WatchedEscrow,
  begin: () => Known,
): Known {
  const { known, byHashlock, names } = watching;
  const { address, terms } = watched;
  const before = known.get(address);
  if (before !== undefined) return before;
  const begun = begin();
  known.set(address, begun);
  const same = byHashlock.get(terms.hashlock) ?? new Set();
  if (same.size === 0 && names !== undefined) addName(names, terms.hashlock);
  byHashlock.set(terms.hashlock, same.add(address));
  return begun;
}

export function forget<Known extends Kept>(watching: Watching<Known>, address: string): void {
  const { known, byHashlock, names, secrets, owed, shallow } = watching;
  const before = known.get(address);
  if (before === undefined) return;
  const { hashlock } = before.watched.terms;
  const same = byHashlock.get(hashlock);
  same?.delete(address);
  if (same?.size === 0) {
    byHashlock.delete(hashlock);
    secrets.delete(hashlock);
    if (names !== undefined) removeName(names, hashlock);
  }
  for (const each of [known, owed, shallow]) each.delete(address);
}

/** Keeps a secret when it opens a hashlock that is watched. Returns the escrows it concerns. */
export function learn(
  watching: {
    readonly byHashlock: ReadonlyMap<string, ReadonlySet<string>>;
    readonly secrets: Map<string, string>;
    readonly owed: Set<string>;
  },
  secret: Secret,
): ReadonlySet<string> {
  const { byHashlock, secrets, owed } = watching;
  const hashlock = hashlockOf(secret);
  const escrows = byHashlock.get(hashlock);
  if (escrows === undefined) return new Set();
  if (!secrets.has(hashlock)) for (const address of escrows) owed.add(address);
  secrets.set(hashlock, secret);
  return escrows;
}

/** How far into calldata names and secrets are looked for. */
export const mostSearchedBytes = 16_384;

/** Addresses and hashlocks in hex, and how many of them have each print. */
export type Names = { readonly all: Set<string>; readonly prints: Map<number, number> };

export function newNames(): Names {
  return { all: new Set(), prints: new Map() };
}

const wordBytes = 32;
const addressBytes = 20;

/** A rolling polynomial of a secret base: an attacker cannot make two prints alike on purpose. */
const base = 1 | (new DataView(randomBytes(4).buffer).getUint32(0) >>> 1);

function power(exponent: number): number {
  return Array.from({ length: exponent }).reduce<number>((all) => Math.imul(all, base), 1);
}

function printOf(bytes: Uint8Array): number {
  return bytes.reduce((print, byte) => (Math.imul(print, base) + byte + 1) | 0, 0);
}

/** Hex without `0x`, in lower case. */
function plain(name: string): string {
  return (name.startsWith('0x') ? name.slice(2) : name).toLowerCase();
}

export function addName({ all, prints }: Names, name: string): void {
  const hex = plain(name);
  if (all.has(hex)) return;
  all.add(hex);
  const print = printOf(bytesOfHex(hex));
  prints.set(print, (prints.get(print) ?? 0) + 1);
}

export function removeName({ all, prints }: Names, name: string): void {
  const hex = plain(name);
  if (!all.delete(hex)) return;
  const print = printOf(bytesOfHex(hex));
  const left = (prints.get(print) ?? 0) - 1;
  if (left > 0) prints.set(print, left);
  else prints.delete(print);
}

const powers = { [addressBytes]: power(addressBytes), [wordBytes]: power(wordBytes) } as const;

/** Whether a name of this length stands anywhere in these bytes. */
function namesAny(
  { all, prints }: Names,
  bytes: Uint8Array,
  length: typeof addressBytes | typeof wordBytes,
): boolean {
  const first = powers[length];
  let print = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    print = (Math.imul(print, base) + (bytes[at] ?? 0) + 1) | 0;
    if (at >= length) print = (print - Math.imul(first, (bytes[at - length] ?? 0) + 1)) | 0;
    if (at + 1 < length || !prints.has(print)) continue;
    if (all.has(bytesToHex(bytes.subarray(at + 1 - length, at + 1)))) return true;
  }
  return false;
}

type Searching = {
  readonly names: Names;
  readonly byHashlock: ReadonlyMap<string, unknown>;
  readonly secrets: ReadonlyMap<string, string>;
};

/** `direct`: sent to an escrow. Else the calldata must name a watched escrow or hashlock. */
export function secretsIn(
  { names, byHashlock, secrets }: Searching,
  input: string,
  direct: boolean,
): string[] {
  const bytes = bytesOfHex(input.slice(2, 2 + 2 * mostSearchedBytes));
  if (bytes.length < wordBytes) return [];
  const named = direct || namesAny(names, bytes, addressBytes) || namesAny(names, bytes, wordBytes);
  if (!named) return [];
  const found: string[] = [];
  for (let at = 0; at + wordBytes <= bytes.length; at += 1) {
    const hashlock = sha256Hex(bytes.subarray(at, at + wordBytes));
    if (!byHashlock.has(hashlock) || secrets.has(hashlock)) continue;
    found.push(bytesToHex(bytes.subarray(at, at + wordBytes)));
  }
  return found;
}
