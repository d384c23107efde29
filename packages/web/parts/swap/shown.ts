// The words of a swap's screen: a pure function of the known facts. Screens draw it.

import type { EscrowFacts, Sighting } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { extraOf } from '@parley/sdk/settle/extra.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { whyNotToPay } from '../../engine/by-wallet.ts';
import type { Ask, Happened, LegView, SwapView } from '../../engine/types.ts';
import { formatDuration, formatPrice, localTime } from '../../texts/people.ts';
import { text, type Values } from '../../texts/texts.ts';
import { amountText, chainName, type Listed, symbolOf } from '../words.ts';
import { type Line, leftText, lineOf, type Step, stepsOf } from './progress.ts';
import {
  clockOf,
  endOf,
  factsOf,
  fundByOf,
  isToPay,
  mustStay,
  type Seen,
  type Situation,
  sidesOf,
  situationOf,
} from './situation.ts';
import { inCoins } from './warnings.ts';

type Tone = 'act' | 'wait' | 'good' | 'bad';

export type StepShown = {
  readonly label: string;
  readonly state: 'done' | 'now' | 'later' | 'never';
  readonly detail: string;
  readonly txid: string | null;
};

export type LegShown = {
  readonly title: string;
  readonly chain: string;
  readonly escrow: string | null;
  /** null: no coins are locked any more. */
  readonly lock: string | null;
  readonly steps: readonly StepShown[];
};

export type Shown = {
  readonly situation: Situation;
  readonly tone: Tone;
  /** Over the title: the side that acts next. */
  readonly turn: string;
  /** Beside it: how long is left. */
  readonly left: string | null;
  readonly steps: readonly Step[];
  readonly line: Line | null;
  readonly title: string;
  readonly now: string;
  readonly next: string;
  readonly away: string;
  readonly lose: string;
  readonly clock: { readonly at: UnixSeconds; readonly is: 'until' | 'from' } | null;
  /** Own one first. */
  readonly legs: readonly [LegShown, LegShown];
  /** The page must send its next step now, not later. */
  readonly mustStay: boolean;
  /** For the texts of what is asked. */
  readonly values: Values;
};

const tones: Readonly<Partial<Record<Situation, Tone>>> = {
  pay: 'act',
  pay_again: 'act',
  wallet_confirm: 'act',
  wallet_silent: 'act',
  wallet_failed: 'act',
  wallet_unseen: 'act',
  collect: 'act',
  fund: 'act',
  decide_extra: 'act',
  done_received: 'good',
  received: 'good',
  done_lost: 'bad',
  pay_too_late: 'bad',
};

export function shown(seen: Seen, listed: readonly Listed[]): Shown {
  const situation = situationOf(seen);
  const { own, other } = sidesOf(seen.swap);
  const values = valuesOf(seen, listed);
  const say = (part: 'title' | 'now' | 'next' | 'away' | 'lose') =>
    text(`settlement.${situation}.${part}`, values);
  const tone = tones[situation] ?? 'wait';
  const clock = clockOf(seen, situation);
  const stays = mustStay(seen, situation);
  const isBlind = isToPay(situation) && whyNotToPay(seen.swap) !== null;
  return {
    situation,
    tone: isBlind ? 'bad' : tone,
    turn: isBlind ? text('settlement.turn.bad') : turnOf(seen, tone, stays),
    left: isBlind ? null : leftOf(clock, seen.now),
    steps: stepsOf(seen.swap, situation),
    line: lineOf(seen, situation),
    title: isBlind ? text('settlement.pay_held.title') : say('title'),
    // A network fee was taken out of coins that a script paid.
    now:
      situation === 'done_received' && has(other, 'coins')
        ? text('settlement.done_received.net', values)
        : say('now'),
    next: isBlind ? text('settlement.pay_held.next') : say('next'),
    away: say('away'),
    lose: say('lose'),
    clock,
    legs: [
      legShown(own, 'own', String(values.gives), seen, situation),
      legShown(other, 'other', String(values.gets), seen, situation),
    ],
    mustStay: stays,
    values,
  };
}

function turnOf({ swap }: Seen, tone: Tone, stays: boolean): string {
  if (swap.phase === 'ended') return text('settlement.turn.over');
  if (swap.phase === 'stopped') return text('settlement.turn.act');
  if (tone === 'act' && !stays) return text('settlement.turn.act');
  // A wallet that is asked for ahead of need is no turn of the person's: the title says who is next.
  const quiet: readonly Ask['kind'][] = ['wait', 'pay_by_hand', 'connect_wallet'];
  const isAsked = swap.asks.some(({ kind }) => !quiet.includes(kind));
  if (isAsked) return text('settlement.turn.act');
  return text(stays ? 'settlement.turn.stay' : `settlement.turn.${tone}`);
}

function leftOf(clock: Shown['clock'], now: UnixSeconds): string | null {
  if (clock === null) return null;
  const seconds = clock.at - now;
  if (seconds > 0) return text(`settlement.left.${clock.is}`, { time: leftText(seconds) });
  return clock.is === 'until' ? text('settlement.left.over') : null;
}

