// What a malicious party may have set its mind on for a whole swap. Each plan is tried at every
// turn, and does nothing until its moment has come.

import {
  claimAny,
  fund,
  fundAny,
  type Move,
  make,
  moveAddress,
  plannedAmount,
  refundAny,
  replace,
  send,
  type Turn,
} from './attacks.ts';
import { heldIn, minedAbout, tipOf, waitingAt } from './chain.ts';
import { escrowsOn, walletsOn } from './deals.ts';
import { isPaidInto, pastDeadlines, pastGates, payFormer, payUnasked } from './probes.ts';
import type { Side } from './state.ts';
import { count, seconds } from './world.ts';

export type Plan = {
  readonly by: Side['role'];
  /** Keeps to the rules besides, until its moment. */
  readonly keepsRules: boolean;
  /** Seconds between two turns. */
  readonly every: number;
  readonly turn: Move;
};

function ownEscrow({ own, deal, view }: Turn): string | null {
  const leg = [view.legs.a, view.legs.b].find(({ chain }) => chain === own.chain);
  return leg !== undefined && deal.chains.includes(leg.chain) ? leg.escrow : null;
}

/** Whether the other side's payment is there or on its way. */
const isPaid = ({ other, deal }: Turn): boolean =>
  escrowsOn(other, deal).some((escrow) => isPaidInto(other, escrow));

/** Pays too little for a block, and takes it back when somebody relied on it. */
const doubleSpend: Move = (turn) => {
  const { own, other, deal, side } = turn;
  const escrow = ownEscrow(turn);
  if (escrow === null) return;
  const wallets = walletsOn(side.party, own.chain).map(({ address }) => address);
  const waiting = waitingAt(own, escrow, 'fund').find(({ tx }) => wallets.includes(tx.by));
  const relied = side.role === 'initiator' ? isPaid(turn) : other.shown.has(deal.hashlock);
  if (waiting === undefined && heldIn(own, escrow).length === 0 && !relied) {
    const amount = plannedAmount(own, escrow);
    const mayFund = side.role === 'initiator' || isPaid(turn);
    if (mayFund) send(turn, own, { ...make(turn, own, { verb: 'fund', escrow, amount }), fee: 0 });
  } else if (waiting !== undefined && relied) replace(turn, waiting.tx);
};

/** Shows the secret in the last moment in which that may still take the short leg. */
const revealLate: Move = async (turn) => {
  const { world, other, view, otherName } = turn;
  const left = view.legs[otherName].timelock - Math.max(seconds(world), tipOf(other).time);
  if (left < 300) await claimAny(turn);
};

/**
 * Keeps the secret while the short chain stands still, takes its own leg back, and claims by a
 * clock that is behind.
 */
const claimBehind: Move = async (turn) => {
  const { world, own, other, view, otherName } = turn;
  const { timelock } = view.legs[otherName];
  if (seconds(world) <= timelock || !isPaid(turn)) return;
  await refundAny(turn);
  const left = escrowsOn(own, turn.deal).flatMap((escrow) => heldIn(own, escrow));
  const isBack = tipOf(other).wall > timelock && tipOf(other).time < timelock;
  if (isBack) count(world, 'attack behind the clock');
  if (isBack || left.every(({ spentBy }) => spentBy !== null)) await claimAny(turn);
};

/** Takes whatever lies there, having paid nothing. */
const neverPay: Move = async (turn) => {
  if (isPaid(turn)) await claimAny(turn);
};

const dust = 600n;

/** Pays next to nothing, and takes whatever lies there. */
const underpay: Move = async (turn) => {
  const { own } = turn;
  const escrow = ownEscrow(turn);
  const isTouched = minedAbout(own, escrow).length > 0 || waitingAt(own, escrow).length > 0;
  if (escrow !== null && !isTouched) fund(turn, escrow, dust);
  if (isPaid(turn)) await claimAny(turn);
};

/** Moves the escrow under the hands of whoever is about to pay it; takes what went to any. */
const keepMoving: Move = async (turn) => {
  await moveAddress({ ...turn, own: turn.other });
  await claimAny(turn);
};

/** So often that a payment is on its way to where the leg was. */
const moveOften: Move = (turn) => keepMoving(turn);

const payTwice: Move = async (turn) => {
  const { own, deal } = turn;
  await moveAddress({ ...turn, other: own });
  const paid = escrowsOn(own, deal).flatMap((escrow) => minedAbout(own, escrow));
  if (paid.length < 4) await fundAny(turn);
  await claimAny(turn);
};

const plan = (
  by: Side['role'],
  turn: Move,
  every: number,
  keeps: 'keeps rules' | 'keeps none',
): Plan => ({ by, keepsRules: keeps === 'keeps rules', every, turn });

export const plans: readonly Plan[] = [
  plan('initiator', doubleSpend, 200, 'keeps none'),
  plan('counterparty', doubleSpend, 200, 'keeps none'),
  plan('initiator', revealLate, 100, 'keeps rules'),
  plan('initiator', neverPay, 300, 'keeps none'),
  plan('initiator', underpay, 300, 'keeps rules'),
  plan('counterparty', keepMoving, 120, 'keeps rules'),
  plan('counterparty', moveOften, 40, 'keeps rules'),
  plan('initiator', payTwice, 900, 'keeps rules'),
  plan('initiator', pastGates, 300, 'keeps none'),
  plan('initiator', pastDeadlines, 300, 'keeps rules'),
  plan('counterparty', pastGates, 200, 'keeps rules'),
  plan('initiator', payFormer, 300, 'keeps none'),
  plan('initiator', payUnasked, 300, 'keeps none'),
];

/** For the drill that names it alone: drawn with the others it would change every story. */
export const drilledPlan = plan('initiator', claimBehind, 120, 'keeps rules');
