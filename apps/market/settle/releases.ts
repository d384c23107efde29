// A side that will not go on says so, and releases the leg that would pay it. The wish alone ends
// all funding. The signature is checked and kept for the funder, who refunds with it.

import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError, type RefusalCode } from '@parley/core/errors.ts';
import { mustReceive, releaseGate, wishGate } from '@parley/core/gates.ts';
import type { SwapState } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { storeRelease } from '../db/legs.ts';
import { insertOutbox } from '../db/outbox.ts';
import { lockSwap, type Swap, swapById, touchSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { legNamed, swapOfCaller } from './access.ts';
import { type BuildRequest, lifeOf } from './builders.ts';
import { currentEscrow } from './escrows.ts';
import { type Live, readBothLegs, sourcesAgree } from './live.ts';
import { adapterOf } from './preview.ts';

type ReleaseRequest = Omit<BuildRequest, 'feeRateSatPerVbyte'> & {
  /** null: the wish alone, and what is to be signed. */
  readonly signature: string | null;
};

type Prepared = {
  readonly name: LegName;
  readonly escrow: string | null;
  readonly signature: string | null;
  readonly live: Live;
  /** null: signed already, or the leg may not be released now. */
  readonly material: (ReleaseMaterial & { readonly validUntil: number }) | null;
};

/** A wish is taken all the same, and nothing is given to sign. */
const refusals: readonly RefusalCode[] = ['not_releasable', 'sources_disagree'];

/** Reads both chains, and checks what is given. Throws `not_releasable` where nobody gains. */
export async function prepareRelease(deps: Deps, request: ReleaseRequest): Promise<Prepared> {
  const { signal, signature } = request;
  const { swap, party } = await swapOfCaller(deps.db, request.swapId, request.accountId);
  const { leg: name, chain } = legNamed(swap, request.leg);
  mustReceive(swap.state.legs[name], party);
  const live = await readBothLegs(deps, swap, signal);
  const { state, clocks } = live;
  wishGate(state, name, clocks);
  const escrow = currentEscrow(swap, name);
  const wish = { name, escrow: escrow?.address ?? null, signature, live, material: null };
  const { consent } = adapterOf(deps, chain);
  try {
    releaseGate(state, name, clocks);
    // The own leg is back by what these chains show.
    if (state.legs[name].long) await sourcesAgree(deps, swap, signal);
  } catch (error) {
    const isRefusal = error instanceof ParleyError && refusals.includes(error.code);
    if (signature !== null || !isRefusal) throw error;
    return wish;
  }
  if (escrow === null || (consent === undefined && signature === null)) return wish;
  if (consent === undefined) throw signsTogether(name, chain);
  if (signature !== null) {
    if (consent.checkRelease === undefined) throw sendsItself(name, chain);
    await within(signal, chain, consent.checkRelease(escrow.terms, signature, signal));
    return wish;
  }
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const built = within(signal, chain, consent.buildRelease(input, signal));
  const material = await built.catch((error: unknown) => {
    if (error instanceof ParleyError && error.code === 'nothing_there') return null;
    throw error;
  });
  if (material === null) return wish;
  const { timelock } = state.legs[name];
  const validUntil = Math.min(timelock, lifeOf(material, clocks.wall));
  return { ...wish, material: { ...material, validUntil } };
}

function sendsItself(leg: LegName, chain: string): ParleyError {
  const sentence =
    `on ${chain} a release is a transaction, and no signature of its own: ask without one, then ` +
    'sign the transaction of the answer and send it';
  return new ParleyError('not_releasable', sentence, { leg });
}

function signsTogether(leg: LegName, chain: string): ParleyError {
  const sentence = `on ${chain} both sides sign the refund: answer the request of POST …/cosign`;
  return new ParleyError('not_releasable', sentence, { leg });
}

/** Stores it, and tells both sides of what is new. Neither is taken back. */
export async function keepRelease(
  tx: Tx,
  deps: Deps,
  swapId: string,
  { name, escrow, signature, live }: Prepared,
): Promise<Swap> {
  const nowMs = deps.now();
  const swap = (await lockSwap(tx, swapId)) as Swap;
  const leg = swap.state.legs[name];
  if (leg.escrow !== escrow) {
    const sentence = `leg ${name} has moved to ${leg.escrow}, away from ${escrow}: ask again`;
    throw new ParleyError('escrow_moved', sentence, { leg: name, was: escrow, is: leg.escrow });
  }
  // A funding or claim that was handed out meanwhile is known by now.
  const state = stateNow(swap, live);
  if (signature === null) wishGate(state, name, live.clocks);
  else releaseGate(state, name, live.clocks);
  const at = Math.floor(nowMs / 1_000);
  const { release } = leg;
  const isNews = release === null || (signature !== null && release.at === null);
  if (!isNews) return swap;
  await storeRelease(tx, { swapId, leg: name, at, isGiven: signature !== null, signature });
  await touchSwap(tx, swapId, new Date(nowMs));
  await insertOutbox(
    tx,
    [swap.makerId, swap.takerId].map((accountId) => ({
      topic: 'swap.release' as const,
      accountId,
      payload: { swapId, status: swap.status, leg: name, given: signature !== null },
      at: new Date(nowMs),
    })),
  );
  return (await swapById(tx, swapId)) as Swap;
}

/** The stored state, with the facts that were read. */
export function stateNow({ state }: Swap, { state: read }: Live): SwapState {
  const of = (name: LegName) => {
    const { facts, strayed } = read.legs[name];
    return { ...state.legs[name], facts, strayed };
  };
  return { ...state, secret: state.secret ?? read.secret, legs: { a: of('a'), b: of('b') } };
}
