// What may happen at one instant. On the chains transactions are mined, become final, fall out of
// the mempool, and are taken back by reorganisations above the depth. The adversary sends by
// itself, past every builder. A follower of the rules does only what `next[]` offers and the gate
// lets pass, whenever it likes within its time. Time is in time.ts, which says when that is over.

import type { Role } from '../../core/trade.ts';
import { copyOf, Fund, Since, type Slot, Spend, type State } from './state.ts';
import { claimValid, isLong, refundValid, type View } from './view.ts';
import type { World } from './world.ts';

/** Takes a successor: what happened, where (null: nowhere in particular), and what it led to. */
export type Emit = (what: string, slot: Slot | null, next: State) => void;

function slotsOf(state: State): Slot[] {
  const present: Slot[] = [0, 1];
  if ((state.moved & 1) !== 0) present.push(2);
  if ((state.moved & 2) !== 0) present.push(3);
  return present;
}

/** Whether the follower of the rules funds this escrow, and the adversary may take it. */
export function isOwn(world: World, slot: Slot): boolean {
  return world.question !== 'loss' || isLong(slot) === (world.honest === 'initiator');
}

export function withFund(state: State, slot: Slot, fund: number): State {
  const next = copyOf(state);
  next.escrows[slot].fund = fund;
  // What spent a payment falls with its block.
  if (fund < Fund.shallow) next.escrows[slot].spend = Spend.none;
  return next;
}

export function withSpend(state: State, slot: Slot, spend: number): State {
  const next = copyOf(state);
  next.escrows[slot].spend = spend;
  if (spend >= Spend.claimWaits && spend <= Spend.claimFinal) next.leaked = 1;
  return next;
}

export function chainMoves(world: World, state: State, emit: Emit): void {
  for (const slot of slotsOf(state)) {
    fundingMoves(world, state, slot, emit);
    spendMoves(world, state, slot, emit);
  }
}

function fundingMoves(world: World, state: State, slot: Slot, emit: Emit): void {
  const { fund, spend } = state.escrows[slot];
  const to = (what: string, next: number) => emit(what, slot, withFund(state, slot, next));
  const deepened = (): State => {
    const next = withFund(state, slot, Fund.final);
    if (slot === 0) next.stepLong = Since.nothing;
    if (slot === 1) next.stepShort = Since.nothing;
    return next;
  };
  if (fund === Fund.sent) {
    to('the funding shows in the mempool', Fund.mempool);
    if (world.question !== 'loss') to('the funding is mined unseen', Fund.shallow);
  }
  if (fund === Fund.mempool) to('the funding is mined', Fund.shallow);
  if (fund === Fund.shallow) emit('the funding is deep', slot, deepened());
  if (world.question !== 'loss') return;
  const own = isOwn(world, slot);
  if (fund === Fund.mempool) {
    if (own) to('the funding drops out of sight', Fund.sent);
    else to('the adversary replaces its funding by a payment to itself', Fund.none);
  }
  // Nothing that spent it may be deeper than it is.
  const settled = spend === Spend.claimFinal || spend === Spend.refundFinal;
  if (fund === Fund.shallow && !settled) {
    to('a reorganisation takes the funding back', Fund.mempool);
    if (!own) to('a reorganisation takes the funding back for good', Fund.none);
  }
}

function spendMoves(world: World, state: State, slot: Slot, emit: Emit): void {
  const { fund, spend } = state.escrows[slot];
  const to = (what: string, next: number) => emit(what, slot, withSpend(state, slot, next));
  const mined = fund >= Fund.shallow;
  if (spend === Spend.claimWaits && mined && claimValid(world, state, slot)) {
    to('the claim is mined', Spend.claimShallow);
  }
  if (spend === Spend.refundWaits && mined && refundValid(world, state, slot)) {
    to('the refund is mined', Spend.refundShallow);
  }
  if (spend === Spend.claimShallow && fund === Fund.final) {
    emit('the claim is deep', slot, claimedDeep(state, slot));
  }
  if (spend === Spend.refundShallow && fund === Fund.final) {
    to('the refund is deep', Spend.refundFinal);
  }
  if (world.question !== 'loss') return;
  if (spend === Spend.claimWaits) to('the claim drops out of the mempool', Spend.none);
  if (spend === Spend.refundWaits) to('the refund drops out of the mempool', Spend.none);
  if (spend === Spend.claimShallow) {
    to('a reorganisation takes the claim back', Spend.claimWaits);
  }
  if (spend === Spend.refundShallow) {
    to('a reorganisation takes the refund back', Spend.refundWaits);
  }
}

function claimedDeep(state: State, slot: Slot): State {
  const next = withSpend(state, slot, Spend.claimFinal);
  if (slot === 0) next.claimLong = Since.nothing;
  if (slot === 1) next.claimShort = Since.nothing;
  return next;
}

/** What the side that follows no rules sends, whenever it likes. */
export function adversaryMoves(world: World, state: State, emit: Emit): void {
  const knows = world.honest === 'counterparty' || state.leaked === 1;
  for (const slot of slotsOf(state)) {
    const { fund, spend, extra } = state.escrows[slot];
    const mined = fund >= Fund.shallow;
    if (isOwn(world, slot)) {
      // Another's transaction that waits may be outbid.
      const free = spend === Spend.none || spend === Spend.refundWaits;
      if (knows && mined && free && claimValid(world, state, slot)) {
        emit('the adversary claims', slot, withSpend(state, slot, Spend.claimWaits));
      }
    } else {
      if (fund === Fund.none) {
        emit('the adversary funds', slot, withFund(state, slot, Fund.mempool));
      }
      const free = spend === Spend.none || spend === Spend.claimWaits;
      // A mempool that keeps what no block takes yet shows it too; Bitcoin's nodes keep none.
      const early = world.families[isLong(slot) ? 'long' : 'short'] !== 'bitcoin';
      if (mined && free && (early || refundValid(world, state, slot))) {
        emit('the adversary refunds', slot, withSpend(state, slot, Spend.refundWaits));
      }
    }
    if ((world.mayUnderpay & (1 << slot)) !== 0 && extra === 0) {
      const next = copyOf(state);
      next.escrows[slot].extra = 1;
      emit('the adversary pays too little', slot, next);
    }
  }
  if (world.honest === 'counterparty' && state.leaked === 0) {
    const next = { ...copyOf(state), leaked: 1, recorded: 1 };
    emit('the adversary shows the secret in a transaction that fails', null, next);
  }
  for (const slot of [0, 1] as const) {
    const bit = slot + 1;
    const seen = state.escrows[slot].fund >= Fund.mempool;
    if ((world.mayMove & bit) === 0 || (state.moved & bit) !== 0 || seen) continue;
    const next = copyOf(state);
    next.moved |= bit;
    next.escrows[(slot + 2) as Slot] = next.escrows[slot];
    next.escrows[slot] = { fund: Fund.none, spend: Spend.none, extra: 0 };
    emit('the adversary corrects an address: the leg moves off', (slot + 2) as Slot, next);
  }
}

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
