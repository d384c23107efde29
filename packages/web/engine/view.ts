// The view of a swap for a screen: pure, from the record, the chains and the progress of the SDK.

import type { EscrowFacts } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { lateWatchSeconds } from '@parley/core/remains.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import type { Evidence } from '@parley/sdk/evidence/judge.ts';
import type { Outcome, SettleState } from '@parley/sdk/settle.ts';
import { readKept } from '@parley/sdk/stores/store.ts';
import { givenLeg, type OwnTrade, type VerifiedSwap } from '@parley/sdk/trade.ts';
import type {
  Ask,
  Check,
  Happened,
  LegView,
  Phase,
  Problem,
  Relayed,
  SwapView,
  Verb,
} from './types.ts';

/** How far a wallet of a person is with one thing. */
export type Prompt = {
  readonly verb: Verb;
  readonly is: 'needed' | 'open' | 'declined';
  readonly sinceMs: number;
};

/** Each leg as its chain has shown it, with the chain's own clock then. */
type LegsShown = { readonly legs: ReadonlyMap<LegName, LegShown> };
type LegShown = {
  readonly leg: { readonly facts: EscrowFacts };
  readonly clock: UnixSeconds;
  /** Absent once it has ended. */
  readonly evidence?: Pick<Evidence, 'doubts' | 'agreed'>;
};

export type Told = {
  readonly trade: OwnTrade;
  /** Before both sides have named their addresses: as it is expected, without escrows. */
  readonly swap: VerifiedSwap;
  readonly phase: Phase;
  readonly state: SettleState;
  readonly shown: LegsShown | null;
  readonly isVerified: boolean;
  /** Whether the SDK has told the person to pay by hand, in this run. */
  readonly isToPay: boolean;
  readonly isByHand: boolean;
  readonly isRefundLeft: boolean;
  readonly isClaimLeft: boolean;
  readonly relay: Relayed | null;
  readonly isRestored: boolean;
  readonly isGivenUp: boolean;
  readonly lacks: 'phrase' | 'payout' | null;
  /** Bitcoin: where claim and refund are paid, in the place of the address of the key. */
  readonly payout: string | null;
  /** Legs whose wallet is not connected. */
  readonly away: readonly LegName[];
  readonly prompts: readonly Prompt[];
  /** The last sentence about waiting. */
  readonly waits: string | null;
  readonly problems: readonly Problem[];
  readonly history: readonly Happened[];
  readonly end: Outcome | null;
};

export function viewOf(told: Told, now: UnixSeconds): SwapView {
  const { trade, swap } = told;
  const gives = givenLeg(trade.party);
  return {
    id: swap.id,
    phase: told.phase,
    state: told.state,
    trade,
    party: trade.party,
    role: swap.role,
    gives,
    legs: { a: legView(told, 'a', gives), b: legView(told, 'b', gives) },
    agreedAt: swap.agreedAt,
    deadlines: swap.deadlines,
    asks: told.phase === 'ended' ? [] : asksOf(told, gives, now),
    checks: checksOf(told),
    problems: told.phase === 'ended' ? [] : told.problems,
    history: told.history,
    end: told.end,
    isRestored: told.isRestored,
    isGivenUp: told.isGivenUp,
    isByHand: told.isByHand,
    isRefundLeft: told.isRefundLeft,
    isClaimLeft: told.isClaimLeft,
    relay: told.relay,
  };
}

function legView(told: Told, name: LegName, gives: LegName): LegView {
  const { trade, swap, shown, payout } = told;
  const { leg, chain, family, assetId, amount, long, timelock, requiredConfirmations, escrow } =
    swap.legs[name];
  const seen = shown?.legs.get(name) ?? null;
  const own = name === gives ? trade.refundTo : trade.payTo;
  const { doubts = [], agreed = true } = seen?.evidence ?? {};
  return {
    leg,
    chain,
    family,
    amount,
    timelock,
    requiredConfirmations,
    asset: assetId === trade.base.id ? trade.base : trade.quote,
    isLong: long,
    escrow: escrow?.address ?? null,
    ...(escrow?.terms.form && { form: escrow.terms.form }),
    facts: seen?.leg.facts ?? null,
    doubts: seen?.evidence?.doubts ?? [],
    // A hold that lasts a moment has no doubt.
    isHeldUp: !agreed && doubts.length > 0,
    clock: seen?.clock ?? null,
    ownAddress: has(family, 'coins') ? (payout ?? own.address) : own.address,
  };
}

/** The most urgent first. */
function asksOf(told: Told, gives: LegName, now: UnixSeconds): Ask[] {
  const { swap, lacks, away, prompts, waits } = told;
  const bitcoin = (['a', 'b'] as const).find((name) => has(swap.legs[name], 'coins'));
  const asks: Ask[] = [];
  if (lacks === 'phrase') asks.push({ kind: 'need_phrase' });
  if (lacks === 'payout' && bitcoin !== undefined) {
    asks.push({ kind: 'name_payout', leg: bitcoin, chain: swap.legs[bitcoin].chain });
  }
  const due = prompts.filter((each) => isDue(told, each));
  const moves = due.map((each) => promptAsk(told, each, gives));
  const isAsked = (leg: LegName) => moves.some((move) => 'leg' in move && move.leg === leg);
  const connects = (legs: readonly LegName[]) => legs.map((leg) => connectOf(told, leg, gives));
  // The wallet that receives is needed later than the one that is asked now.
  asks.push(...connects(away.filter(isAsked)), ...moves);
  asks.push(...connects(away.filter((leg) => !isAsked(leg))));
  const payment = told.isToPay ? paymentOf(told, gives, now) : null;
  if (payment !== null) asks.push(payment);
  if (waits !== null || asks.length === 0) {
    asks.push({ kind: 'wait', why: waits ?? '', until: untilOf(told, gives) });
  }
  return asks;
}

