// What must not be: a follower of the rules at the end with neither its own funds nor what it was
// promised, and, where both follow them and nothing is faulty, a swap that did not settle.

import type { Role } from '../../core/trade.ts';
import { type EscrowState, Fund, Since, type Slot, Spend, type State } from './state.ts';
import { reactTicks } from './time.ts';
import { claimValid, type View } from './view.ts';
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
  return long.spend === Spend.claimDeep && short.spend === Spend.claimDeep;
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
  return state.escrows[promised].spend === Spend.claimDeep ? 1 : 0;
}

/** Where a payment is: with its funder, in the escrow, with the receiver, or back. */
function placeOf({ fund, spend }: EscrowState): 'funder' | 'escrow' | 'receiver' | 'back' {
  if (fund < Fund.shallow) return 'funder';
  if (spend === Spend.claimShallow || spend === Spend.claimDeep) return 'receiver';
  return spend === Spend.refundShallow || spend === Spend.refundDeep ? 'back' : 'escrow';
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
    if (was.fund === Fund.deep && is.fund !== Fund.deep) return false;
    const final = was.spend === Spend.claimDeep || was.spend === Spend.refundDeep;
    if (final && is.spend !== was.spend) return false;
    const [from, to] = [placeOf(was), placeOf(is)];
    const crossed = from !== to && from !== 'escrow' && to !== 'escrow';
    // A reorganisation may take a funding back together with what spent it.
    return !crossed || to === 'funder';
  });
}
