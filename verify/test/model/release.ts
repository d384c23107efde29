// A swap that may be given up, as a model: two legs, two sides, their disks, blocks that are taken
// back, and transactions that land in any order. A side that follows the rules does what the gates of
// packages/core let it do. It remembers its disk alone, so it may end and begin again between any
// two steps. The other side does whatever its keys can do.

import { nothingSeen } from '@parley/core/facts.ts';
import { claimGate, fundGate, releaseGate, wishGate } from '@parley/core/gates.ts';
import type { SwapState } from '@parley/core/swap.ts';
import { clocksAt, deep, facts, secret, seen, swapOf } from '@parley/core/testing.ts';
import type { LegName, Role } from '@parley/core/trade.ts';
import type { Model } from './explore.ts';

type Stage = 'none' | 'open' | 'claimed' | 'refunded';
/** Leg `a` is the short one, which the counterparty funds; `deep` is beyond a reorganisation. */
type OnChain = { readonly top: Stage; readonly deep: Stage };

/** Written before what it tells of leaves the side. */
type Disk = {
  readonly funding: boolean;
  readonly revealing: boolean;
  readonly givenUp: boolean;
  readonly releasing: boolean;
};

export type State = {
  readonly time: number;
  readonly legs: Readonly<Record<LegName, OnChain>>;
  /** Fundings and releases that exist, by leg, and the secret once it is public. */
  readonly sent: Readonly<Record<LegName, boolean>>;
  readonly released: Readonly<Record<LegName, boolean>>;
  readonly isShown: boolean;
  readonly disks: Readonly<Record<Role, Disk>>;
};

export type Action = {
  readonly does: 'wait' | 'bury' | 'undo' | 'open' | 'claim' | 'refund' | Own;
  readonly leg: LegName;
  readonly by: Role | 'anybody';
};
type Own =
  | 'keep funding'
  | 'send funding'
  | 'keep reveal'
  | 'show secret'
  | 'give up'
  | 'keep release'
  | 'send release';

/** Rules of a side that the checker must find broken. */
export const rules = {
  depth: 'a refund counts at depth',
  funding: 'a funding is kept before it is sent',
  release: 'a release is kept before it is sent, and read again',
  reveal: 'a reveal is kept before it is sent, and read again',
  gate: 'the counterparty releases nothing while its own leg may be taken',
  late: 'the secret is shown in time or never',
} as const;
export type Rule = keyof typeof rules;

export type Sides = {
  /** How the long leg is released: by its contract, or on Bitcoin by an answer of its payee. */
  readonly consents: true | 'p2tr';
  readonly honest: readonly Role[];
  readonly broken: Rule | null;
};

const { deadlines } = swapOf({ consents: true });
/** The instants between which a step becomes possible or impossible. */
const instants = [
  deadlines.initiatorFundBy,
  deadlines.counterpartyFundBy,
  deadlines.revealBy,
  deadlines.refundAt.a - 1,
  deadlines.refundAt.a,
  deadlines.refundAt.b,
] as const;
const revealBy = 2;
const timelock = { a: 4, b: 5 } as const;
const last = instants.length - 1;

const pays = { initiator: 'a', counterparty: 'b' } as const satisfies Record<Role, LegName>;
const funds = { initiator: 'b', counterparty: 'a' } as const satisfies Record<Role, LegName>;

function factsOf({ top, deep: buried }: OnChain, isShallowEnough: boolean) {
  if (top === 'none') return nothingSeen;
  const has = (stage: Stage) => (buried === stage || isShallowEnough ? deep() : seen());
  const funded = buried === 'none' && !isShallowEnough ? seen() : deep();
  if (top === 'open') return facts({ funded });
  return facts({ funded, [top]: has(top) });
}

