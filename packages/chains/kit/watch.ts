// The memory of an adapter: whom it watches, and their secrets. The chain gives all of it again.

import { hashlockOf, type Secret } from '@parley/core/hashlock.ts';
import type { WatchedEscrow } from '../interface/reading.ts';

export type Logger = (event: string, facts: Readonly<Record<string, unknown>>) => void;

type Kept = { readonly watched: WatchedEscrow };

/** `Known`: a watched escrow, and what its family has seen of it. */
export type Watching<Known extends Kept = Kept> = {
  readonly chain: string;
  readonly log: Logger;
  readonly known: Map<string, Known>;
  readonly byHashlock: Map<string, Set<string>>;
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
  watching: Pick<Watching<Known>, 'known' | 'byHashlock'>,
  watched: WatchedEscrow,
  begin: () => Known,
): Known {
  const { known, byHashlock } = watching;
  const { address, terms } = watched;
  const before = known.get(address);
  if (before !== undefined) return before;
  const begun = begin();
  known.set(address, begun);
  const same = byHashlock.get(terms.hashlock) ?? new Set();
  byHashlock.set(terms.hashlock, same.add(address));
  return begun;
}

export function forget<Known extends Kept>(watching: Watching<Known>, address: string): void {
  const { known, byHashlock, secrets, owed, shallow } = watching;
  const before = known.get(address);
  if (before === undefined) return;
  const { hashlock } = before.watched.terms;
  const same = byHashlock.get(hashlock);
  same?.delete(address);
  if (same?.size === 0) {
    byHashlock.delete(hashlock);
    secrets.delete(hashlock);
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
