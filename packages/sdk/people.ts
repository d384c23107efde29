// Amounts, prices and times as people type and read them. No amount is rounded: a typed number is
// exact or refused, and a shown one says what was cut.

import { formatUnits, maxAmount } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { remembered } from '@parley/core/remembered.ts';
import { asTyped } from '@parley/core/typed.ts';
import { dateFormat, numberFormat, relativeFormat } from './formats.ts';

/** A BCP 47 tag such as `de-CH`; default the machine's. Intl throws RangeError for no tag. */
export type Locale = { readonly locale?: string | undefined };

/**
 * Groups of thousands in every locale (SI brochure, 5.4.4): a comma or a point groups in one
 * country and is the decimal mark of another.
 */
const groupMark = '\u202f';
/** Separators that people type or paste between thousands: never a decimal mark anywhere. */
const typedGroups = "[ \u00a0\u2009\u202f'\u2019]";
const grouped = new RegExp(`^\\d{1,3}(?:${typedGroups}\\d{3})+$`);
/** Behind one of these, groups may be seen in another order than they stand in. */
const turning = /[\u061c\u200f\u202b\u2067]/;
/** 2^256-1 has 78 digits, and a token has 255 decimals at most. */
const longestText = 400;
const mostDecimals = 255;

/** One locale in one tab, and a few in tests. */
const mostLocales = 50;
const markByLocale = remembered((locale) => {
  const latin = numberFormat(locale || undefined, { numberingSystem: 'latn' });
  return latin.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';
}, mostLocales);

/** The decimal mark beside Latin digits. */
const markOf = (locale: string | undefined) => markByLocale(locale ?? '');

function mustBeDecimals(decimals: number): void {
  if (Number.isInteger(decimals) && decimals >= 0 && decimals <= mostDecimals) return;
  throw new RangeError(`decimals must be a whole number from 0 to ${mostDecimals}: ${decimals}`);
}

/** Why a text is no amount, for a catalogue of texts: `facts.why` of `bad_amount`. */
export type AmountFault =
  | 'empty'
  | 'too_long'
  | 'not_a_number'
  | 'other_mark'
  | 'other_unit'
  | 'groups'
  | 'decimals'
  | 'too_much';

export type AmountTyped = Locale & {
  /** The asset's: it may stand behind the amount, and no other unit may. */
  readonly symbol?: string | undefined;
};

/**
 * Base units of what a person typed in whole coins, zero included. The decimal mark is the
 * locale's; spaces and apostrophes may group thousands. Throws `bad_amount` with `facts.why`, an
 * AmountFault.
 */
export function parseAmount(
  text: string,
  decimals: number,
  { locale, symbol = '' }: AmountTyped = {},
): BaseUnits {
  mustBeDecimals(decimals);
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  const bad = (why: AmountFault, sentence: string, facts: Record<string, string | number> = {}) =>
    new ParleyError('bad_amount', `"${shown}" ${sentence}`, { why, ...facts });
  if (text.length > longestText) {
    throw bad('too_long', `has ${text.length} characters: ${longestText} at most`);
  }
  const decimal = markOf(locale);
  const { number: typed, unit } = unitBehind(asTyped(text).trim(), symbol);
  if (unit !== '' && unit.toLowerCase() !== symbol.toLowerCase()) {
    const sentence = `is in "${unit}", and this amount is in ${symbol}`;
    throw bad('other_unit', sentence, { got: unit, symbol });
  }
  if (typed === '') throw new ParleyError('bad_amount', 'no amount is given', { why: 'empty' });
  const [whole = '', fraction = '', ...more] = typed.split(decimal);
  const otherMark = [...'.,'].find((mark) => mark !== decimal && typed.includes(mark));
  if (otherMark !== undefined) {
    const example = `1${decimal}5, or 1500 without a mark`;
    const sentence = `has "${otherMark}", and "${decimal}" separates decimals: write ${example}`;
    throw bad('other_mark', sentence, { decimal, got: otherMark });
  }
  const isGrouped = grouped.test(whole) && !turning.test(text);
  if (more.length > 0 || !/^\d*$/.test(fraction) || `${whole}${fraction}` === '') {
    throw bad('not_a_number', `is no amount: digits, and at most one "${decimal}"`, { decimal });
  }
  if (!isGrouped && !/^\d*$/.test(whole)) {
    if (new RegExp(`^(?:\\d|${typedGroups})+$`).test(whole)) {
      throw bad('groups', 'has a space that does not group thousands: write 1 500 or 1500');
    }
    throw bad('not_a_number', 'is no amount: digits without sign, exponent or unit', { decimal });
  }
  const exact = fraction.replace(/0+$/, '');
  if (exact.length > decimals) {
    const plural = exact.length === 1 ? '' : 's';
    const sentence = `has ${exact.length} decimal${plural}, and the asset has ${decimals} at most`;
    throw bad('decimals', sentence, { got: exact.length, most: decimals });
  }
  const digits = whole.replace(/\D/g, '');
  const units = BigInt(`0${digits}${exact.padEnd(decimals, '0')}`);
  if (units > maxAmount) {
    const most = formatAmount(maxAmount, decimals, { locale });
    throw bad('too_much', `is more than any chain can hold: ${most} at most`, { most });
  }
  return units;
}

