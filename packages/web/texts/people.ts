// Amounts, prices and times as `packages/sdk/people.ts` says them, in the language of the page.

import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import * as people from '@parley/sdk/people.ts';
import { locale } from './texts.ts';

type Own<How extends people.Locale> = How & people.Locale;

const own = <How extends people.Locale>(how: How): Own<How> => ({
  ...how,
  locale: how.locale ?? locale(),
});

export function parseAmount(
  typed: string,
  decimals: number,
  how: people.AmountTyped = {},
): BaseUnits {
  return people.parseAmount(typed, decimals, own(how));
}

export function formatAmount(units: BaseUnits, decimals: number, how: people.AmountShown = {}) {
  return people.formatAmount(units, decimals, own(how));
}

export function formatPrice(
  of: people.Quantity,
  per: people.Quantity,
  how: people.AmountShown = {},
): string {
  return people.formatPrice(of, per, own(how));
}

/** Unix seconds of an RFC 3339 time of the market. */
export function secondsOf(instant: string): UnixSeconds {
  return Math.floor(Date.parse(instant) / 1_000);
}

export function localTime(at: UnixSeconds, now: UnixSeconds, how: people.TimeShown = {}): string {
  return people.localTime(at, now, own(how));
}

export function fromNow(at: UnixSeconds, now: UnixSeconds): string {
  return people.fromNow(at, now, own({}));
}

export function deadlineText(at: UnixSeconds, now: UnixSeconds): string {
  return people.deadlineText(at, now, own({}));
}

export function formatDuration(seconds: number): string {
  return people.formatDuration(seconds, own({}));
}

/** Basis points without a sign, `1.25 %`: the sentence around says which way. */
export function formatPercent(bps: number, { locale: named }: people.Locale = {}): string {
  const how = { style: 'percent', maximumFractionDigits: 2 } as const;
  return new Intl.NumberFormat(named ?? locale(), how).format(Math.abs(bps) / 10_000);
}
