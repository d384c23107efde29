// A malicious party's turns: it keeps up appearances, tries this and that, or follows a plan that
// it has set its mind on for a whole swap. Each plan is tried at every turn, and does nothing
// until its moment has come.

import { otherLeg } from '@parley/core/trade.ts';
import {
  attackMoves,
  claimAny,
  fund,
  fundAny,
  type Move,
  make,
  move,
  moveAddress,
  pastGates,
  plannedAmount,
  refundAny,
  replace,
  send,
  type Turn,
  tryRelays,
  tryToFund,
  tryToReveal,
} from './attacks.ts';
import { chainClock, heldIn, minedAbout, type SimChain, tipOf, waitingAt } from './chain.ts';
import { followRules, isGone, readSwap, type Seat } from './honest.ts';
import {
  chainOf,
  count,
  escrowsOn,
  later,
  legOf,
  ownLeg,
  type Side,
  seconds,
  type View,
  type World,
  walletsOn,
} from './world.ts';

export type Plan = {
  readonly name: string;
  readonly by: Side['role'];
  /** Seconds between two turns. */
  readonly every: number;
  /** Keeps to the rules besides, until its moment. */
  readonly keepsRules: boolean;
  readonly turn: Move;
};

/** Whether a payment of an escrow is there or on its way. */
const isPaidInto = (chain: SimChain, escrow: string) =>
  heldIn(chain, escrow).length > 0 || waitingAt(chain, escrow, 'fund').length > 0;

/** Whether the other side's payment is. */
const isPaid = ({ other, deal }: Turn): boolean =>
  escrowsOn(other, deal).some((escrow) => isPaidInto(other, escrow));

/** Pays too little for a block, and takes it back when somebody relied on it. */
const doubleSpend: Move = (turn) => {
  const { own, other, deal, side, view, ownName } = turn;
  const { escrow } = view.legs[ownName];
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
  const { own, view, ownName } = turn;
  const { escrow } = view.legs[ownName];
  const isTouched = minedAbout(own, escrow).length > 0 || waitingAt(own, escrow).length > 0;
  if (escrow !== null && !isTouched) fund(turn, escrow, dust);
  await neverPay(turn);
};

/**
 * Moves the escrow under the hands of whoever is about to pay it, so often that a payment is on its
 * way to where the leg was; takes what went to any.
 */
const keepMoving: Move = async (turn) => {
  await moveAddress({ ...turn, own: turn.other });
  await claimAny(turn);
};

const payTwice: Move = async (turn) => {
  const { own, deal } = turn;
  await moveAddress({ ...turn, other: own });
  const paid = escrowsOn(own, deal).flatMap((escrow) => minedAbout(own, escrow));
  if (paid.length < 4) await fundAny(turn);
  await claimAny(turn);
};

/** Moves its leg, pays the escrow that it moved off, and then wants to pay the other as well. */
const payFormer: Move = async (turn) => {
  const { side, deal, view, own, ownName } = turn;
  const { escrow } = view.legs[ownName];
  if (escrow === null) return;
  const former = escrowsOn(own, deal).find((at) => at !== escrow);
  if (former === undefined) {
    const [, wallet] = walletsOn(side.party, own.chain);
    const { note } = await move(turn, own.chain, wallet?.pubkey ?? wallet?.address ?? '');
    return note();
  }
  if (!isPaidInto(own, former)) fund(turn, former, plannedAmount(own, former));
  await tryToFund(turn);
  await tryToReveal(turn);
};

/** Pays an escrow that it has asked no builder for, and does nothing more. */
const payUnasked: Move = (turn) => {
  const { view, own, ownName } = turn;
  const { escrow, amount } = view.legs[ownName];
  if (escrow !== null && !isPaidInto(own, escrow)) fund(turn, escrow, BigInt(amount));
};

const plan =
  (keepsRules: boolean) =>
  (by: Side['role'], name: string, turn: Move, every: number): Plan => {
    return { name, by, every, keepsRules, turn };
  };
const keeping = plan(true);
const breaking = plan(false);

