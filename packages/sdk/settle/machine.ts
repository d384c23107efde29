// The next step of one side of a swap, as a pure state machine. Gates are passed once more right
// before anything is sent.

import { ParleyError } from '@parley/core/errors.ts';
import { isMuch, isUnknown, legStatus, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import { fundBy, fundGate } from '@parley/core/gates.ts';
import { nextSteps, type Step } from '@parley/core/next.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isOut, isTaproot } from '@parley/core/release.ts';
import { lateWatchSeconds } from '@parley/core/remains.ts';
import { type Clocks, hasPassed, pessimistic } from '@parley/core/swap.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import { isFundingSigned, mayBeFunded, type SwapRecord, versionsOf } from '../stores/store.ts';
import { aloneOf, type LegSeen, legOf, ownSides, type Seen, seenOf, toldOf } from './record.ts';

export type SettleState =
  | 'preparing'
  | 'waiting_to_fund'
  | 'funding'
  | 'cancelling'
  | 'giving_up'
  | 'funded'
  | 'revealing'
  | 'claiming'
  | 'refunding'
  | 'received'
  | 'settled';

/** Effects that need one chain alone, in whatever state the other one is. */
const alone = ['claim', 'withdraw_claim', 'refund', 'replace', 'leave_to_batch'] as const;

export type Effect = {
  readonly do:
    | (typeof alone)[number]
    | 'ask_market'
    | 'schedule_refunds'
    | 'schedule_claims'
    | 'reveal'
    | 'raise_funding'
    | 'open_lane'
    | 'fund'
    | 'push_approval'
    | 'cancel_funding'
    | 'take_rent'
    | 'release'
    | 'tell_wish'
    | 'wait';
  readonly leg: LegName | null;
  /** Unix seconds until which it is open; null: no limit of ours. */
  readonly before: number | null;
  readonly why?: string;
};

export function isAlone(effect: Effect): boolean {
  return (alone as readonly string[]).includes(effect.do);
}

/** How long claims and refunds of a leg are left to a batch (settle-many.ts). */
export type Leaving = {
  readonly ms: number;
  /** The policy's sum of an outage, time to react, and the way to the depth. */
  readonly needsSeconds: number;
  /** Since when one is open; null: it was not. Unix seconds. */
  readonly since: number | null;
};

type LegShown = LegSeen['leg'] &
  Pick<LegSeen, 'evidence'> & {
    readonly isFresh: boolean;
  };

export type Facts = {
  readonly record: SwapRecord;
  /** As its own chain showed it last; `isFresh`: just now. */
  readonly legs: Partial<Record<LegName, LegShown>>;
  /** Whether it is time to ask the market where the legs are. */
  readonly isMarketDue: boolean;
  /** Absent: the escrow is empty. */
  readonly leaving?: Partial<Record<LegName, Leaving>>;
  /** Whether this run has sent a refund, or found that none can be paid. Absent: it has not. */
  readonly isRefundTried?: boolean;
  /** Whether this run has tried to release the leg that pays often enough. Absent: it has not. */
  readonly isReleaseTried?: boolean;
  /**
   * Whether a restored swap may have been given up on the lost device, for all that is known: its
   * secret is not told then. Absent: it was not.
   */
  readonly mayBeGivenUp?: boolean;
};

/** Debts that the wallets of this side have to cover, beside other swaps. */
export type Owes = {
  /** The cost of the own claim. */
  readonly claim: boolean;
  /** A funding that no balance shows yet. */
  readonly funding: boolean;
};

export type Next = {
  readonly state: SettleState;
  /** Where a swap is that seems to have ended, until each node had its time to speak against it. */
  readonly unconfirmed?: SettleState;
  readonly effects: readonly Effect[];
  /** null: not both chains have answered. */
  readonly owes: Owes | null;
};

type OwnClocks = Pick<Clocks, 'wall'> & Partial<Clocks>;

/** `state` is the last one. A silent chain keeps it, but for the claim of a public secret. */
export function next(state: SettleState, facts: Facts, clocks: OwnClocks): Next {
  const { record } = facts;
  const legs = legsSeen(facts, clocks);
  const { a, b } = legs;
  const seen = a && b ? seenOf(record, { a, b }, clocks.wall) : null;
  const earliest = ownEarliest(record, legs);
  if (seen !== null && seen.doubt === undefined && hasEnded(facts, seen, earliest)) {
    const { gives } = ownSides(record);
    const { family, facts: own } = seen.state.legs[gives];
    // A claim without the funder's account leaves rent behind.
    const hasRent = has(family, 'rent') && own.claimed !== null;
    const effects = hasRent ? [effect('take_rent', gives)] : [];
    const owes = { claim: false, funding: false };
    return { state: 'settled', unconfirmed: nearEnd(state, seen, gives), effects, owes };
  }
  const { gives, gets } = ownSides(record);
  const effects = [gets, gives].flatMap((name) => {
    const leg = legs[name];
    return leg && facts.legs[name]?.isFresh ? aloneEffects(facts, leg, clocks.wall) : [];
  });
  if (seen === null) {
    const isRefunding = effects.some((each) => each.do === 'refund');
    const half = halfSeen(state, record, legs[gets], isRefunding);
    return { state: forward(state, half, legs[gets]), effects, owes: null };
  }
  const paying = legs[gets];
  const isPast = paying !== undefined && takesNoClaim(paying);
  return {
    state: forward(state, stateOf(record, seen, isPast), paying),
    effects: [...effects, ...togetherEffects(facts, seen, effects)],
    owes: owesOf(record, seen, isPast),
  };
}

/** Paid, or paid back; else it stays where it was. */
function nearEnd(last: SettleState, { state: { legs } }: Seen, gives: LegName): SettleState {
  if (legStatus(legs[otherLeg(gives)].facts) === 'claimed') return 'received';
  return legStatus(legs[gives].facts) === 'refunded' ? 'refunding' : last;
}

/** A swap that was emitted as received stays so while nodes differ, though the claim is tried. */
function forward(last: SettleState, now: SettleState, paying: LegSeen | undefined): SettleState {
  const isUnsure = paying?.evidence?.agreed === false;
  return last === 'received' && now === 'claiming' && isUnsure ? last : now;
}

/** By one chain: a payment that was observed stays paid while the other chain is silent. */
function halfSeen(
  state: SettleState,
  { publicSecret }: SwapRecord,
  paying: LegSeen | undefined,
  isRefunding: boolean,
): SettleState {
  if (publicSecret === null) return isRefunding ? 'refunding' : state;
  const isPaid =
    paying === undefined
      ? state === 'received' || state === 'refunding'
      : legStatus(paying.leg.facts) === 'claimed';
  if (isPaid) return isRefunding || state === 'refunding' ? 'refunding' : 'received';
  const isPast = paying !== undefined && takesNoClaim(paying);
  return isPast && isRefunding ? 'refunding' : 'claiming';
}

/** Only Bitcoin takes a claim past its timelock. In doubt a claim is tried. */
function takesNoClaim({ leg, clock, evidence }: LegSeen): boolean {
  return !has(leg, 'lateClaims') && clock >= leg.timelock && evidence?.agreed !== false;
}

function effect(what: Effect['do'], leg: LegName | null, before: number | null = null): Effect {
  return { do: what, leg, before };
}

function legsSeen({ legs }: Facts, clocks: OwnClocks): Partial<Record<LegName, LegSeen>> {
  const seen: Partial<Record<LegName, LegSeen>> = {};
  for (const name of ['a', 'b'] as const) {
    const leg = legs[name];
    const clock = clocks[name];
    if (leg === undefined || clock === undefined) continue;
    const { evidence } = leg;
    seen[name] = evidence === undefined ? { leg, clock } : { leg, clock, evidence };
  }
  return seen;
}

/** Steps that the rules open to this side. */
function openSteps({ swap }: SwapRecord, { state, clocks }: Seen): Step[] {
  return nextSteps(state, clocks).filter(({ by }) => by === swap.role);
}

function stateOf(record: SwapRecord, seen: Seen, isPast: boolean): SettleState {
  const { gives, gets } = ownSides(record);
  const own = seen.state.legs[gives];
  const other = seen.state.legs[gets];
  const ownStatus = legStatus(own.facts);
  const otherStatus = legStatus(other.facts);
  const open = openSteps(record, seen);
  const has = (action: Step['action'], leg: LegName) =>
    open.some((step) => step.action === action && step.leg === leg);
  // The claimer of the own leg has shown the secret, found yet or not.
  const isPublic = seen.state.secret !== null || ownStatus === 'claimed';
  const isPaying = otherStatus === 'seen' || otherStatus === 'funded' || ownStatus === 'claimed';
  if (isPublic && isPaying && otherStatus !== 'claimed' && !isPast) return 'claiming';
  if (own.facts.refunded !== null || has('refund', gives)) return 'refunding';
  if (otherStatus === 'claimed') return 'received';
  if (isLate(record, seen)) return 'cancelling';
  if (record.givenUp !== undefined) return 'giving_up';
  const isSure = seen.doubt === undefined;
  if (isSure && has('claim', gets) && !isPublic) return 'revealing';
  if (ownStatus === 'funded') return 'funded';
  const isBegun = mayBeFunded(record) || Boolean(record.approval) || ownStatus === 'seen';
  const mayBegin = isSure && has('fund', gives) && !record.restored;
  return isBegun || mayBegin ? 'funding' : 'waiting_to_fund';
}

/** The earliest clock among the nodes of the own leg's chain. */
function ownEarliest(record: SwapRecord, legs: Partial<Record<LegName, LegSeen>>): UnixSeconds {
  const own = legs[ownSides(record).gives];
  return own?.evidence?.earliest ?? own?.clock ?? 0;
}

/** Whether nothing can be gained or lost by this side any more. */
function hasEnded(facts: Facts, seen: Seen, ownClock: UnixSeconds): boolean {
  // The other side waits for its word.
  if (wordEffects(facts, seen).length > 0) return false;
  const { record, isRefundTried = false } = facts;
  const { state, clocks } = seen;
  const { gives, gets } = ownSides(record);
  const own = state.legs[gives];
  const other = state.legs[gets];
  const ownStatus = legStatus(own.facts);
  const otherStatus = legStatus(other.facts);
  const latest = Math.max(pessimistic(clocks, state.legs.a), pessimistic(clocks, state.legs.b));
  const { funded, claimed, refunded, balance, empty } = own.facts;
  // A balance beside the funding is tried once a run: strangers could renew it without end.
  const isDue = balance > 0n && hasPassed(own, own.timelock, clocks) && !isRefundTried;
  // Too little, paid by hand, is refunded. Payments after the end are left to another run. A
  // restored record does not know who paid.
  const isUnmined = (claimed ?? refunded) === null && (funded?.confirmations ?? 0) === 0;
  const isByOthers = record.byHand === true || record.restored === true;
  const isWatched = ownClock <= own.timelock + lateWatchSeconds;
  const isLeft = isByOthers && isWatched && (balance > 0n || (isUnmined && !empty));
  const isBegun = isFundingSigned(record) || Boolean(record.approval) || isLeft;
  // A payment that this side never signed, and that no block takes, is a stranger's.
  const isOfNobody = funded !== null && isUnmined;
  // A payee that uses its lane up hides that the leg was never funded.
  const isHidden = isUnknown(own.facts) && funded === null && !isByOthers;
  const untouched = (ownStatus === 'unfunded' || isOfNobody || isHidden) && !isBegun;
  // A funding that a lost device signed may still come: on Bitcoin no time ends it.
  const last = record.restored ? own.timelock : fundBy(state, own);
  // A payment of others is not known to this device: its chain has to be past the time.
  const isPast = latest > last || state.secret !== null || record.givenUp !== undefined;
  const isOver = isByOthers ? ownClock > last : isPast;
  const neverFunds = untouched && isOver;
  // A person who paid twice by hand gets it back in the same run.
  const isTwice = isByOthers && isWatched && !isRefundTried && isMuch(balance, own.amount);
  const isSpent = (ownStatus === 'claimed' || ownStatus === 'refunded') && !isTwice;
  if (isDue || !(isSpent || neverFunds)) return false;
  // A reorganisation took its funding back: it may come again.
  const isTakenBack = otherStatus === 'unfunded' && clocks[gets] < other.timelock;
  const otherOpen =
    otherStatus === 'funded' || otherStatus === 'seen' || (ownStatus === 'claimed' && isTakenBack);
  // The claimer of the own leg has shown the secret, found yet or not: it opens the other leg.
  const isPublic = state.secret !== null || ownStatus === 'claimed';
  return !otherOpen || !isPublic;
}

/** Effects that this chain alone opens to this side: a claim with a public secret, or a refund. */
function aloneEffects({ record, leaving }: Facts, seen: LegSeen, wall: number): Effect[] {
  const { leg, clock } = seen;
  const { leg: name, facts, timelock } = leg;
  const verb = name === ownSides(record).gives ? 'refund' : 'claim';
  if (verb === 'claim' && record.publicSecret === null) return [];
  const shown = verb === 'claim' ? facts.claimed : facts.refunded;
  const kept = record[verb];
  // Elsewhere the hand that looks after it raises it. Before the timelock no leaf refunds.
  const isByBoth = verb === 'refund' && isTaproot(leg) && clock <= timelock;
  const isRaised = has(leg, 'coins') && !isByBoth;
  const waits = isRaised && kept !== null && isWaiting(shown, [kept.txid]);
  const replace = waits ? [effect('replace', name)] : [];
  const open = openSteps(record, aloneOf(record, seen, wall));
  const step = open.find(({ action, leg: about }) => action === verb && about === name);
  if (step === undefined) return replace;
  const isEarly = verb === 'refund' && clock < timelock;
  const left = isEarly ? undefined : leaving?.[name];
  if (kept === null && left && isLeft(left, verb, timelock - clock, wall)) {
    const why = `the ${verb} of leg ${name} is left to a batch for now`;
    return [{ ...effect('leave_to_batch', name), why }];
  }
  // Sending it then could only tell the secret.
  const isOver = verb === 'claim' && takesNoClaim(seen);
  return [...replace, effect(isOver ? 'withdraw_claim' : verb, name, step.before)];
}

function isWaiting(shown: Sighting | null, txids: readonly string[]): boolean {
  return shown !== null && shown.confirmations === 0 && txids.includes(shown.txid);
}

function isLeft(
  { ms, needsSeconds, since }: Leaving,
  verb: 'claim' | 'refund',
  leftSeconds: number,
  wall: number,
): boolean {
  if (verb === 'claim' && leftSeconds <= needsSeconds) return false;
  return (wall - (since ?? wall)) * 1_000 < ms;
}

/** To give up: the leg that pays this side is released, or the market hears the wish alone. */
function wordEffects(facts: Facts, seen: Seen): Effect[] {
  const { record, isReleaseTried = false } = facts;
  if (isReleaseTried) return [];
  const { gives, gets } = ownSides(record);
  const { givenUp } = record;
  const step = openSteps(record, seen).find(({ action }) => action === 'release');
  const { state, clocks } = seen;
  const own = state.legs[gives];
  const earliest = facts.legs[gives]?.evidence?.earliest ?? clocks[gives];
  // With its own leg open a device of the initiator releases for its person alone.
  const mayRelease =
    isOut(own, { ...clocks, [gives]: earliest }, 'counts') ||
    (own.long && givenUp?.byPerson === true);
  if (step !== undefined && mayRelease) return [effect('release', gets, step.before)];
  return givenUp !== undefined && givenUp.told === undefined ? [effect('tell_wish', gets)] : [];
}

/** Effects that need both chains: funding and revealing. */
function togetherEffects(facts: Facts, seen: Seen, before: readonly Effect[]): Effect[] {
  const { record, isMarketDue } = facts;
  const effects: Effect[] = [];
  const isMovable = mayMove(record, seen, 'a') || mayMove(record, seen, 'b');
  if (isMarketDue && isMovable) effects.push(effect('ask_market', null));
  const { gives, gets } = ownSides(record);
  const isFresh = (name: LegName) => facts.legs[name]?.isFresh ?? false;
  if (isFresh(gives) && mayScheduleRefunds(record, seen)) {
    effects.push(effect('schedule_refunds', gives));
  }
  // Before the own funding: from then on this side may be away.
  if (isFresh(gets) && mayScheduleClaims(record, seen)) {
    effects.push(effect('schedule_claims', gets));
  }
  const isActing = before.some((each) => each.do !== 'replace');
  if (isActing) return effects;
  if (seen.doubt === undefined) {
    const lent = laneEffects(facts, seen);
    return [...effects, ...lent, ...wordEffects(facts, seen), ...mostUrgent(facts, seen)];
  }
  // In the same words at each look: the doubt is emitted beside it, with its numbers.
  const unsure = (['a', 'b'] as const).filter((leg) => isUnsure(facts.legs[leg]));
  if (unsure.length === 0) return effects;
  const legs = unsure.join(' and ');
  const why = `no step begins or ends while the nodes of leg ${legs} are not sure`;
  return [...effects, { ...effect('wait', null), why }];
}

/** The funder of the other leg waits for the signature only for a while. */
function laneEffects({ record }: Facts, seen: Seen): Effect[] {
  const step = openSteps(record, seen).find(({ action }) => action === 'open_lane');
  return step === undefined ? [] : [effect('open_lane', step.leg, step.before)];
}

/** Nodes that differ for a moment are no news. */
function isUnsure(leg: LegShown | undefined): boolean {
  if (leg?.evidence === undefined || leg.evidence.agreed) return false;
  return leg.evidence.doubts.length === 0 || toldOf(leg).length > 0;
}

/**
 * Whether a leg may still move to another escrow: with the secret public none may be funded. No leg
 * moves once it may hold money, however one look shows it: else a market could replace the escrow
 * that pays this side by an empty one. So a counterparty that may have funded moves nothing; an
 * initiator follows the other side's lane until its escrow was once in a block.
 */
export function mayMove(record: SwapRecord, { state, doubt }: Seen, name: LegName): boolean {
  const isOpen = legStatus(state.legs[name].facts) === 'unfunded';
  const { address } = legOf(record, name).escrow;
  const wasFunded = (record.seen?.[address]?.funded?.confirmations ?? 0) > 0;
  const isOwn = name === ownSides(record).gives;
  const fixes = isOwn || record.swap.role === 'counterparty';
  const isFixed = record.restored === true || (fixes && mayBeFunded(record));
  const isSure = doubt === undefined;
  return record.publicSecret === null && isOpen && isSure && !wasFunded && !isFixed;
}

/** Whether signed refunds of the own leg's final payments may be left with the market. */
function mayScheduleRefunds(record: SwapRecord, seen: Seen): boolean {
  const { gives, gets } = ownSides(record);
  const { state } = seen;
  // A claim with a public secret waits for nothing.
  const otherStatus = legStatus(state.legs[gets].facts);
  const isClaiming = otherStatus === 'funded' || otherStatus === 'seen';
  if (record.publicSecret !== null && isClaiming) return false;
  return record.refund === null && maySign(seen, gives);
}

/** The same of signed claims of the leg that pays this side: with the secret public it claims. */
function mayScheduleClaims(record: SwapRecord, seen: Seen): boolean {
  const { gets } = ownSides(record);
  return record.publicSecret === null && record.claim === null && maySign(seen, gets);
}

function maySign({ state, clocks }: Seen, name: LegName): boolean {
  const { family, facts, timelock } = state.legs[name];
  const { funded, claimed, refunded } = facts;
  const isSpent = claimed !== null || refunded !== null;
  return has(family, 'coins') && !isSpent && Boolean(funded?.deep) && clocks[name] <= timelock;
}

/** The most urgent step that the rules open to this side by both chains. */
function mostUrgent({ record, mayBeGivenUp = false }: Facts, seen: Seen): Effect[] {
  const { gives, gets } = ownSides(record);
  const open = openSteps(record, seen);
  const find = (action: Step['action'], leg: LegName) =>
    open.find((step) => step.action === action && step.leg === leg);
  const claim = find('claim', gets);
  if (claim && seen.state.secret === null && (mayBeGivenUp || record.refund !== null)) {
    const why =
      record.refund === null
        ? 'the market has yet to say that this swap was not given up on another device'
        : `the refund ${record.refund.txid} of leg ${gives} is out: it tells no secret`;
    return [{ ...effect('wait', gets), why }];
  }
  // A secret that was seen a moment ago is kept first.
  if (claim) return seen.state.secret === null ? [effect('reveal', gets, claim.before)] : [];
  const by = fundBy(seen.state, seen.state.legs[gives]);
  const raise = mayRaise(record, seen) ? [effect('raise_funding', gives, by)] : [];
  if (find('fund', gives) && !record.restored) return [...raise, effect('fund', gives, by)];
  // The transaction that takes the late funding's nonce waits behind a waiting approval.
  const push = record.approval ? [effect('push_approval', gives)] : [];
  if (isLate(record, seen)) return [...push, effect('cancel_funding', gives)];
  const [first] = open.filter(({ action }) => action !== 'open_lane');
  if (push.length > 0 || first === undefined) return [...raise, ...push];
  return [...raise, { ...effect('wait', first.leg, first.before), why: first.why }];
}

/**
 * By the own clock AND its chain's. After an own claim the funding is left to arrive: it was
 * promised.
 */
export function isLate(record: SwapRecord, { state, clocks }: Seen): boolean {
  const { gives } = ownSides(record);
  const { funded, claimed, refunded } = state.legs[gives].facts;
  if (!isFundingSigned(record) || record.claim !== null) return false;
  if ((funded?.confirmations ?? 0) > 0 || claimed !== null || refunded !== null) return false;
  const { swap } = record;
  return Math.min(clocks.wall, clocks[gives]) > fundBy(swap, swap.legs[gives]);
}

export function mayRaise(record: SwapRecord, { state, clocks }: Seen): boolean {
  const { funding, cancel, claim } = record;
  const { gives } = ownSides(record);
  const own = state.legs[gives];
  if (!has(own, 'coins') || funding === null || cancel || claim !== null) return false;
  const { funded, claimed, refunded } = own.facts;
  const isUnmined = funded === null || isWaiting(funded, versionsOf(funding));
  if (claimed !== null || refunded !== null || !isUnmined) return false;
  try {
    const unseen = { ...own, facts: nothingSeen };
    fundGate({ ...state, legs: { ...state.legs, [gives]: unseen } }, gives, clocks);
    return true;
  } catch (error) {
    if (error instanceof ParleyError) return false;
    throw error;
  }
}

/** The own claim is owed from the funding on, until it is final or nobody takes one any more. */
function owesOf(record: SwapRecord, { state }: Seen, isPast: boolean): Owes {
  const { gives, gets } = ownSides(record);
  const own = state.legs[gives].facts;
  const other = state.legs[gets];
  const isFunded = mayBeFunded(record) || own.funded !== null;
  return {
    claim: isFunded && !isPast && !other.facts.claimed?.deep,
    funding: record.funding !== null && (own.funded?.confirmations ?? 0) === 0,
  };
}
