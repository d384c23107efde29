// How far a swap has come: the bar of its steps, the line of its deadlines, and how long is left. Pure.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { dateFormat, numberFormat, relativeFormat } from '@parley/sdk/formats.ts';
import type { SwapView } from '../../engine/types.ts';
import { locale } from '../../texts/texts.ts';
import { factsOf, isPublic, type Seen, type Situation, sidesOf } from './situation.ts';

/** `bad`: it was due and cannot come any more. */
type StepState = 'done' | 'now' | 'later' | 'bad';

export type Step = {
  readonly is:
    | 'agreed'
    | 'pay'
    | 'other_locks'
    | 'receive'
    | 'given_up'
    | 'stopped'
    | 'back'
    | 'ended'
    | 'other_collected'
    | 'lost';
  readonly state: StepState;
};

const ways = {
  initiator: ['agreed', 'pay', 'other_locks', 'receive'],
  counterparty: ['agreed', 'other_locks', 'pay', 'receive'],
} as const satisfies Record<SwapView['role'], readonly Step['is'][]>;

/** The step at work in each situation that leads on; every other one is `pay`. */
const atWork: Readonly<Partial<Record<Situation, Step['is']>>> = {
  // It never pays: another device may have.
  watching: 'agreed',
  other_funds_first: 'other_locks',
  other_funds: 'other_locks',
  other_collects: 'receive',
  decide_extra: 'receive',
  collect: 'receive',
  collecting: 'receive',
};

const comesBack: readonly Situation[] = [
  'waits_for_refund',
  'other_is_late',
  'giving_up',
  'refund',
  'refunding',
  'paid_little',
  'done_refunded',
];
const endsWithNothing: readonly Situation[] = [
  'pay_too_late',
  'cancelling',
  'done_nothing',
  'done_not_locked',
  'done_unpaid',
];

export function stepsOf(swap: SwapView, situation: Situation): readonly Step[] {
  const isOver = swap.phase === 'ended' || situation === 'received';
  const done = (...all: readonly Step['is'][]) => all.map((is): Step => ({ is, state: 'done' }));
  const last = (is: Step['is']): Step => ({ is, state: isOver ? 'done' : 'now' });
  if (situation === 'done_lost') {
    return [...done('agreed', 'pay', 'other_collected'), { is: 'lost', state: 'bad' }];
  }
  if (endsWithNothing.includes(situation)) return [...done('agreed'), last('ended')];
  if (comesBack.includes(situation)) {
    const { own } = sidesOf(swap);
    const why = swap.isGivenUp || situation === 'giving_up' ? 'given_up' : 'stopped';
    const isIn = factsOf(own).funded !== null || situation === 'paid_little' || isOver;
    return isIn
      ? [...done('agreed', 'pay', why), last('back')]
      : [...done('agreed', why), last('ended')];
  }
  const way: readonly Step['is'][] = ways[swap.role];
  // A counterparty is not asked before the other side has locked.
  const begins = situation === 'preparing' ? way[1] : 'pay';
  const now = isOver ? way.length : way.indexOf(atWork[situation] ?? begins ?? 'pay');
  return way.map((is, at) => ({ is, state: at < now ? 'done' : at === now ? 'now' : 'later' }));
}

export type Mark = {
  readonly is: 'pay' | 'other_locks' | 'receive' | 'other_collects' | 'refund';
  readonly at: UnixSeconds;
  readonly isPast: boolean;
  /** It holds already what was due by then. */
  readonly isMet: boolean;
  /** Where there is no room for all: the next one, and the last. */
  readonly isNear: boolean;
};

export type Line = {
  /** In order of time. Each ends a part of the same width, as hours and days would hide minutes. */
  readonly marks: readonly Mark[];
  /** Percent of the line. */
  readonly now: number;
};