/** The swap as a side sees it: its chains and its disk. The market keeps the other's words back. */
function viewOf(
  { legs, isShown, disks }: State,
  role: Role,
  { consents, broken }: Sides,
): SwapState {
  const { funding, revealing, givenUp, releasing } = disks[role];
  const isSent = funding && broken !== 'funding';
  const handed = isSent ? 'sent' : 'nothing';
  const isGivenUp = (givenUp || releasing) && broken !== 'release';
  const word = { askedAt: 1, at: releasing ? 1 : null, signature: null };
  const isKnown = isShown || (revealing && broken !== 'reveal');
  const own = isGivenUp ? { [pays[role] === 'a' ? 'shortRelease' : 'longRelease']: word } : {};
  return swapOf({
    consents,
    short: factsOf(legs.a, broken === 'depth'),
    long: factsOf(legs.b, broken === 'depth'),
    [funds[role] === 'a' ? 'shortHanded' : 'longHanded']: handed,
    secret: isKnown ? secret : null,
    ...own,
  });
}

const gates = {
  'keep funding': (swap, role, at) => fundGate(swap, funds[role], clocksAt(at)),
  'keep reveal': (swap, role, at) => claimGate(swap, pays[role], clocksAt(at)),
  'give up': (swap, role, at) => wishGate(swap, pays[role], clocksAt(at)),
  'keep release': (swap, role, at) => releaseGate(swap, pays[role], clocksAt(at)),
} as const satisfies Partial<Record<Own, (swap: SwapState, role: Role, at: number) => void>>;
type Decision = keyof typeof gates;

const decided = new Map<string, boolean>();

/** Whether the gate lets this side decide so now. */
function passes(state: State, role: Role, what: Decision, sides: Sides): boolean {
  const { time, legs, isShown, disks } = state;
  const key = JSON.stringify([
    what,
    role,
    sides.broken,
    sides.consents,
    time,
    legs,
    isShown,
    disks[role],
  ]);
  const known = decided.get(key);
  if (known !== undefined) return known;
  let isFree = true;
  try {
    gates[what](viewOf(state, role, sides), role, instants[time] as number);
  } catch {
    isFree = false;
  }
  decided.set(key, isFree);
  return isFree;
}

function ofHonest(state: State, role: Role, sides: Sides): Action['does'][] {
  const { broken } = sides;
  const { time, sent, released, isShown } = state;
  const { funding, revealing, givenUp, releasing } = state.disks[role];
  const gets = pays[role];
  const may = (what: Decision) => passes(state, role, what, sides);
  const all: Action['does'][] = [];
  if (!funding && may('keep funding')) all.push('keep funding');
  if (funding && !sent[funds[role]]) all.push('send funding');
  if (role === 'initiator') {
    if (!revealing && !isShown && may('keep reveal')) all.push('keep reveal');
    const isInTime = time <= revealBy || broken === 'late';
    if (revealing && !isShown && isInTime) all.push('show secret');
  }
  if (!givenUp && may('give up')) all.push('give up');
  const isLoose = broken === 'gate' && role === 'counterparty' && !isShown;
  if (!releasing && (may('keep release') || isLoose)) all.push('keep release');
  if (releasing && !released[gets]) all.push('send release');
  return all;
}

function ofRival({ sent, released, isShown }: State, role: Role): Action['does'][] {
  const all: Action['does'][] = [];
  if (!sent[funds[role]]) all.push('send funding');
  if (!released[pays[role]]) all.push('send release');
  if (role === 'initiator' && !isShown) all.push('show secret');
  return all;
}

/** A side that follows the rules has its claims at depth in time: the deadlines see to that. */
function mayPass({ time, legs, isShown }: State, { honest }: Sides): boolean {
  const isOver = ({ top, deep }: OnChain) => top === deep && top !== 'open';
  const isTaken = legs.a.top === 'claimed' || legs.a.deep === 'claimed';
  if (honest.includes('initiator') && isShown && time < timelock.a && time + 1 === timelock.a) {
    if (legs.a.top !== 'none' && !isOver(legs.a)) return false;
  }
  if (!honest.includes('counterparty') || time + 1 !== timelock.b) return time < last;
  return !isTaken || isOver(legs.b);
}