export function amountsOf({ swap }: Pick<Seen, 'swap'>, listed: readonly Listed[]) {
  const { own, other } = sidesOf(swap);
  const amountOf = ({ amount, asset, family }: LegView, units = amount) =>
    amountText(units, asset.decimals, symbolOf(asset, family, listed));
  return {
    gives: amountOf(own),
    gets: amountOf(other),
    inOwn: (units: bigint) => amountOf(own, units),
  };
}

/** The mark is that of a listed token at its own contract; anybody's has a letter. */
export function markedAs({ asset, family, chain }: LegView, listed: readonly Asset[]) {
  const { token: address } = asset;
  const known = listed.find((each) => each.chain === chain && each.address === address);
  const symbol = symbolOf(asset, family, listed);
  // Coins of the chains themselves are no token that anybody could imitate.
  const verified = address === null || (known?.verified ?? false);
  return { symbol, chain, address, verified };
}

function valuesOf(seen: Seen, listed: readonly Listed[]): Values {
  const { swap, now, payments } = seen;
  const { own, other } = sidesOf(swap);
  const mine = factsOf(own);
  const theirs = factsOf(other);
  const { gives, gets, inOwn } = amountsOf(seen, listed);
  const at = (time: UnixSeconds) => localTime(time, now);
  const little = payments.filter(({ spent }) => spent === null);
  const arrived = little.reduce((sum, { amount }) => sum + amount, 0n);
  const { initiatorFundBy, counterpartyFundBy, revealBy } = swap.deadlines;
  const [contract = ''] = (own.escrow ?? '').split(':');
  const { wallet } = seen;
  return {
    gives,
    gets,
    taken: isLittle(swap) ? text('settlement.back.payment') : gives,
    contract,
    escrow: own.escrow ?? '',
    wallet: wallet?.wallet ?? '',
    why: wallet?.why ?? '',
    askedAt: at(wallet?.at ?? now),
    since: formatDuration(Math.max(0, now - (wallet?.at ?? now))),
    arrived: inOwn(arrived > 0n ? arrived : mine.balance),
    extra: inOwn(extraOf(payments, own.amount)),
    address: own.ownAddress,
    payTo: other.ownAddress,
    required: own.requiredConfirmations,
    otherRequired: other.requiredConfirmations,
    confirmations: counted(mine.funded, own),
    otherConfirmations: counted(theirs.claimed, other),
    refundConfirmations: counted(mine.refunded, own),
    fundBy: at(fundByOf(swap)),
    initiatorFundBy: at(initiatorFundBy),
    counterpartyFundBy: at(counterpartyFundBy),
    revealBy: at(revealBy),
    refundAt: at(own.timelock),
    otherRefundAt: at(other.timelock),
    back: at(swap.role === 'initiator' ? revealBy : other.timelock),
  };
}

/** Blocks beyond those that are required are no more of them: `2 of 2`, never `7 of 2`. */
function counted(seen: Sighting | null, { requiredConfirmations: most }: LegView): number {
  return Math.min(seen?.confirmations ?? 0, most);
}

/** The swap does not go on: locked coins come back, and no more are paid in. */
const isComingBack: readonly Situation[] = [
  ...(['waits_for_refund', 'giving_up', 'refund', 'refunding', 'paid_little'] as const),
];

function legShown(
  leg: LegView,
  side: 'own' | 'other',
  amount: string,
  { swap, now }: Seen,
  situation: Situation,
): LegShown {
  const { facts, requiredConfirmations, timelock } = leg;
  const isBack = isComingBack.includes(situation);
  const isUnpaid = side === 'other' && isBack && (facts?.funded ?? null) === null;
  const isOver = swap.phase === 'ended' || isUnpaid;
  const paidIn = stepOf(text(`settlement.leg.${side}_in`), facts, facts?.funded ?? null, {
    requiredConfirmations,
    isDue: true,
    isOver,
  });
  const out = outOf(facts, isBack && side === 'own');
  const isIn = (facts?.funded ?? null) !== null;
  return {
    title: text(`settlement.leg.${side}`, { amount }),
    chain: leg.chain,
    escrow: leg.escrow,
    lock:
      isOver || out.seen !== null
        ? null
        : text(`settlement.leg.${isIn ? 'lock' : 'would_lock'}`, { at: localTime(timelock, now) }),
    steps: [
      paidIn,
      stepOf(text(`settlement.leg.${side}_${out.way}`), facts, out.seen, {
        requiredConfirmations,
        isDue: facts?.funded?.deep ?? false,
        isOver,
      }),
    ],
  };
}

/** By which way it leaves, or most probably will. */
function outOf(facts: EscrowFacts | null, isBack: boolean) {
  if (facts?.refunded != null || (isBack && facts?.claimed == null)) {
    return { way: 'back', seen: facts?.refunded ?? null } as const;
  }
  return { way: 'out', seen: facts?.claimed ?? null } as const;
}

type About = {
  readonly requiredConfirmations: number;
  readonly isDue: boolean;
  readonly isOver: boolean;
};

