// One swap brought in line with what its chains show. Takes no news, only the swap's id: it reads
// the escrows, computes the status, and stores it with its events in one transaction. Running it
// again, or twice at once, changes nothing more.

import { isDeepStrictEqual } from 'node:util';
import { within } from '@parley/chains/nodes/time-limit.ts';
import type { EscrowFacts, Sighting } from '@parley/core/facts.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { isTaproot } from '@parley/core/release.ts';
import type { SwapStatus } from '@parley/core/status.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import {
  type EscrowRow,
  escrowsOfSwap,
  factsOf,
  type StoredFacts,
  storedFacts,
  updateEscrow,
} from '../db/escrows.ts';
import { insertOutbox } from '../db/outbox.ts';
import { wakeClaims } from '../db/scheduled-spends.ts';
import { lockSwap, type Swap, swapById, updateSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { workOf } from '../ports/work.ts';
import { escrowOfRow } from './escrows.ts';
import { changeBetween, type SwapEvent, type Told } from './events.ts';
import { type Outcome, outcome } from './outcome.ts';
import { adapterOf } from './preview.ts';

/** How often facts may go stale under one reconcile before it is left to a later pass. */
const attempts = 5;

/** After how long a swap that could not be reconciled is tried again. */
export const retrySeconds = 30;

/**
 * Claims of a Taproot leg that were left here wait so long once the secret is public: its payee, if
 * it is there, claims for less with the other side (20 s in the SDK).
 */
export const togetherSeconds = 30;
/** They do so only while that much is left to the timelock. */
const unhurriedSeconds = 7_200;

type Reconciled = {
  readonly status: SwapStatus;
  readonly changed: boolean;
  readonly events: readonly SwapEvent[];
};

type ReconcileScope = {
  /** The chains whose escrows to read; the others' facts are those last stored. */
  readonly chains: readonly ChainKey[] | 'all';
  readonly signal: AbortSignal;
  /** A secret that opens the hashlock and is known to be public, whatever a chain shows. */
  readonly brought?: Secret;
};

function claimsWaitMs({ state: { legs } }: Swap, wall: number): number {
  const mayWait = [legs.a, legs.b].some(
    (leg) => isTaproot(leg) && leg.timelock - wall > unhurriedSeconds,
  );
  return mayWait ? togetherSeconds * 1_000 : 0;
}

/** Null when there is no such swap. Throws what an adapter throws, with nothing stored. */
export async function reconcile(
  deps: Deps,
  swapId: string,
  scope: ReconcileScope,
): Promise<(Reconciled & { readonly done: boolean }) | null> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const swap = await swapById(deps.db, swapId);
    if (swap === null) return null;
    const rows = await escrowsOfSwap(deps.db, swapId);
    const facts = await readEscrows(deps, swap, rows, scope);
    const read = { facts, brought: scope.brought ?? null };
    const stored = await deps.db.transaction(async (tx) => {
      const locked = await lockSwap(tx, swapId);
      // Facts read before somebody else's change may be older than what that change stored.
      if (locked === null || locked.revision !== swap.revision) return null;
      return store(tx, deps, locked, await escrowsOfSwap(tx, swapId), read);
    });
    if (stored !== null) {
      if (stored.changed) workOf(deps.db).ring('swaps');
      if (stored.done) forget(deps, rows);
      return stored;
    }
  }
  throw new Error(`swap ${swapId} kept changing while it was reconciled`);
}

type Read = {
  readonly facts: ReadonlyMap<string, EscrowFacts>;
  readonly brought: Secret | null;
};

function keyOf(row: { chain: ChainKey; address: string }): string {
  return `${row.chain} ${row.address}`;
}

async function readEscrows(
  deps: Deps,
  swap: Swap,
  rows: readonly EscrowRow[],
  { chains, signal }: ReconcileScope,
): Promise<Read['facts']> {
  const wanted = rows.filter((row) => chains === 'all' || chains.includes(row.chain));
  const looks = [...Map.groupBy(wanted, ({ chain }) => chain)].map(async ([chain, own]) => {
    const escrows = own.map((row) => escrowOfRow(swap, row));
    const looking = adapterOf(deps, chain).look(escrows, signal);
    const { facts } = await within(signal, chain, looking);
    return own.map((row, at) => [keyOf(row), facts[at] as EscrowFacts] as const);
  });
  return new Map((await Promise.all(looks)).flat());
}