const plans: readonly Plan[] = [
  breaking('initiator', 'doubleSpend', doubleSpend, 200),
  breaking('counterparty', 'doubleSpend', doubleSpend, 200),
  keeping('initiator', 'revealLate', revealLate, 100),
  breaking('initiator', 'neverPay', neverPay, 300),
  keeping('initiator', 'underpay', underpay, 300),
  keeping('counterparty', 'keepMoving', keepMoving, 120),
  keeping('counterparty', 'moveOften', keepMoving, 40),
  keeping('initiator', 'payTwice', payTwice, 900),
  breaking('initiator', 'pastGates', pastGates, 300),
  // A party that pays by the rules, and then shows its secret to nobody in time.
  keeping('initiator', 'pastDeadlines', pastGates, 300),
  keeping('counterparty', 'pastGates', pastGates, 200),
  breaking('initiator', 'payFormer', payFormer, 300),
  breaking('initiator', 'payUnasked', payUnasked, 300),
];

/** For the drill that names it alone: drawn with the others it would change every story. */
const drilledPlan = keeping('initiator', 'claimBehind', claimBehind, 120);

/** Its plan in this swap; null = whatever comes to its mind. */
export function planFor(world: World, role: Side['role'], named?: string): Plan | null {
  if (named === undefined && world.chance.hits(0.35)) return null;
  const known = named === undefined ? plans : [...plans, drilledPlan];
  const fit = known.filter(({ by, name }) => {
    return by === role && (named === undefined || name === named);
  });
  const plan = world.chance.pick(fit);
  count(world, `plan ${plan.name}`);
  return plan;
}

/** Moments at which seconds decide. */
function instantsOf({ deadlines }: View): number[] {
  const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = deadlines;
  return [initiatorFundBy, counterpartyFundBy, revealBy, refundAt.a, refundAt.b];
}

function turnOf(seat: Seat, view: View): Turn {
  const { world, side, deal } = seat;
  const ownName = ownLeg(deal, side.role);
  const otherName = otherLeg(ownName);
  const own = chainOf(world, view.legs[ownName].chain);
  const other = chainOf(world, view.legs[otherName].chain);
  return { ...seat, view, own, other, ownName, otherName };
}

export async function beMalicious(seat: Seat, plan: Plan | null): Promise<void> {
  const { world, side, deal } = seat;
  if (deal.id === null || isGone(world, side)) return;
  const { chance } = side.party;
  const keepsRules = plan === null ? chance.hits(0.55) : plan.keepsRules;
  if (world.ending || keepsRules) await followRules(seat, plan?.name);
  else if (deal.view === null || plan !== null) await readSwap(seat);
  const { view } = deal;
  if (view === null || world.ending) return;
  const turn = turnOf(seat, view);
  await (plan === null ? improvise(turn) : plan.turn(turn));
  await tryRelays(turn);
  if (side.plots) return;
  side.plots = true;
  later(world, plan === null ? pause(turn) : pauseOf(turn, plan), async () => {
    side.plots = false;
    await side.wake();
  });
}

async function improvise(turn: Turn): Promise<void> {
  const { own, deal, view, side } = turn;
  const { chance } = side.party;
  if (chance.hits(0.6)) await chance.pick(attackMoves)(turn);
  // At the timelock of its own leg it takes back what it can, be it claimed in that moment.
  const passed = chainClock(own) >= view.legs[legOf(deal, 'short')].timelock;
  if (passed && chance.hits(0.5)) await refundAny(turn);
  if (passed && chance.hits(0.3)) await claimAny(turn);
}

function pause({ world, side, view }: Turn): number {
  const { chance } = side.party;
  const now = seconds(world);
  const ahead = instantsOf(view).filter((each) => each > now);
  if (ahead.length === 0 || chance.hits(0.6)) return chance.int(120, 9_000);
  return Math.min(...ahead) - now + chance.int(-90, 90);
}

/** Often while it matters: at first, and around each moment at which seconds decide. */
function pauseOf({ world, view }: Turn, { every }: Plan): number {
  const now = seconds(world);
  const instants = instantsOf(view).map((instant) => instant - now);
  const isFresh = ['agreed', 'initiator_funded', 'counterparty_funded'].includes(view.status);
  const isEarly = now * 1_000 < world.startedAt + 3 * 3_600_000;
  if (isFresh && (isEarly || instants.some((left) => Math.abs(left) < 1_200))) {
    return every + world.chance.int(0, every);
  }
  const next = instants.map((left) => left - 400).filter((left) => left > 0);
  return Math.min(1_800, ...next);
}
