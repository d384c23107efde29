// Which escrows of a chain a process has not taken up yet: all of them after a restart, later the
// new ones; and which it lets go again, as their swap has ended. Two readers in one process each
// keep a position of their own.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import {
  endedEscrows,
  escrowsToFollow,
  type FollowedFrom,
  type FollowedRow,
  termsOf,
} from '../db/escrows.ts';
import type { Deps } from '../ports/deps.ts';

/** Escrows read in one statement: about a megabyte. */
const escrowsAtOnce = 2_000;
/** Between two looks for swaps that another process brought to their end. */
const endedEveryMs = 10_000;

export type Position = {
  from: FollowedFrom;
  /** Where transactions may still have been open when this sweep of the escrows began. */
  horizon: string | null;
  /** Escrows taken up from `horizon` on, with the transaction that announced each. */
  readonly recent: Map<string, string>;
};

export function fromTheStart(): Position {
  return { from: { xact: '0', address: '' }, horizon: null, recent: new Map() };
}

export type TakenUp = {
  readonly fresh: readonly FollowedRow[];
  /** More may be waiting. */
  readonly full: boolean;
};

/** Makes the adapter follow what is new, and moves the position. One caller at a time. */
export async function takeUp(
  deps: Pick<Deps, 'db' | 'log'>,
  adapter: ChainAdapter,
  position: Position,
): Promise<TakenUp> {
  const { recent } = position;
  const rows = await escrowsToFollow(deps.db, adapter.chain, position.from, escrowsAtOnce);
  const last = rows.at(-1);
  if (last === undefined) return { fresh: [], full: false };
  const fresh = rows.filter((row) => recent.get(row.address) !== row.createdXact);
  for (const row of fresh) {
    recent.set(row.address, row.createdXact);
    try {
      adapter.watch([watched(row)]);
    } catch (error) {
      // Terms of another network, say: one such row must not keep the others from being followed.
      deps.log.error({ escrow: row.address, err: error }, 'an escrow cannot be followed');
    }
  }
  const full = rows.length === escrowsAtOnce;
  position.horizon ??= last.horizon;
  position.from = { xact: last.createdXact, address: last.address };
  if (!full) endSweep(position);
  return { fresh, full };
}

/**
 * Transactions commit out of order: a transaction open when the sweep began may show its rows
 * later.
 */
function endSweep(position: Position): void {
  const { from, horizon, recent } = position;
  if (horizon !== null && BigInt(horizon) <= BigInt(from.xact)) {
    position.from = { xact: horizon, address: '' };
  }
  position.horizon = null;
  for (const [address, xact] of recent) {
    if (BigInt(xact) < BigInt(position.from.xact)) recent.delete(address);
  }
}

/**
 * Lets go what another process brought to its end: some of these swaps at a time, the next ones the
 * next time.
 */
export async function letGoEnded(
  { db }: Pick<Deps, 'db'>,
  adapter: ChainAdapter,
  swaps: Set<string>,
): Promise<void> {
  const some = [...swaps].slice(0, escrowsAtOnce);
  if (some.length === 0) return;
  const ended = await endedEscrows(db, adapter.chain, some);
  for (const id of some) {
    swaps.delete(id);
    swaps.add(id);
  }
  for (const { swapId } of ended) swaps.delete(swapId);
  adapter.unwatch(ended.map(({ address }) => address));
}

function watched(row: FollowedRow) {
  return {
    address: row.address,
    terms: termsOf(row.terms),
    requiredConfirmations: row.requiredConfirmations,
    since: row.agreedAt,
  };
}

/** Brings an adapter up to date before it is asked what a transaction touches. */
export type Freshness = (adapter: ChainAdapter, signal: AbortSignal) => Promise<void>;

type Known = {
  readonly position: Position;
  readonly swaps: Set<string>;
  lookedAt: number;
  running: Promise<unknown>;
};

export function createFreshness(deps: Pick<Deps, 'db' | 'log'>): Freshness {
  const all = new Map<string, Known>();
  const freshen = async (adapter: ChainAdapter, known: Known, signal: AbortSignal) => {
    for (;;) {
      const { fresh, full } = await takeUp(deps, adapter, known.position);
      for (const { swapId } of fresh) known.swaps.add(swapId);
      if (!full) break;
      signal.throwIfAborted();
    }
    if (performance.now() - known.lookedAt < endedEveryMs) return;
    known.lookedAt = performance.now();
    await letGoEnded(deps, adapter, known.swaps);
  };
  return (adapter, signal) => {
    const known = all.get(adapter.chain) ?? {
      position: fromTheStart(),
      swaps: new Set(),
      lookedAt: performance.now(),
      running: Promise.resolve(),
    };
    all.set(adapter.chain, known);
    const next = known.running.then(() => freshen(adapter, known, signal));
    known.running = next.catch(() => {});
    return next;
  };
}
