// What a follower of the rules does: only what `next[]` offers and the gate lets pass, whenever it
// likes within its time. time.ts says when that is over.

import type { Role } from '../../core/trade.ts';
import { type Emit, withFund, withSpend } from './chain-moves.ts';
import { copyOf, Fund, Since, type Slot, Spend, type State } from './state.ts';
import { claimValid, refundValid, type View } from './view.ts';
import type { World } from './world.ts';

/** What was offered and the chain refuses: said in the story, and a fault by itself. */
export const refusedRefund = 'a refund is offered and sent that the chain refuses';

export function honestMoves(world: World, state: State, view: View, emit: Emit): void {
  const roles: Role[] = world.question === 'loss' ? [world.honest] : ['initiator', 'counterparty'];
  for (const role of roles) {
    fundMove(state, view, role, emit);
    if (role === 'initiator') claimShort(world, state, view, emit);
    else claimLong(world, state, view, emit);
    refundMoves(world, state, view, role, emit);
  }
}

/** Nobody sends a second funding while its first, which it knows of, is not to be seen. */
function fundMove(state: State, view: View, role: Role, emit: Emit): void {
  const own: Slot = role === 'initiator' ? 0 : 1;
  const unseen = [own, own + 2].some((slot) => state.escrows[slot as Slot].fund === Fund.sent);
  if (!view[role].fund || unseen) return;
  const next = withFund(state, own, Fund.sent);
  if (role === 'initiator') next.stepLong = Since.sent(0);
  else next.stepShort = Since.sent(0);
  emit(`the ${role} funds`, own, next);
}

/** A claim that is sent stands in the mempool if the chain would take it. */
function withClaim(world: World, state: State, slot: Slot): State {
  const next = canClaim(world, state, slot)
    ? withSpend(state, slot, Spend.claimWaits)
    : copyOf(state);
  next.leaked = 1;
  return next;
}

function claimShort(world: World, state: State, view: View, emit: Emit): void {
  const { claimShort: since } = state;
  const { claim } = view.initiator;
  if (Since.isWaiting(since)) {
    const next = { ...withClaim(world, state, 1), claimShort: Since.sent(0) };
    emit('the initiator sends the claim it was given, and shows the secret', 1, next);
  } else if (claim && since === Since.nothing && state.leaked === 0) {
    if (world.question === 'loss') {
      emit('the initiator is given a claim to sign', 1, {
        ...copyOf(state),
        claimShort: Since.waits(0),
      });
    } else {
      const next = { ...withClaim(world, state, 1), claimShort: Since.sent(0), stepLong: 0 };
      emit('the initiator claims, and shows the secret', 1, next);
    }
  } else if (claim && state.leaked === 1 && canClaim(world, state, 1)) {
    const next = withClaim(world, state, 1);
    if (since === Since.nothing) next.claimShort = Since.sent(0);
    emit('the initiator sends its claim again', 1, next);
  }
}

function claimLong(world: World, state: State, view: View, emit: Emit): void {
  if (!view.counterparty.claim || !canClaim(world, state, 0)) return;
  const next = withClaim(world, state, 0);
  if (!Since.isSent(state.claimLong)) next.claimLong = Since.sent(0);
  emit('the counterparty claims with the secret it saw', 0, next);
}

/** Whether a claim that is sent now would wait for its block: it may outbid a refund that waits. */
export function canClaim(world: World, state: State, slot: Slot): boolean {
  const { fund, spend } = state.escrows[slot];
  const free = spend === Spend.none || spend === Spend.refundWaits;
  return fund >= Fund.shallow && free && claimValid(world, state, slot);
}

function refundMoves(world: World, state: State, view: View, role: Role, emit: Emit): void {
  const own: Slot = role === 'initiator' ? 0 : 1;
  const old = (own + 2) as Slot;
  const open: [Slot, boolean][] = [
    [own, view[role].refund],
    [old, role === 'initiator' ? view.oldRefund.long : view.oldRefund.short],
  ];
  for (const [slot, offered] of open) {
    const { fund, spend } = state.escrows[slot];
    if (!offered || fund < Fund.shallow || spend !== Spend.none) continue;
    const valid = refundValid(world, state, slot);
    const next = withSpend(state, slot, Spend.refundWaits);
    emit(valid ? `the ${role} refunds` : refusedRefund, slot, next);
  }
}