/** An exponent or a number in hex is no unit. */
const noUnit = /^[+-]?(?:[\d.,]+e[+-]?\d+|0x[\da-f]+)$/i;

/** The text behind the digits, where the asset has a symbol. */
function unitBehind(typed: string, symbol: string): { number: string; unit: string } {
  const none = { number: typed, unit: '' };
  if (!/\p{L}/u.test(symbol) || noUnit.test(typed)) return none;
  // A symbol such as 1INCH is one behind a space alone.
  const last = typed.slice(-symbol.length - 1);
  if (/^\d/.test(symbol) && last.toLowerCase() === ` ${symbol.toLowerCase()}`) {
    return { number: typed.slice(0, -last.length).trim(), unit: symbol };
  }
  const found = /^([^\p{L}\p{Sc}]*\p{Nd}[^\p{L}\p{Sc}]*)([\p{L}\p{Sc}].*)$/su.exec(typed);
  return found === null ? none : { number: (found[1] ?? '').trim(), unit: found[2] ?? '' };
}

export type AmountShown = Locale & {
  /** Most decimals; default all. A cut is marked by `…`, or by `<` below the least. */
  readonly most?: number;
};

/**
 * Whole coins in the locale's decimal mark, thousands grouped by narrow spaces. Cut towards zero;
 * an amount that is not zero is never shown as zero. Without `most`, `parseAmount` reads it back.
 */
export function formatAmount(
  units: BaseUnits,
  decimals: number,
  { locale, most = decimals }: AmountShown = {},
): string {
  mustBeDecimals(decimals);
  mustBeDecimals(most);
  const cut = Math.max(0, decimals - most);
  const scale = 10n ** BigInt(cut);
  const kept = units / scale;
  if (kept === 0n && units !== 0n) {
    const least = localized(1n, decimals - cut, locale);
    return units > 0n ? `<${least}` : `>-${least}`;
  }
  const isCut = kept * scale !== units;
  return `${localized(kept, decimals - cut, locale)}${isCut ? '…' : ''}`;
}

function localized(units: bigint, decimals: number, locale: string | undefined): string {
  const [whole = '', fraction] = formatUnits(units, decimals).split('.');
  const spaced = whole.replace(/\B(?=(?:\d{3})+$)/g, groupMark);
  return fraction === undefined ? spaced : `${spaced}${markOf(locale)}${fraction}`;
}

/** An amount with the decimals of its asset. */
export type Quantity = { readonly units: BaseUnits; readonly decimals: number };

/**
 * How many whole coins of `of` one whole coin of `per` costs, in `most` significant digits (default
 * 6), whole ones never cut. Cut towards zero, marked by `…`. RangeError where `per` is nothing.
 */
export function formatPrice(
  of: Quantity,
  per: Quantity,
  { locale, most = 6 }: AmountShown = {},
): string {
  for (const each of [of, per]) mustBeDecimals(each.decimals);
  if (of.units < 0n || per.units <= 0n || !(Number.isInteger(most) && most > 0)) {
    throw new RangeError(`no price of ${of.units} for ${per.units} in ${most} digits`);
  }
  const over = of.units * 10n ** BigInt(per.decimals);
  const under = per.units * 10n ** BigInt(of.decimals);
  const digits = (value: bigint) => value.toString().length;
  // Digits enough for a first cut, which says where the first one that is not zero stands.
  const enough = Math.max(0, most + digits(under) - digits(over));
  const fine = (over * 10n ** BigInt(enough)) / under;
  const places = Math.max(0, Math.min(enough, enough - (digits(fine) - most)));
  const scaled = over * 10n ** BigInt(places);
  const isCut = scaled % under !== 0n;
  return `${localized(scaled / under, places, locale)}${isCut ? '…' : ''}`;
}

