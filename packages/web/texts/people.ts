// Amounts, prices and times as `packages/sdk/people.ts` says them, in the language of the page.

import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { dateFormat, numberFormat } from '@parley/sdk/formats.ts';
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

/** `25 min`, `24 hr`, `3 days`: one unit, rounded up. For where there is little room. */
export function shortDuration(seconds: number): string {
  const [unit, size] =
    seconds < 120 * 60
      ? (['minute', 60] as const)
      : seconds <= 48 * 3_600
        ? (['hour', 3_600] as const)
        : (['day', 86_400] as const);
  const how = { style: 'unit', unit, unitDisplay: 'short' } as const;
  return numberFormat(locale(), how).format(Math.ceil(seconds / size));
}

/** Basis points without a sign, `1.25 %`: the sentence around says which way. */
export function formatPercent(bps: number, { locale: named }: people.Locale = {}): string {
  const how = { style: 'percent', maximumFractionDigits: 2 } as const;
  return numberFormat(named ?? locale(), how).format(Math.abs(bps) / 10_000);
}

/** `amount` is decimal; `currency` as ISO 4217 has it. */
export function formatMoney(amount: `${number}`, currency: string): string {
  const how = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
  return numberFormat(locale(), how).format(amount);
}

/** Basis points with their sign, `+2.4 %`. */
export function formatChange(bps: number): string {
  const how = { style: 'percent', maximumFractionDigits: 2, signDisplay: 'exceptZero' } as const;
  return numberFormat(locale(), how).format(bps / 10_000);
}

/** A number beside an axis, as amounts are grouped. */
export function axisNumber(value: number): string {
  const parts = numberFormat(locale(), { maximumSignificantDigits: 6 });
  return parts
    .formatToParts(value)
    .map(({ type, value: part }) => (type === 'group' ? '\u202f' : part))
    .join('');
}

/** The time of day, or the day where an axis has several. */
export function axisTime(at: UnixSeconds, days: number): string {
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  const date = { day: 'numeric', month: 'short' } as const;
  return dateFormat(locale(), days <= 1 ? time : date).format(at * 1_000);
}