async function store(
  tx: Tx,
  deps: Deps,
  swap: Swap,
  rows: readonly EscrowRow[],
  { facts: read, brought }: Read,
): Promise<Reconciled & { done: boolean }> {
  const nowMs = deps.now();
  const escrows = rows.map((row) => ({
    row,
    leg: row.leg,
    address: row.address,
    facts: read.get(keyOf(row)) ?? factsOf(row.facts),
  }));
  const full = rows.every((row) => read.has(keyOf(row)));
  const wall = Math.floor(nowMs / 1000);
  const known = { ...swap.state, secret: swap.state.secret ?? brought };
  const shown = outcome(known, { escrows, full, wall, wasDone: swap.done });
  const after = full ? shown : { ...shown, dueAt: soonerRetry(swap.dueAt, shown.dueAt, wall) };
  const before = { state: swap.state, status: swap.status, told: toldOf(swap, rows) };
  const { events, told } = changeBetween(before, after);
  const isTold = (row: EscrowRow) =>
    isCurrent(swap, row) &&
    (row.leg === swap.long ? told.initiatorFunded : told.counterpartyFunded);
  const moved = escrows.filter(
    ({ row, facts }) =>
      !same(row, facts) ||
      row.done !== after.done ||
      (row.facts.fundingTold ?? false) !== isTold(row),
  );
  const changed = moved.length > 0 || differs(swap, after);
  if (!changed) return { status: swap.status, changed, events: [], done: after.done };
  const at = new Date(nowMs);
  const { follower = null } = deps;
  for (const { row, facts } of moved) {
    const { chain, address } = row;
    const fundingTold = isTold(row);
    const { done } = after;
    await updateEscrow(tx, { chain, address, facts, fundingTold, done, follower, at });
  }
  const { status, dueAt, done } = after;
  const { secret, lapsed } = after.state;
  const isShown =
    differsForItsParties(swap, after) || moved.some(({ row, facts }) => !looksSame(row, facts));
  const updatedAt = isShown ? at : null;
  await updateSwap(tx, { id: swap.id, status, secret, lapsed, dueAt, done, at: updatedAt });
  if (swap.state.secret === null && secret !== null) {
    await wakeClaims(tx, swap.id, new Date(nowMs + claimsWaitMs(swap, wall)));
  }
  await insertOutbox(
    tx,
    events.flatMap(({ topic, status: told }) =>
      [swap.makerId, swap.takerId].map((accountId) => ({
        topic,
        accountId,
        payload: { swapId: swap.id, status: told },
        at,
      })),
    ),
  );
  if (status !== swap.status) {
    deps.metrics.swapChanges.inc({ status });
    if (status === 'half_settled') deps.log.error({ swapId: swap.id }, 'a swap is half settled');
  }
  if (events.some((each) => each.topic === 'swap.reorged')) {
    deps.metrics.reorganisations.inc();
    deps.log.warn({ swapId: swap.id, from: swap.status, status }, 'a reorganisation was followed');
  }
  return { status, changed, events, done };
}

/**
 * A poll of one chain says nothing of another that failed: when that is to be tried again stands,
 * or what it would have shown were never read.
 */
function soonerRetry(stored: number | null, fresh: number | null, wall: number): number | null {
  if (stored === null || stored > wall + retrySeconds) return fresh;
  return fresh === null ? stored : Math.min(stored, fresh);
}

function isCurrent({ state }: Swap, row: EscrowRow): boolean {
  return state.legs[row.leg].escrow === row.address;
}

/** The fundings that were told before, and are not shown by what is stored. */
export function toldOf(swap: Swap, rows: readonly EscrowRow[]): Told {
  const told = rows.filter((row) => row.facts.fundingTold && isCurrent(swap, row));
  return {
    initiatorFunded: told.some(({ leg }) => leg === swap.long),
    counterpartyFunded: told.some(({ leg }) => leg !== swap.long),
  };
}

function same(row: EscrowRow, facts: EscrowFacts): boolean {
  const { fundingTold: _, ...stored } = row.facts;
  return isDeepStrictEqual(stored, storedFacts(facts));
}

function differs(swap: Swap, after: Outcome): boolean {
  return (
    differsForItsParties(swap, after) || swap.dueAt !== after.dueAt || swap.done !== after.done
  );
}

function differsForItsParties(swap: Swap, after: Outcome): boolean {
  return (
    swap.status !== after.status ||
    swap.state.secret !== after.state.secret ||
    swap.state.lapsed !== after.state.lapsed
  );
}

/**
 * To its parties: more confirmations of what is final are no news; a swap that ended has them. Nor
 * is how much a claim left, which any stranger can add to.
 */
function looksSame(row: EscrowRow, facts: EscrowFacts): boolean {
  const seen = (each: Sighting | null) =>
    each === null ? '' : `${each.txid} ${each.deep || each.confirmations}`;
  const looks = ({ funded, claimed, refunded, balance, outcome, rentLeft }: StoredFacts) =>
    [funded, claimed, refunded]
      .map(seen)
      .concat(balance, outcome ?? '', rentLeft === undefined ? '' : 'left')
      .join();
  return looks(storedFacts(facts)) === looks(row.facts);
}

function forget(deps: Deps, rows: readonly EscrowRow[]): void {
  for (const row of rows) deps.adapters.get(row.chain)?.unwatch([row.address]);
}

/**
 * The swap with its secret public, where somebody brings it for the long leg; else as it was. The
 * initiator is never paid there: a party that can claim it read the secret elsewhere. It counts as
 * seen, so no gate of ours is left and the short chain is not asked. `secret` opens its hashlock.
 * The initiator hears of it now, while it can still claim the short leg.
 */
export async function withBrought(
  deps: Deps,
  swap: Swap,
  { name, secret }: { readonly name: LegName; readonly secret: Secret },
  signal: AbortSignal,
): Promise<Swap> {
  if (swap.state.secret !== null || !swap.state.legs[name].long) return swap;
  try {
    await reconcile(deps, swap.id, { chains: [], brought: secret, signal });
  } catch (error) {
    // The claim does not wait for it: the follower stores the secret when the chain shows it.
    deps.log.warn({ swapId: swap.id, err: error }, 'a secret that was brought is not stored yet');
  }
  return { ...swap, state: { ...swap.state, secret } };
}