/** ISO 8601 in UTC, to the second: `2026-11-27T14:05:00Z`. Throws RangeError for no time. */
export function isoTime(at: UnixSeconds): string {
  return new Date(at * 1_000).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

const peopleTime = (at: UnixSeconds) => `${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`;

/**
 * Words before an instant, which is Unix seconds. A number without such a word before it is an
 * amount.
 */
const leading = 'clock passes|timelock|until|from|before|by|it is';
const units = 'wei|sun|sats|lamports|base';
const instant = new RegExp(`\\b((?:${leading}) )(\\d{10})\\b(?! (?:\\(|${units}))`, 'g');

/** A sentence of the SDK with its instants as times, to the minute before: `2026-11-27 14:05 UTC`. */
export function timedText(text: string): string {
  return text.replace(instant, (_, word: string, at: string) => word + peopleTime(Number(at)));
}

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Unix seconds of an RFC 3339 time with its zone; fractions are rounded down. Throws `bad_field`.
 */
export function parseIsoTime(text: string): UnixSeconds {
  const ms = iso.test(text) ? Date.parse(text) : Number.NaN;
  // A day that its month does not have is taken for one of the next month.
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [''];
  const isDay = !Number.isNaN(ms) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  if (isDay) return Math.floor(ms / 1_000);
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  throw new ParleyError('bad_field', `"${shown}" is no time such as 2026-11-27T14:05:00Z`, {});
}

export type TimeShown = Locale & {
  /** An IANA name such as `Europe/Zurich`; default the machine's. */
  readonly zone?: string;
};

/** The time of day with its zone, and the date unless it is the day of `now`. */
export function localTime(
  at: UnixSeconds,
  now: UnixSeconds,
  { locale, zone }: TimeShown = {},
): string {
  const where = zone === undefined ? {} : { timeZone: zone };
  const time = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
  const date = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  const days = dateFormat('en', { ...where, ...date });
  const isToday = days.format(at * 1_000) === days.format(now * 1_000);
  const format = dateFormat(locale, { ...where, ...time, ...(isToday ? {} : date) });
  return format.format(at * 1_000);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * `in 22 minutes`, `3 hours ago`: whole units towards now, so that nobody is told of more time
 * than is left.
 */
export function fromNow(at: UnixSeconds, now: UnixSeconds, { locale }: Locale = {}): string {
  const seconds = Math.trunc(at - now);
  const [unit, size] = unitOf(Math.abs(seconds));
  const format = relativeFormat(locale, { numeric: seconds === 0 ? 'auto' : 'always' });
  // Not minus zero, which is said to be past.
  return format.format(Math.trunc(seconds / size) || 0, unit);
}

/** The largest of which there are two, so that what is left out is less than half. */
function unitOf(seconds: number) {
  if (seconds < 2 * minute) return ['second', 1] as const;
  if (seconds < 2 * hour) return ['minute', minute] as const;
  return seconds < 2 * day ? (['hour', hour] as const) : (['day', day] as const);
}

/** `14:05 CET, in 22 minutes`: a clock and how long, as every deadline is shown. */
export function deadlineText(at: UnixSeconds, now: UnixSeconds, how: TimeShown = {}): string {
  return `${localTime(at, now, how)}, ${fromNow(at, now, how)}`;
}

/**
 * `45 seconds`, `22 minutes`, `2 hours, 10 minutes`, `3 days, 4 hours`: rounded up, so that no wait
 * is longer than was said.
 */
export function formatDuration(seconds: number, { locale }: Locale = {}): string {
  if (!(Number.isFinite(seconds) && seconds >= 0)) {
    throw new RangeError(`a duration is not negative: ${seconds}`);
  }
  const said = (count: number, unit: 'second' | 'minute' | 'hour' | 'day') =>
    numberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  const whole = Math.ceil(seconds);
  if (whole < minute) return said(whole, 'second');
  const minutes = Math.ceil(whole / minute);
  const hours = Math.ceil(whole / hour);
  const [large, small, counts] =
    minutes < 48 * 60
      ? (['hour', 'minute', [Math.floor(minutes / 60), minutes % 60]] as const)
      : (['day', 'hour', [Math.floor(hours / 24), hours % 24]] as const);
  const units = [large, small] as const;
  const parts = counts.flatMap((count, at) =>
    count === 0 ? [] : [said(count, units[at] ?? small)],
  );
  return new Intl.ListFormat(locale, { type: 'unit', style: 'long' }).format(parts);
}
