// Prices as exact fractions, and what a maker quotes at one. Amounts are base units; every rounding
// is in the maker's favour.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Direction } from '@parley/core/trade.ts';

/** Whole coins of the pair's quote for one whole coin of its base; both parts are above zero. */
export type Price = { readonly over: bigint; readonly under: bigint };

export type PricedPair = Readonly<Record<'base' | 'quote', { readonly decimals: number }>> & {
  readonly spreadBps: bigint;
};

/**
 * The taker's request, as the pair has it: if the RFQ's base is the pair's quote, `flipped` is
 * true, and `amount` is of the pair's quote.
 */
export type Asked = {
  readonly direction: Direction;
  readonly flipped: boolean;
  readonly amount: BaseUnits;
};

/** The amounts that an agreement would move, in base units of the pair's two assets. */
export type Terms = {
  /** Which of the pair's two assets the maker gives. */
  readonly gives: 'base' | 'quote';
  readonly base: BaseUnits;
  readonly quote: BaseUnits;
};

const whole = 10_000n;
/** Longest text of a price, and its largest exponent: a source that says more is broken. */
const longestText = 60;
const mostExponent = 40;
const decimal = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** `64000.5`, `6.4e4` or a JSON number. Throws RangeError for anything else, zero included. */
export function parsePrice(said: unknown): Price {
  const text = typeof said === 'number' ? String(said) : said;
  const bad = () => {
    const shown = String(JSON.stringify(said)).slice(0, 80);
    return new RangeError(`${shown} is no price above zero`);
  };
  if (typeof text !== 'string' || text.length > longestText) throw bad();
  const [, digits = '', fraction = '', exponent = '0'] = decimal.exec(text.trim()) ?? [];
  const units = BigInt(`0${digits}${fraction}`);
  const shift = Number(exponent) - fraction.length;
  if (units === 0n || Math.abs(Number(exponent)) > mostExponent) throw bad();
  const scale = 10n ** BigInt(Math.abs(shift));
  return shift < 0 ? { over: units, under: scale } : { over: units * scale, under: 1n };
}

/** The ratio of two prices in one coin: the price of `a` in `b`. */
export function ratio(a: Price, b: Price): Price {
  return { over: a.over * b.under, under: a.under * b.over };
}

export const isBelow = (a: Price, b: Price) => a.over * b.under < b.over * a.under;

/** By how many basis points one price is away from another, of the smaller of both. */
export function distanceBps(a: Price, b: Price): bigint {
  const x = a.over * b.under;
  const y = b.over * a.under;
  const [high, low] = x > y ? [x, y] : [y, x];
  return ((high - low) * whole) / low;
}

/** For logs and metrics, never for money. */
export function approximate({ over, under }: Price): number {
  const scale = 10n ** 12n;
  return Number((over * scale) / under) / Number(scale);
}

const up = (over: bigint, under: bigint) => (over + under - 1n) / under;

/** Rounded down, of negative numbers too; `under` is above zero. */
export const floored = (over: bigint, under: bigint) =>
  over < 0n ? -up(-over, under) : over / under;

/**
 * The terms of a quote `spreadBps` (below 10 000) away from the price; null without a price, and
 * where the other side would give or get nothing.
 */
export function termsAt(
  { direction, flipped, amount }: Asked,
  price: Price | null,
  { base, quote, spreadBps }: PricedPair,
): Terms | null {
  if (price === null) return null;
  const { over, under } = price;
  const b = 10n ** BigInt(base.decimals);
  const q = 10n ** BigInt(quote.decimals);
  const takerSells = direction === 'sell_base';
  // Quote for so much base is amount * over * q / (under * b); the other way round it is inverted.
  const [rise, fall] = flipped ? [under * b, over * q] : [over * q, under * b];
  const fair = amount * rise;
  const other = termsOf(fair, fall, { takerSells, flipped }, spreadBps);
  if (other <= 0n) return null;
  const gives = takerSells === flipped ? 'base' : 'quote';
  return flipped ? { gives, base: other, quote: amount } : { gives, base: amount, quote: other };
}

/** Dearer by the spread where the maker gives base, cheaper where it gets it. */
function termsOf(
  fair: bigint,
  unit: bigint,
  { takerSells, flipped }: { takerSells: boolean; flipped: boolean },
  spreadBps: bigint,
): bigint {
  const more = whole + spreadBps;
  const less = whole - spreadBps;
  // The maker's payment is rounded down, its receipt is rounded up.
  if (takerSells) {
    return flipped ? (fair * whole) / (unit * more) : (fair * less) / (unit * whole);
  }
  return flipped ? up(fair * whole, unit * less) : up(fair * more, unit * whole);
}

/**
 * The maker's gain at that price, in basis points of what it gives, rounded down: negative where it
 * gets less than it gives.
 */
export function marginBps(
  terms: Terms,
  { over, under }: Price,
  pair: Pick<PricedPair, 'base' | 'quote'>,
): bigint {
  const base = terms.base * over * 10n ** BigInt(pair.quote.decimals);
  const quote = terms.quote * under * 10n ** BigInt(pair.base.decimals);
  const [gives, gets] = terms.gives === 'base' ? [base, quote] : [quote, base];
  if (gives === 0n) throw new RangeError('the amount given is zero');
  return floored((gets - gives) * whole, gives);
}

/**
 * The maker's gain at that price, in base units of the pair's quote, rounded down. `isPaid` false:
 * it gave its side and got nothing.
 */
export function profitAt(
  { gives, base, quote }: Terms,
  price: Price,
  decimals: Readonly<Record<'base' | 'quote', number>>,
  isPaid = true,
): BaseUnits {
  const under = price.under * 10n ** BigInt(decimals.base);
  const value = base * price.over * 10n ** BigInt(decimals.quote);
  const money = quote * under;
  const [given, got] = gives === 'base' ? [value, money] : [money, value];
  return floored((isPaid ? got : 0n) - given, under);
}
