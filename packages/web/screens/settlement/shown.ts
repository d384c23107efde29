// The words of a swap's screen: a pure function of the known facts. Screens draw it.

import type { EscrowFacts, Sighting } from '@parley/core/facts.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { isoTime } from '@parley/sdk/people.ts';
import { extraOf } from '@parley/sdk/settle/extra.ts';
import type { Happened, LegView, SwapView } from '../../engine/types.ts';
import { amountText, chainName, type Listed, symbolOf } from '../../parts/words.ts';
import { formatDuration, localTime } from '../../texts/people.ts';
import { text, type Values } from '../../texts/texts.ts';
import {
  clockOf,
  endOf,
  factsOf,
  fundByOf,
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
  return {
    situation,
    tone: tones[situation] ?? 'wait',
    title: say('title'),
    now: say('now'),
    next: say('next'),
    away: say('away'),
    lose: say('lose'),
    clock: clockOf(seen, situation),
    legs: [
      legShown(own, 'own', String(values.gives), seen, situation),
      legShown(other, 'other', String(values.gets), seen, situation),
    ],
    mustStay: mustStay(seen, situation),
    values,
  };
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
    confirmations: mine.funded?.confirmations ?? 0,
    otherConfirmations: theirs.claimed?.confirmations ?? 0,
    refundConfirmations: mine.refunded?.confirmations ?? 0,
    fundBy: at(fundByOf(swap)),
    initiatorFundBy: at(initiatorFundBy),
    counterpartyFundBy: at(counterpartyFundBy),
    revealBy: at(revealBy),
    refundAt: at(own.timelock),
    otherRefundAt: at(other.timelock),
    back: at(swap.role === 'initiator' ? revealBy : other.timelock),
  };
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
  const { confirmations, deep } = seen;
  if (deep) return { label, state: 'done', detail: text('settlement.leg.final'), txid };
  const detail =
    confirmations === 0
      ? text('settlement.leg.pool')
      : text('settlement.leg.blocks', { confirmations, required });
  return { label, state: 'now', detail, txid };
}

export type SwapRow = {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly deadline: UnixSeconds | null;
  readonly isOpen: boolean;
};

export function swapRows(
  swaps: readonly SwapView[],
  now: UnixSeconds,
  listed: readonly Listed[],
): SwapRow[] {
  return swaps.map((swap) => {
    const seen = { swap, now, payments: [] };
    const { title, clock } = shown(seen, listed);
    const { gives, gets } = amountsOf(seen, listed);
    return {
      id: swap.id,
      name: text('swaps.give_get', { gives, gets }),
      status: title,
      deadline: clock?.at ?? null,
      isOpen: swap.phase !== 'ended',
    };
  });
}

/** Events with a sentence that is unknown before they happen. */
const saidBySomebody: readonly Happened['step'][] = [
  ...(['wallet_refused', 'waiting', 'market_refused', 'market_lied', 'store', 'evidence'] as const),
];

type ToldHappened = { readonly said: string; readonly detail: string | null };

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
  return { said, detail: saidBySomebody.includes(step) ? inCoins(told, coin) : null };
}

/** Lines of `name: value`; times in UTC. It holds no secret. */
export function receiptOf(swap: SwapView, product: string, listed: readonly Listed[]): string {
  const { own, other } = sidesOf(swap);
  const { gives, gets } = amountsOf({ swap }, listed);
  const lines = [
    `${product}: ${text('receipt.title', { id: swap.id })}`,
    text('receipt.agreed', { at: isoTime(swap.agreedAt) }),
    text(`receipt.end.${swap.end === null ? 'open' : endOf(swap)}`),
    ...legLines('given', gives, own),
    ...legLines('received', gets, other),
  ];
  return `${lines.join('\n').replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ')}\n`;
}

function legLines(side: 'given' | 'received', amount: string, leg: LegView): string[] {
  const { funded, claimed, refunded } = factsOf(leg);
  const line = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`  ${name}: ${value}`];
  const { chain } = leg;
  const key = refunded === null ? (`receipt.${side}` as const) : (`receipt.${side}.back` as const);
  return [
    '',
    text(key, { amount, chain }),
    ...line(text('receipt.token'), leg.asset.token ?? undefined),
    ...line(text('receipt.escrow'), leg.escrow ?? undefined),
    ...line(text('receipt.own'), leg.ownAddress),
    ...line(text('receipt.locked'), funded?.txid),
    ...line(text('receipt.collected'), claimed?.txid),
    ...line(text('receipt.back'), refunded?.txid),
  ];
}
