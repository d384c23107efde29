// What the market and the follower of the rules read off a state: the chains' facts through core/,
// the record through settle/, and the steps that both `next[]` and the gate open.

import { type EscrowFacts, nothingSeen, type Sighting, sighting } from '../../core/facts.ts';
import { claimGate, fundGate, refundGate } from '../../core/gates.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import { nextSteps } from '../../core/next.ts';
import type { SwapStatus } from '../../core/status.ts';
import type { Clocks, Leg, SwapState } from '../../core/swap.ts';
import type { LegName, Role } from '../../core/trade.ts';
import { type KnownEscrow, outcome } from '../../server/settle/outcome.ts';
import { type EscrowState, Fund, type Slot, Spend, type State } from './state.ts';
import type { World } from './world.ts';

const secret = '11'.repeat(32);
const hashlock = hashlockOf(secret);
/** Base units of each leg, and of a payment that is too small. */
export const amount = 1_000n;
const tooLittle = 900n;

/** Steps open to one side: `next[]` says so, and the gate that its builder passes agrees. */
export type Open = {
  readonly fund: boolean;
  readonly claim: boolean;
  readonly refund: boolean;
};

export type View = {
  readonly status: SwapStatus;
  readonly recorded: number;
  readonly lapsed: number;
  readonly initiator: Open;
  readonly counterparty: Open;
  /** Whether the former escrow of either leg may be refunded by its gate. */
  readonly oldRefund: { readonly long: boolean; readonly short: boolean };
};

export function isLong(slot: number): boolean {
  return slot === 0 || slot === 2;
}

function clockOf(state: State, slot: number): number {
  return state.wall + (isLong(slot) ? state.aheadLong : state.aheadShort);
}

/** By the chain's own rules, whatever core/ says: whether a claim may still be mined. */
export function claimValid(world: World, state: State, slot: number): boolean {
  const leg = isLong(slot) ? 'long' : 'short';
  return world.families[leg] === 'bitcoin' || clockOf(state, slot) < world.timelocks[leg];
}

/** And whether a refund may be. */
export function refundValid(world: World, state: State, slot: number): boolean {
  const leg = isLong(slot) ? 'long' : 'short';
  const clock = clockOf(state, slot);
  const timelock = world.timelocks[leg];
  return world.families[leg] === 'bitcoin' ? clock > timelock : clock >= timelock;
}

function showsSecret({ spend }: EscrowState): boolean {
  return spend >= Spend.claimWaits && spend <= Spend.claimFinal;
}

function factsOf(world: World, escrow: EscrowState, slot: number): EscrowFacts {
  const { fund, spend } = escrow;
  const leg = isLong(slot) ? 'long' : 'short';
  const { normal } = world.policies[leg];
  const seen = (txid: string, blocks: number): Sighting =>
    sighting(`${txid}-${slot}`, blocks, normal);
  const isClaim = showsSecret(escrow);
  const blocks = isClaim ? spend - Spend.claimWaits : spend - Spend.refundWaits;
  const spent = spend === Spend.none ? null : seen(isClaim ? 'claim' : 'refund', blocks);
  const mined = fund >= Fund.shallow;
  // Bitcoin counts what nothing was seen to spend, the others what the best block holds.
  const taken = world.families[leg] === 'bitcoin' ? spent !== null : blocks > 0 && spent !== null;
  const balance = (mined && !taken ? amount : 0n) + (escrow.extra === 1 ? tooLittle : 0n);
  const spentFinal = spend === Spend.claimFinal || spend === Spend.refundFinal;
  return {
    funded: fund >= Fund.mempool ? seen('fund', fund - Fund.mempool) : null,
    claimed: isClaim ? spent : null,
    refunded: isClaim ? null : spent,
    secret: isClaim ? secret : null,
    balance,
    empty: balance === 0n && (fund < Fund.mempool || spentFinal),
  };
}