/** null: no deadline is left. */
export function lineOf({ swap, now }: Seen, situation: Situation): Line | null {
  if (swap.phase === 'ended' || swap.state === 'received') return null;
  const all = deadlinesOf(swap).toSorted((one, other) => one[1] - other[1]);
  const next = all.findIndex(([, at]) => at > now);
  const isOver = comesBack.includes(situation) || endsWithNothing.includes(situation);
  const isOpen = ([is, at]: Deadline) => !isOver && at > now && !isMet(swap, is);
  const due = all.findIndex(isOpen);
  const marks = all.map(([is, at], index): Mark => {
    const isNear = index === due || index === all.length - 1;
    return { is, at, isPast: at <= now, isMet: isMet(swap, is), isNear };
  });
  const [, to] = all[next] ?? [];
  if (to === undefined) return { marks, now: 100 };
  const from = all[next - 1]?.[1] ?? swap.agreedAt;
  const part = Math.min(1, Math.max(0, (now - from) / Math.max(1, to - from)));
  return { marks, now: Math.round(((next + part) / all.length) * 1_000) / 10 };
}

function isMet(swap: SwapView, is: Mark['is']): boolean {
  const { own, other } = sidesOf(swap);
  switch (is) {
    case 'pay':
      return factsOf(own).funded !== null;
    case 'other_locks':
      return factsOf(other).funded !== null;
    case 'other_collects':
      return factsOf(own).claimed !== null;
    case 'receive':
      return factsOf(other).claimed !== null;
    case 'refund':
      return factsOf(own).refunded !== null;
  }
}

type Deadline = readonly [is: Mark['is'], at: UnixSeconds];

function deadlinesOf(swap: SwapView): readonly Deadline[] {
  const isPaid = factsOf(sidesOf(swap).own).funded !== null;
  return allOf(swap).filter(([is]) => is !== 'pay' || isPaid || !swap.isRestored);
}

function allOf(swap: SwapView): readonly Deadline[] {
  const { own, other } = sidesOf(swap);
  const { initiatorFundBy, counterpartyFundBy, revealBy } = swap.deadlines;
  // With the secret public, only the other leg's time lock ends this side's claim.
  const end: Deadline = isPublic(swap) ? ['receive', other.timelock] : ['refund', own.timelock];
  if (swap.role === 'counterparty') {
    return [
      ['other_locks', initiatorFundBy],
      ['pay', counterpartyFundBy],
      ['other_collects', revealBy],
      end,
    ];
  }
  const locks: readonly Deadline[] = [
    ['pay', initiatorFundBy],
    ['other_locks', counterpartyFundBy],
  ];
  return isPublic(swap) ? [...locks, end] : [...locks, ['receive', revealBy], end];
}

const dayMs = 86_400_000;

/** `19:16`, `tomorrow 19:16`, `1 Dec, 19:16`: for a label, beside which a sentence names the zone. */
export function clockText(at: UnixSeconds, now: UnixSeconds, zone?: string): string {
  const how = { hour: '2-digit', minute: '2-digit', timeZone: zone } as const;
  const day = (of: UnixSeconds) =>
    dateFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(of * 1_000);
  const format = (more: Intl.DateTimeFormatOptions = {}) =>
    dateFormat(locale(), { ...how, ...more }).format(at * 1_000);
  if (day(at) === day(now)) return format();
  const days = Math.round((Date.parse(day(at)) - Date.parse(day(now))) / dayMs);
  if (days !== 1) return format({ day: 'numeric', month: 'short' });
  const tomorrow = relativeFormat(locale(), { numeric: 'auto' }).format(1, 'day');
  return `${tomorrow} ${format()}`;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** `1 hr 46 min`: two units at most, rounded down, so that no more time is promised than there is. */
export function leftText(seconds: number): string {
  const said = (count: number, unit: 'second' | 'minute' | 'hour' | 'day') =>
    numberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short' }).format(count);
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < minute) return said(whole, 'second');
  const minutes = said(Math.floor((whole % hour) / minute), 'minute');
  if (whole < hour) return minutes;
  if (whole < 2 * day) return `${said(Math.floor(whole / hour), 'hour')} ${minutes}`;
  return said(Math.floor(whole / day), 'day');
}

/** Seconds from the agreement to its end; null: this browser did not see one of both. */
export function tookSeconds({ agreedAt, history }: SwapView): number | null {
  const end = history.find(({ step, state }) => step === 'ended' || state === 'received');
  return end === undefined || end.at < agreedAt ? null : end.at - agreedAt;
}
