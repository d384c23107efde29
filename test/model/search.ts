// Every state that can be reached, breadth first, so that the first fault found is told by one of
// the shortest ways to it. A fault is what must not be: a follower of the rules at the end with
// neither its own funds nor what it was promised, and, where both follow them and nothing is
// faulty, a swap that did not settle.

import type { SwapStatus } from '../../core/status.ts';
import type { Role } from '../../core/trade.ts';
import { adversaryMoves, chainMoves, type Emit, honestMoves, refusedRefund } from './moves.ts';
import {
  copyOf,
  type EscrowState,
  Fund,
  pack,
  Since,
  type Slot,
  Spend,
  type State,
  startState,
  unpack,
} from './state.ts';
import { arm, reactTicks, timeMoves } from './time.ts';
import { claimValid, type View, viewOf } from './view.ts';
import type { World } from './world.ts';

export const loss = 'a follower of the rules paid and was not paid';
export const unsettled = 'both follow the rules, nothing is faulty, and the swap does not settle';

/** Faults of the model itself. */
export const notConserved = 'money is in two places, in none, or was deep and is gone';
export const stuck = 'nothing can happen any more';

/** Whether nothing is left to follow. */
export function isOver(world: World, state: State): boolean {
  return world.question !== 'loss' && settled(state);
}

function settled({ escrows: [long, short] }: State): boolean {
  return long.spend === Spend.claimFinal && short.spend === Spend.claimFinal;
}

/** The fault of a state that time does not go on from. */
export function judge(world: World, state: State, view: View): string | null {
  if (state.wall < world.horizon) return null;
  if (world.question === 'loss')
    return taken(world, state, view) > received(world, state) ? loss : null;
  return settled(state) || isExcused(world, state) ? null : unsettled;
}

/** A side that let its own last moment pass, after all the time it was promised. */
function isExcused(world: World, { stepLong, stepShort }: State): boolean {
  const late = Since.waits(reactTicks(world) + 1);
  return world.question === 'last' && (stepLong === late || stepShort === late);
}

/** Payments of the follower of the rules that it has not back, and that no step brings back. */
export function taken(world: World, state: State, view: View): number {
  const own: Slot[] = world.honest === 'initiator' ? [0, 2] : [1, 3];
  return own.filter((slot) => isTaken(world, state, view, slot)).length;
}

function isTaken(world: World, state: State, view: View, slot: Slot): boolean {
  const { fund, spend } = state.escrows[slot];
  if (fund < Fund.shallow || spend >= Spend.refundWaits) return false;
  const isFree =
    spend === Spend.none || (spend === Spend.claimWaits && !claimValid(world, state, slot));
  return !(isFree && mayRefund(world.honest, view, slot));
}

function mayRefund(honest: Role, view: View, slot: Slot): boolean {
  if (slot < 2) return view[honest].refund;
  return honest === 'initiator' ? view.oldRefund.long : view.oldRefund.short;
}

/** Promised payments that are the follower's for good. */
export function received(world: World, state: State): number {
  const promised: Slot = world.honest === 'initiator' ? 1 : 0;
  return state.escrows[promised].spend === Spend.claimFinal ? 1 : 0;
}

/** Where a payment is: with its funder, in the escrow, with the receiver, or back. */
function placeOf({ fund, spend }: EscrowState): 'funder' | 'escrow' | 'receiver' | 'back' {
  if (fund < Fund.shallow) return 'funder';
  if (spend === Spend.claimShallow || spend === Spend.claimFinal) return 'receiver';
  return spend === Spend.refundShallow || spend === Spend.refundFinal ? 'back' : 'escrow';
}

/**
 * Whether money went one step at most, and nothing that was deep is gone: neither the builders nor
 * the adversary make, double or lose any.
 */
export function isConserved(before: State, after: State): boolean {
  const moving = before.moved !== after.moved;
  return after.escrows.every((is, slot) => {
    const was = before.escrows[slot] as EscrowState;
    if (moving)
      return is.fund < Fund.shallow && was.fund < Fund.shallow ? true : is.fund === was.fund;
    if (was.fund === Fund.final && is.fund !== Fund.final) return false;
    const final = was.spend === Spend.claimFinal || was.spend === Spend.refundFinal;
    if (final && is.spend !== was.spend) return false;
    const from = placeOf(was);
    const to = placeOf(is);
    const crossed = from !== to && from !== 'escrow' && to !== 'escrow';
    // A reorganisation may take a funding back together with what spent it.
    return !crossed || to === 'funder';
  });
}

export type Found = {
  readonly states: number;
  readonly transitions: number;
  readonly statuses: ReadonlySet<SwapStatus>;
  readonly fault: { readonly what: string; readonly path: readonly Move[] } | null;
};

export type Move = {
  readonly what: string;
  readonly slot: Slot | null;
  readonly state: State;
};

/** All that may happen next. The record that the market keeps is of this state, not the last. */
function successors(world: World, state: State, view: View, emit: Emit): void {
  const now = copyOf(state);
  now.recorded = view.recorded;
  now.lapsed = view.lapsed;
  honestMoves(world, now, view, emit);
  chainMoves(world, now, emit);
  if (world.question === 'loss') adversaryMoves(world, now, emit);
  timeMoves(world, now, view, emit);
}

export function search(world: World): Found {
  const first = startState();
  arm(world, first);
  const keys = [pack(first)];
  const parents = [-1];
  const seen = new Set(keys);
  let transitions = 0;
  const statuses = new Set<SwapStatus>();
  for (let at = 0; at < keys.length; at += 1) {
    const state = unpack(keys[at] as number);
    const view = viewOf(world, state);
    let ways = 0;
    statuses.add(view.status);
    let fault = judge(world, state, view);
    successors(world, state, view, (name, _slot, next) => {
      transitions += 1;
      ways += 1;
      if (name === refusedRefund) fault ??= refusedRefund;
      if (!isConserved(state, next)) fault ??= notConserved;
      const key = pack(next);
      if (seen.has(key)) return;
      seen.add(key);
      keys.push(key);
      parents.push(at);
    });
    if (ways === 0 && state.wall < world.horizon && !isOver(world, state)) fault ??= stuck;
    if (fault === null) continue;
    const found = { what: fault, path: pathTo(at) };
    return { states: keys.length, transitions, statuses, fault: found };
  }
  return { states: keys.length, transitions, statuses, fault: null };

  function pathTo(last: number): Move[] {
    const chain: number[] = [];
    for (let at = last; at >= 0; at = parents[at] as number) chain.unshift(keys[at] as number);
    return chain.slice(1).map((key, index): Move => {
      const from = unpack(chain[index] as number);
      let found: Move | null = null;
      successors(world, from, viewOf(world, from), (what, slot, state) => {
        if (found === null && pack(state) === key) found = { what, slot, state };
      });
      if (found === null) throw new Error('a way that was found is not there again');
      return found;
    });
  }
}