function legOf(world: World, state: State, name: LegName): Leg {
  const long = name === 'b';
  const which = long ? 'long' : 'short';
  const moved = (state.moved & (long ? 1 : 2)) !== 0;
  return {
    leg: name,
    chain: which,
    family: world.families[which],
    assetId: which,
    amount,
    funder: long ? 'taker' : 'maker',
    long,
    timelock: world.timelocks[which],
    requiredConfirmations: world.policies[which].normal.confirmations,
    payoutAddress: 'payout',
    refundAddress: 'refund',
    payoutPubkey: null,
    refundPubkey: null,
    escrow: moved ? `${name}-second` : `${name}-first`,
    facts: nothingSeen,
    strayed: false,
  };
}

function knownEscrows(world: World, state: State): KnownEscrow[] {
  return state.escrows.flatMap((escrow, slot): KnownEscrow[] => {
    const leg = isLong(slot) ? 'b' : 'a';
    const moved = (state.moved & (isLong(slot) ? 1 : 2)) !== 0;
    if (slot >= 2 && !moved) return [];
    const address = slot < 2 && moved ? `${leg}-second` : `${leg}-first`;
    return [{ leg, address, facts: factsOf(world, escrow, slot) }];
  });
}

/** Of each world, the refunds asked for before: they depend on the clocks alone. */
const refundsKnown = new WeakMap<World, Map<number, boolean>>();

/** Whether the refund gate lets pass; most often it does not, and a refusal is dear to make. */
function mayRefund(world: World, state: State, leg: Leg, clocks: Clocks): boolean {
  const known = refundsKnown.get(world) ?? new Map<number, boolean>();
  refundsKnown.set(world, known);
  const { wall, aheadLong, aheadShort } = state;
  const key = ((wall * 8 + aheadLong + 3) * 8 + aheadShort + 3) * 2 + (leg.long ? 1 : 0);
  const before = known.get(key);
  if (before !== undefined) return before;
  const now = passes(() => refundGate(leg, leg.timelock, clocks));
  known.set(key, now);
  return now;
}

function passes(gate: () => void): boolean {
  try {
    gate();
    return true;
  } catch {
    return false;
  }
}

export function viewOf(world: World, state: State): View {
  const { deadlines } = world;
  const clocks: Clocks = {
    wall: state.wall,
    a: clockOf(state, 1),
    b: clockOf(state, 0),
  };
  const before: SwapState = {
    hashlock,
    legs: { a: legOf(world, state, 'a'), b: legOf(world, state, 'b') },
    deadlines,
    secret: state.recorded === 1 ? secret : null,
    lapsed: state.lapsed === 1,
  };
  const escrows = knownEscrows(world, state);
  const { state: swap, status } = outcome(before, {
    escrows,
    full: true,
    wall: state.wall,
  });
  const steps = nextSteps(swap, clocks);
  const openTo = (role: Role): Open => {
    const [own, other] = role === 'initiator' ? (['b', 'a'] as const) : (['a', 'b'] as const);
    const says = (action: string, leg: LegName) =>
      steps.some((step) => step.by === role && step.action === action && step.leg === leg);
    return {
      fund: says('fund', own) && passes(() => fundGate(swap, own, clocks)),
      claim: says('claim', other) && passes(() => claimGate(swap, other, clocks)),
      refund: says('refund', own) && mayRefund(world, state, swap.legs[own], clocks),
    };
  };
  const oldRefund = (leg: Leg, slot: Slot) =>
    state.escrows[slot].fund >= Fund.shallow && mayRefund(world, state, leg, clocks);
  return {
    status,
    recorded: swap.secret === null ? 0 : 1,
    lapsed: swap.lapsed ? 1 : 0,
    initiator: openTo('initiator'),
    counterparty: openTo('counterparty'),
    oldRefund: { long: oldRefund(swap.legs.b, 2), short: oldRefund(swap.legs.a, 3) },
  };
}