function stepOf(
  label: string,
  facts: EscrowFacts | null,
  seen: Sighting | null,
  { requiredConfirmations: required, isDue, isOver }: About,
): StepShown {
  const txid = seen?.txid ?? null;
  if (seen === null) {
    const state = isOver ? 'never' : isDue ? 'now' : 'later';
    const key = isOver ? 'never' : facts === null ? 'silent' : 'open';
    return { label, state, detail: text(`settlement.leg.${key}`), txid };
  }
  const { deep } = seen;
  const detail = deep ? text('settlement.leg.final') : blocksText(seen.confirmations, required);
  return { label, state: deep ? 'done' : 'now', detail, txid };
}

export function blocksText(confirmations: number, required: number): string {
  if (confirmations === 0) return text('settlement.leg.pool');
  const counts = Math.min(confirmations, required);
  return text('settlement.leg.blocks', { confirmations: counts, required });
}

/** `detail`: the SDK's words, in English, for whoever looks closer. */
type ToldHappened = { readonly said: string; readonly detail: string };

export function happenedText(
  { step, state, leg, text: told }: Happened,
  swap: SwapView,
  listed: readonly Listed[],
): ToldHappened {
  const { gives, gets } = amountsOf({ swap }, listed);
  const of: LegView = swap.legs[leg ?? swap.gives];
  const values = { gives, gets, chain: chainName(of.chain), address: of.ownAddress };
  const said =
    step === 'state'
      ? text(`settlement.happened.state.${state}`, values)
      : text(`settlement.happened.${step}`, values);
  const coin = symbolOf({ ...of.asset, token: null }, of.family, listed);
  return { said, detail: inCoins(told, coin) };
}

/** Less than what was agreed comes back: no payment was large enough. */
function isLittle(swap: SwapView): boolean {
  const { own } = sidesOf(swap);
  return has(own, 'coins') && factsOf(own).funded === null;
}

/** Why the coins of a swap came back. */
export function whyBack(swap: SwapView): string {
  const { other } = sidesOf(swap);
  if (swap.isGivenUp) return text('settlement.back.given_up');
  if (isLittle(swap)) return text('settlement.back.little');
  if (swap.role === 'counterparty') return text('settlement.back.not_collected');
  const isIn = factsOf(other).funded !== null;
  return text(isIn ? 'settlement.back.not_done' : 'settlement.back.not_locked');
}

/** `64 000 USDX for 1 BTC`, as it was agreed. */
export function rateText(swap: SwapView, listed: readonly Listed[]): string {
  const { base, quote, baseAmount, quoteAmount } = swap.trade;
  const symbol = (asset: typeof base) => {
    const { family } =
      [swap.legs.a, swap.legs.b].find((leg) => leg.asset.id === asset.id) ?? swap.legs.a;
    return symbolOf(asset, family, listed);
  };
  const of = { units: quoteAmount, decimals: quote.decimals };
  const per = { units: baseAmount, decimals: base.decimals };
  const price = `${formatPrice(of, per)}\u00a0${symbol(quote)}`;
  return text('settlement.rate', { price, unit: symbol(base) });
}

/** Lines of `name: value`; times in UTC. It holds no secret. */
export function receiptOf(swap: SwapView, product: string, listed: readonly Listed[]): string {
  const { own, other } = sidesOf(swap);
  const { gives, gets } = amountsOf({ swap }, listed);
  const lines = [
    `${product}: ${text('receipt.title', { id: swap.id })}`,
    text('receipt.agreed', { at: isoTime(swap.agreedAt) }),
    text(`receipt.end.${swap.end === null ? 'open' : endOf(swap)}`),
    ...legLines('given', gives, swap, own),
    ...legLines('received', gets, swap, other),
  ];
  return `${lines.join('\n').replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ')}\n`;
}

/** Only what a chain has shown was given or received; the rest was agreed and did not happen. */
function outcomeOf(side: 'given' | 'received', swap: SwapView, leg: LegView) {
  const facts = factsOf(leg);
  if (facts.refunded !== null && side === 'given' && isLittle(swap)) return 'receipt.given.little';
  if (facts.refunded !== null) return `receipt.${side}.back` as const;
  const isReceived = facts.claimed !== null || swap.end?.end === 'received';
  const isThere =
    side === 'received' ? isReceived : facts.claimed !== null || facts.funded !== null;
  if (!isThere) return `receipt.${side}.none` as const;
  if (side === 'received' && has(leg, 'coins')) return 'receipt.received.net' as const;
  return `receipt.${side}` as const;
}

function legLines(
  side: 'given' | 'received',
  amount: string,
  swap: SwapView,
  leg: LegView,
): string[] {
  const { funded, claimed, refunded } = factsOf(leg);
  const line = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`  ${name}: ${value}`];
  return [
    '',
    text(outcomeOf(side, swap, leg), { amount, chain: chainName(leg.chain) }),
    ...line(text('receipt.token'), leg.asset.token ?? undefined),
    ...line(text('receipt.escrow'), leg.escrow ?? undefined),
    ...line(text('receipt.own'), leg.ownAddress),
    ...line(text('receipt.locked'), funded?.txid),
    ...line(text('receipt.collected'), claimed?.txid),
    ...line(text('receipt.back'), refunded?.txid),
  ];
}