function connectOf({ swap, trade }: Told, leg: LegName, gives: LegName): Ask {
  const { chain, family } = swap.legs[leg];
  const { address } = leg === gives ? trade.refundTo : trade.payTo;
  return { kind: 'connect_wallet', leg, chain, family, address };
}

/** A claim that was never signed goes out of date. One that the wallet shows stays in sight. */
function isDue({ state }: Told, { verb, is }: Prompt): boolean {
  return verb !== 'claim' || is === 'open' || state === 'revealing' || state === 'claiming';
}

function promptAsk({ swap }: Told, { verb, is, sinceMs }: Prompt, gives: LegName): Ask {
  const leg = verb === 'claim' || verb === 'release' ? otherLeg(gives) : gives;
  const { chain, family } = swap.legs[leg];
  if (is === 'declined') return { kind: 'declined', leg, family, verb };
  if (is === 'needed') return { kind: 'sign', leg, chain, family, verb };
  return { kind: 'confirm_in_wallet', leg, chain, family, verb, sinceMs };
}

/** Never once a payment of the amount was seen: a second one is locked until the timelock. */
function paymentOf({ swap, shown }: Told, gives: LegName, now: UnixSeconds): Ask | null {
  const { escrow, amount, long } = swap.legs[gives];
  const facts = shown?.legs.get(gives)?.leg.facts;
  const notAfter = fundBy(swap, { long });
  if (escrow === null || facts === undefined || facts.funded !== null || now > notAfter)
    return null;
  const { address } = escrow;
  const uri = `bitcoin:${address}?amount=${coins(amount)}`;
  return { kind: 'pay_by_hand', leg: gives, address, amount, uri, notAfter };
}

/** BIP 21 counts in coins, with a point. */
function coins(sats: bigint): string {
  const digits = sats.toString().padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '');
}

/** The next moment that matters to this side; null: unknown. */
function untilOf({ state, swap }: Told, gives: LegName): UnixSeconds | null {
  const { deadlines, legs, role } = swap;
  switch (state) {
    case 'preparing':
      return deadlines.initiatorFundBy;
    case 'waiting_to_fund':
    case 'funding':
      return fundBy(swap, legs[gives]);
    case 'funded':
      return role === 'initiator' ? deadlines.revealBy : legs[gives].timelock;
    case 'revealing':
      return deadlines.revealBy;
    case 'claiming':
      return legs[otherLeg(gives)].timelock;
    case 'cancelling':
    case 'giving_up':
    case 'received':
    case 'refunding':
      return legs[gives].timelock;
    case 'settled':
      return null;
  }
}

function checksOf({ isVerified, swap }: Told): Check[] {
  if (!isVerified) return [];
  const { a, b } = swap.legs;
  const confirmations = `${a.requiredConfirmations} and ${b.requiredConfirmations}`;
  return [
    {
      name: 'agreed',
      ok: true,
      sentence: 'parties, amounts, hashlock and deadlines are those of your own acceptance',
    },
    {
      name: 'escrows',
      ok: true,
      sentence: `both escrows were computed here from those terms; final after ${confirmations} blocks`,
    },
  ];
}

type Paying = Pick<Told, 'trade' | 'swap' | 'isByHand' | 'isRestored'>;

/**
 * Whether a payment may come after that end: by hand, or of a device that is lost. It comes back
 * after the timelock, if somebody looks. Escrows of other families take none that is late.
 */
export function mayStillCome(
  { trade, swap, isByHand, isRestored }: Paying,
  { end }: Outcome,
): boolean {
  const { family } = swap.legs[givenLeg(trade.party)];
  return end === 'nothing' && (isByHand || (isRestored && has(family, 'coins')));
}

/** Whether an ended one is looked at again: for that, or for what a refund can still bring back. */
export function isLookedAtAgain(told: Paying, outcome: Outcome, now: UnixSeconds): boolean {
  // Absent in what a former build has kept. Strangers could renew it without end.
  const { remains = null } = outcome as Partial<Outcome>;
  const isLeft = remains !== null && now <= remains.refundableAt + lateWatchSeconds;
  return isLeft || mayStillCome(told, outcome);
}

/** Open ones by the next deadline, then ended ones, the newest first. */
export function inOrder(views: readonly SwapView[]): SwapView[] {
  const due = (view: SwapView) => nextDeadline(view) ?? Infinity;
  return views.toSorted((one, other) => {
    const ended = Number(one.phase === 'ended') - Number(other.phase === 'ended');
    if (ended !== 0) return ended;
    return one.phase === 'ended' ? other.agreedAt - one.agreedAt : due(one) - due(other);
  });
}

function nextDeadline({ asks, legs, gives }: SwapView): UnixSeconds | null {
  const until = asks.find((each) => each.kind === 'wait');
  return until?.until ?? legs[gives].timelock;
}

export type Ended = {
  readonly outcome: Outcome;
  readonly told: Omit<Told, 'shown' | 'history'>;
  /** Absent in what a former build has kept. */
  readonly legs?: readonly (readonly [LegName, LegShown])[];
};

export function endedOf(outcome: Outcome, { shown, history: _, ...told }: Told): Ended {
  const legs = [...(shown?.legs ?? [])].map(([name, { leg, clock }]) => {
    return [name, { leg: { facts: leg.facts }, clock }] as const;
  });
  return { outcome, told: { ...told, phase: 'ended', end: outcome }, legs };
}

export function endedView(text: string, history: Told['history']): SwapView {
  const { outcome, told, legs = [] } = readKept<Ended>(text);
  const shown = { legs: new Map(legs) };
  return viewOf({ ...told, history, shown, end: outcome, phase: 'ended' }, 0);
}
