// What a malicious party may have set its mind on for a whole swap. Each plan is tried at every
// turn, and does nothing until its moment has come.

import {
  claimAny,
  fundAny,
  type Move,
  make,
  moveAddress,
  refundAny,
  send,
  type Turn,
} from './attacks.ts';
import { tipOf } from './chain.ts';
import { escrowsOn } from './depth.ts';
import type { Side } from './people.ts';
import { pastDeadlines, pastGates, payFormer, payUnasked } from './probes.ts';
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
function isPaid({ other, deal }: Turn): boolean {
  return escrowsOn(other, deal).some((escrow) => {
    const waits = [...other.mempool.values()].some(
      ({ tx }) => tx.escrow === escrow && tx.verb === 'fund',
    );
    return waits || (other.holdings.get(escrow) ?? []).length > 0;
  });
}

/** Pays too little for a block, and takes it back when somebody relied on it. */
const doubleSpend: Move = (turn) => {
  const { own, other, deal, side, world } = turn;
  const escrow = ownEscrow(turn);
  if (escrow === null) return;
  const wallets = (side.party.wallets.get(own.chain) ?? []).map(({ address }) => address);
  const waiting = [...own.mempool.values()].find(
    ({ tx }) => tx.verb === 'fund' && tx.escrow === escrow && wallets.includes(tx.by),
  );
  const relied =
    side.role === 'initiator' ? isPaid(turn) : (other.shown.get(deal.hashlock) ?? null) !== null;
  const funded = (own.holdings.get(escrow) ?? []).length > 0;
  if (waiting === undefined && !funded && !relied) {
    const amount = own.plans.get(escrow)?.amount ?? 0n;
    const mayFund = side.role === 'initiator' || isPaid(turn);
    if (mayFund) send(turn, own, { ...make(turn, own, { verb: 'fund', escrow, amount }), fee: 0 });
    return;
  }
  if (waiting === undefined || !relied) return;
  const coin = waiting.tx.coins[0] as string;
  send(turn, own, make(turn, own, { verb: 'move', escrow: '', coin }));
  count(world, 'transaction replaced');
};

/** Shows the secret in the last moment in which that may still take the short leg. */
const revealLate: Move = async (turn) => {
  const { world, other, view } = turn;
  const leg = [view.legs.a, view.legs.b].find(({ chain }) => chain === other.chain);
  const left = (leg?.timelock ?? 0) - Math.max(seconds(world), tipOf(other).time);
  if (left < 300) await claimAny(turn);
};

/**
 * Keeps the secret while the short chain stands still, takes its own leg back, and claims by a
 * clock that is behind.
 */
const claimBehind: Move = async (turn) => {
  const { world, own, other, view } = turn;
  const leg = [view.legs.a, view.legs.b].find(({ chain }) => chain === other.chain);
  const timelock = leg?.timelock ?? Number.POSITIVE_INFINITY;
  if (seconds(world) <= timelock || !isPaid(turn)) return;
  await refundAny(turn);
  const left = escrowsOn(own, turn.deal).flatMap((escrow) => own.holdings.get(escrow) ?? []);
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
  const isPaidIn = escrow === null || (own.about.get(escrow) ?? []).length > 0;
  const waits = [...own.mempool.values()].some(({ tx }) => tx.escrow === escrow);
  if (escrow !== null && !isPaidIn && !waits) {
    send(turn, own, make(turn, own, { verb: 'fund', escrow, amount: dust }));
  }
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
  const paid = escrowsOn(own, deal).flatMap((escrow) => own.about.get(escrow) ?? []);
  if (paid.length < 4) await fundAny(turn);
  await claimAny(turn);
};

export const plans: readonly Plan[] = [
  { by: 'initiator', keepsRules: false, every: 200, turn: doubleSpend },
  { by: 'counterparty', keepsRules: false, every: 200, turn: doubleSpend },
  { by: 'initiator', keepsRules: true, every: 100, turn: revealLate },
  { by: 'initiator', keepsRules: false, every: 300, turn: neverPay },
  { by: 'initiator', keepsRules: true, every: 300, turn: underpay },
  { by: 'counterparty', keepsRules: true, every: 120, turn: keepMoving },
  { by: 'counterparty', keepsRules: true, every: 40, turn: moveOften },
  { by: 'initiator', keepsRules: true, every: 900, turn: payTwice },
  { by: 'initiator', keepsRules: false, every: 300, turn: pastGates },
  { by: 'initiator', keepsRules: true, every: 300, turn: pastDeadlines },
  { by: 'counterparty', keepsRules: true, every: 200, turn: pastGates },
  { by: 'initiator', keepsRules: false, every: 300, turn: payFormer },
  { by: 'initiator', keepsRules: false, every: 300, turn: payUnasked },
];

/** For the drill that names it alone: drawn with the others it would change every story. */
export const drilledPlan: Plan = {
  by: 'initiator',
  keepsRules: true,
  every: 120,
  turn: claimBehind,
};
