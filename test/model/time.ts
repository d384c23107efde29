// How time goes on: clocks drift within their policy, the short leg's trails after a standstill,
// and no tick passes over what had to happen before it. A follower of the rules acts within
// `detect`, `react` and `sign`; what it sent is deep within `settle` and `outage`, if the chain can
// still take it. What the adversary does between two ticks is counted from the later one.

import { lateClaim } from '../../core/deadlines.ts';
import type { Emit } from './moves.ts';
import { canClaim } from './moves.ts';
import { copyOf, Fund, Since, type Slot, Spend, type State } from './state.ts';
import { claimValid, type View, viewOf } from './view.ts';
import type { World } from './world.ts';

export function timeMoves(world: World, state: State, view: View, emit: Emit): void {
  if (state.wall >= world.horizon) return;
  const held = world.question === 'loss' ? holdsLoss : holdsLiveness;
  if (held(world, state, view)) return;
  for (const aheadLong of offsets(world, 'long')) {
    for (const aheadShort of offsets(world, 'short')) {
      const next = passed(world, state, view, { aheadLong, aheadShort });
      emit('a tick', null, next);
    }
  }
}

function offsets(world: World, leg: 'short' | 'long'): number[] {
  if (world.question === 'last') return [0];
  const policy = world.policies[leg];
  const { lateClaimSeconds, driftSeconds: drift } = policy;
  // A short leg's chain that stood still is behind by that much more; a long one's, which only makes
  // the refund come later, is left out for its time. Where nothing is faulty none stands still.
  const trails = world.question === 'loss' && leg === 'short';
  const late = trails ? lateClaim({ policy, depth: policy.normal }) : lateClaimSeconds;
  return Array.from({ length: late + drift + 1 }, (_, index) => index - late);
}

/** Ticks from sending to depth. */
function settling(world: World, leg: 'short' | 'long'): number {
  const { settleSeconds, outageSeconds } = world.policies[leg].normal;
  return settleSeconds + (world.question === 'loss' ? outageSeconds : 0);
}

export function reactTicks(world: World): number {
  return world.policies.long.reactSeconds;
}

/** Whether a claim sent `since` has to be deep before the next tick, and still can be. */
function mustBeFinal(
  world: World,
  state: State,
  slot: Slot,
  since: number,
  offered: boolean,
): boolean {
  if (!Since.isSent(since)) return false;
  if (Since.ticks(since) + 1 < settling(world, slot === 0 ? 'long' : 'short')) return false;
  const { spend } = state.escrows[slot];
  if (spend === Spend.claimShallow) return true;
  const waits = spend === Spend.claimWaits && claimValid(world, state, slot);
  return waits || (offered && canClaim(world, state, slot));
}

/** Whether the counterparty must not wait any longer with its claim. */
function mustClaimLong(world: World, state: State, view: View): boolean {
  const limit = world.policies.long.detectSeconds + reactTicks(world);
  const { claimLong } = state;
  return (
    Since.isWaiting(claimLong) &&
    Since.ticks(claimLong) >= limit &&
    view.counterparty.claim &&
    canClaim(world, state, 0)
  );
}

function holdsLoss(world: World, state: State, view: View): boolean {
  const { claimShort } = state;
  const { signSeconds } = world.policies.short;
  if (Since.isWaiting(claimShort) && Since.ticks(claimShort) >= signSeconds) return true;
  return (
    mustClaimLong(world, state, view) ||
    mustBeFinal(world, state, 1, claimShort, view.initiator.claim) ||
    mustBeFinal(world, state, 0, state.claimLong, view.counterparty.claim)
  );
}

function holdsLiveness(world: World, state: State, view: View): boolean {
  const limit = world.question === 'prompt' ? reactTicks(world) : Number.POSITIVE_INFINITY;
  const step = (since: number, open: boolean, leg: 'short' | 'long') => {
    if (Since.isSent(since)) return Since.ticks(since) + 1 >= settling(world, leg);
    return Since.isWaiting(since) && Since.ticks(since) >= limit && open;
  };
  return (
    step(state.stepLong, stepOfInitiator(view), 'long') ||
    step(state.stepShort, view.counterparty.fund, 'short') ||
    mustClaimLong(world, state, view) ||
    mustBeFinal(world, state, 1, state.claimShort, true) ||
    mustBeFinal(world, state, 0, state.claimLong, true)
  );
}

function stepOfInitiator(view: View): boolean {
  return view.initiator.fund || view.initiator.claim;
}

type Ahead = { readonly aheadLong: number; readonly aheadShort: number };

function passed(world: World, state: State, view: View, ahead: Ahead): State {
  const next = { ...copyOf(state), ...ahead, wall: state.wall + 1 };
  const late = reactTicks(world) + 1;
  const limit = world.policies.long.detectSeconds + reactTicks(world);
  const older = (since: number, counts: boolean, most: number) =>
    since !== Since.nothing && counts && Since.ticks(since) < most ? since + 1 : since;
  const sinks = (leg: 'short' | 'long') => settling(world, leg) - 1;
  const isSent = Since.isSent;
  const mostShort = isSent(state.claimShort) ? sinks('short') : world.policies.short.signSeconds;
  next.claimShort = older(state.claimShort, true, mostShort);
  const mostLong = isSent(state.claimLong) ? sinks('long') : limit;
  next.claimLong = older(
    state.claimLong,
    isSent(state.claimLong) || view.counterparty.claim,
    mostLong,
  );
  if (world.question === 'loss') {
    next.stepLong = Since.nothing;
    next.stepShort = Since.nothing;
    // Whoever has nothing to claim with has nothing to be late with.
    if (world.honest === 'initiator' || next.leaked === 0) return next;
  } else {
    const funded = (slot: 0 | 1) => state.escrows[slot].fund >= Fund.sent;
    const mostOf = (since: number, leg: 'short' | 'long') => (isSent(since) ? sinks(leg) : late);
    const initiates = isSent(state.stepLong) || stepOfInitiator(view);
    next.stepLong = older(state.stepLong, initiates, mostOf(state.stepLong, 'long'));
    const answers = isSent(state.stepShort) || (view.counterparty.fund && !funded(1));
    next.stepShort = older(state.stepShort, answers, mostOf(state.stepShort, 'short'));
  }
  arm(world, next);
  return next;
}

/** From here on the time counts of whatever is open at the tick's arrival. */
export function arm(world: World, state: State): void {
  const view = viewOf(world, state);
  if (state.claimLong === Since.nothing && view.counterparty.claim) {
    state.claimLong = Since.waits(0);
  }
  if (world.question === 'loss') return;
  if (state.stepLong === Since.nothing && stepOfInitiator(view)) state.stepLong = Since.waits(0);
  if (state.stepShort === Since.nothing && view.counterparty.fund) {
    state.stepShort = Since.waits(0);
  }
}