function ofChain(state: State, leg: LegName, sides: Sides): Action['does'][] {
  const { time, legs, sent, released, isShown } = state;
  const { top, deep } = legs[leg];
  const all: Action['does'][] = [];
  if (top !== deep) all.push('bury', 'undo');
  // A funding may land as late as its chain takes it, and Bitcoin takes it for ever.
  if (top === 'none' && sent[leg] && (leg === 'b' || time < timelock.a)) all.push('open');
  if (top !== 'open') return all;
  // A script takes a claim until its refund is in a block.
  const isLate = leg === 'b' && !sides.honest.includes('counterparty');
  if (isShown && (time < timelock[leg] || isLate)) all.push('claim');
  if (released[leg] || time >= timelock[leg]) all.push('refund');
  return all;
}

function actionsOf(state: State, sides: Sides): Action[] {
  const all: Action[] = [];
  if (mayPass(state, sides)) all.push({ does: 'wait', leg: 'a', by: 'anybody' });
  for (const leg of ['a', 'b'] as const) {
    for (const does of ofChain(state, leg, sides)) all.push({ does, leg, by: 'anybody' });
  }
  for (const by of ['initiator', 'counterparty'] as const) {
    const isHonest = sides.honest.includes(by);
    const own = isHonest ? ofHonest(state, by, sides) : ofRival(state, by);
    for (const does of own) all.push({ does, leg: pays[by], by });
  }
  return all;
}

function onLeg(state: State, leg: LegName, change: Partial<OnChain>): State {
  return { ...state, legs: { ...state.legs, [leg]: { ...state.legs[leg], ...change } } };
}

function kept(state: State, by: Action['by'], change: Partial<Disk>): State {
  if (by === 'anybody') return state;
  return { ...state, disks: { ...state.disks, [by]: { ...state.disks[by], ...change } } };
}

function step(state: State, { does, leg, by }: Action): State {
  const { top, deep } = state.legs[leg];
  const gives = leg === 'a' ? 'b' : 'a';
  switch (does) {
    case 'wait':
      return { ...state, time: state.time + 1 };
    case 'bury':
      return onLeg(state, leg, { deep: top });
    case 'undo':
      return onLeg(state, leg, { top: deep });
    case 'open':
      return onLeg(state, leg, { top: 'open' });
    case 'claim':
      return onLeg(state, leg, { top: 'claimed' });
    case 'refund':
      return onLeg(state, leg, { top: 'refunded' });
    case 'keep funding':
      return kept(state, by, { funding: true });
    case 'send funding':
      return { ...state, sent: { ...state.sent, [gives]: true } };
    case 'keep reveal':
      return kept(state, by, { revealing: true });
    case 'show secret':
      return { ...state, isShown: true };
    case 'give up':
      return kept(state, by, { givenUp: true });
    case 'keep release':
      return kept(state, by, { releasing: true });
    case 'send release':
      return { ...state, released: { ...state.released, [leg]: true } };
  }
}

/** Whether a side that follows the rules has lost its own leg and not got the other one. */
function faultOf({ time, legs }: State, { honest }: Sides): string | null {
  for (const role of honest) {
    const own = legs[funds[role]].deep;
    const gets = legs[pays[role]].deep;
    const isClosed = gets === 'refunded' || time >= timelock[pays[role]];
    if (own === 'claimed' && gets !== 'claimed' && isClosed) return `the ${role} has neither`;
  }
  return null;
}

const empty: Disk = { funding: false, revealing: false, givenUp: false, releasing: false };
const nothing: OnChain = { top: 'none', deep: 'none' };
const first: State = {
  time: 0,
  legs: { a: nothing, b: nothing },
  sent: { a: false, b: false },
  released: { a: false, b: false },
  isShown: false,
  disks: { initiator: empty, counterparty: empty },
};

export function modelOf(sides: Sides): Model<State, Action> {
  return {
    first,
    actions: (state) => actionsOf(state, sides),
    step,
    keyOf: (state) => JSON.stringify(state),
    faultOf: (_, __, after) => faultOf(after, sides),
  };
}
