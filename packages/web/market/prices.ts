// Prices as one side sees them. Base units. Every division rounds against the reader: a person gets
// no less than is displayed, and pays no more.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { type Direction, exchange, type Party } from '@parley/core/trade.ts';
import type { Level, Thread } from '@parley/sdk/types.ts';

export type Side = { readonly assetId: string; readonly amount: BaseUnits };

type Asked = {
  readonly direction: Direction;
  readonly baseAssetId: string;
  readonly baseAmount: string;
  readonly quoteAssetId: string;
};

/** The amounts that a party gives and gets at a price of `quoteAmount`. */
export function sidesOf(
  rfq: Asked,
  quoteAmount: BaseUnits,
  party: Party,
): { readonly gives: Side; readonly gets: Side } {
  const { a, b } = exchange({ ...rfq, baseAmount: BigInt(rfq.baseAmount), quoteAmount });
  return party === 'taker' ? { gives: b, gets: a } : { gives: a, gets: b };
}

/** Whether the party is paid in the asset of the price: more is better for it then. */
export function getsQuote({ direction }: Pick<Asked, 'direction'>, party: Party): boolean {
  return (direction === 'sell_base') === (party === 'taker');
}

/** So much of the quote asset for so much of the base asset, each more than nothing. */
export type Price = { readonly baseAmount: BaseUnits; readonly quoteAmount: BaseUnits };

/**
 * `levels`: the best first. The first level of a maker that has settled swaps, else the best; null:
 * no level.
 */
export function indicated(levels: readonly Level[]): Level | null {
  return levels.find((each) => settledBy(each) > 0) ?? levels[0] ?? null;
}

export const settledBy = ({ makerStanding }: Level): number => makerStanding?.settled ?? 0;

/** The price in an answer of the market; null where that is no price. */
export function priceIn(told: {
  readonly baseAmount: string;
  readonly quoteAmount: string;
}): Price | null {
  const price = { baseAmount: BigInt(told.baseAmount), quoteAmount: BigInt(told.quoteAmount) };
  return price.baseAmount > 0n && price.quoteAmount > 0n ? price : null;
}

/**
 * The worth of `baseAmount`: rounded down for a party that gets the quote asset, up for one that
 * gives it.
 */
export function quoteAt(price: Price, baseAmount: BaseUnits, isGot: boolean): BaseUnits {
  const product = baseAmount * price.quoteAmount;
  const down = product / price.baseAmount;
  return isGot || down * price.baseAmount === product ? down : down + 1n;
}

/**
 * How much better `quoteAmount` is than `expected`, in basis points of that; negative is worse.
 * Rounded down, so that a price never looks better than it is. null where nothing is expected.
 */
export function advantageBps(
  quoteAmount: BaseUnits,
  expected: BaseUnits,
  isGot: boolean,
): number | null {
  if (expected <= 0n) return null;
  const better = (isGot ? quoteAmount - expected : expected - quoteAmount) * 10_000n;
  const down = better / expected;
  const bps = better < 0n && down * expected !== better ? down - 1n : down;
  // Beyond that a number says no more: a hundredfold.
  const most = 1_000_000n;
  return Number(bps > most ? most : bps < -most ? -most : bps);
}

/** A level against recent swaps, as `advantageBps`; exact, whatever its size. */
export function levelBps(
  level: Pick<Level, 'direction' | 'baseAmount' | 'quoteAmount'>,
  median: Price,
): number | null {
  const price = priceIn(level);
  if (price === null) return null;
  const quoted = price.quoteAmount * median.baseAmount;
  const expected = median.quoteAmount * price.baseAmount;
  return advantageBps(quoted, expected, getsQuote(level, 'taker'));
}

/**
 * The level that may be called a price; null: there is none. `levels`: the best first. `median` of
 * recent swaps: a level that is far from it is no price, since it costs its maker nothing. null: too
 * few swaps to compare with.
 */
export function bestLevel(levels: readonly Level[], median: Price | null): Level | null {
  return indicated(levels.filter((each) => median === null || !isFar(levelBps(each, median))));
}

/** From here on a price is confirmed twice: 3 % is more than majors move in most hours. */
export const farBps = 300;

export function isFar(bps: number | null): boolean {
  return bps !== null && Math.abs(bps) >= farBps;
}

export type Standing =
  /** Both accepted. */
  | { readonly is: 'agreed'; readonly swapId: string }
  | { readonly is: 'closed' }
  /** I accepted; the other side may until then (Unix ms). */
  | { readonly is: 'waits_for_them'; readonly untilMs: number }
  /** The other side accepted: mine makes the swap. */
  | { readonly is: 'waits_for_me'; readonly untilMs: number }
  /** A price of theirs, or one of mine, that nobody has accepted; null: it has no own end. */
  | { readonly is: 'their_price'; readonly holdsUntilMs: number | null }
  | { readonly is: 'my_price'; readonly holdsUntilMs: number | null }
  /** Its end has passed: neither can accept it, both may name another. */
  | { readonly is: 'price_over' };

type Stood = Pick<
  Thread,
  | 'status'
  | 'swapId'
  | 'makerAccepted'
  | 'takerAccepted'
  | 'acceptanceExpiresAt'
  | 'quoteExpiresAt'
  | 'proposedBy'
  | 'rfq'
>;

function otherParty(party: Party): Party {
  return party === 'maker' ? 'taker' : 'maker';
}

/** `nowMs`: an acceptance lapses, and a price or an RFQ ends, between two answers of the market. */
export function standingOf(thread: Stood, party: Party, nowMs: number): Standing {
  if (thread.swapId !== null) return { is: 'agreed', swapId: thread.swapId };
  if (thread.status !== 'open' || Date.parse(thread.rfq.expiresAt) <= nowMs) {
    return { is: 'closed' };
  }
  const { quoteExpiresAt } = thread;
  const holdsUntilMs = quoteExpiresAt ? Date.parse(quoteExpiresAt) : null;
  if (holdsUntilMs !== null && holdsUntilMs <= nowMs) return { is: 'price_over' };
  const untilMs = Date.parse(thread.acceptanceExpiresAt ?? '');
  if (untilMs > nowMs) {
    if (thread[`${party}Accepted`]) return { is: 'waits_for_them', untilMs };
    if (thread[`${otherParty(party)}Accepted`]) return { is: 'waits_for_me', untilMs };
  }
  return { is: thread.proposedBy === party ? 'my_price' : 'their_price', holdsUntilMs };
}

/** The maker took its price back, and may name another one while the order is open. */
export function isTakenBack({ withdrawnAt, rfq }: Pick<Thread, 'withdrawnAt' | 'rfq'>): boolean {
  return Boolean(withdrawnAt) && (rfq.status === 'open' || rfq.status === 'negotiating');
}

/** The price that the maker has named last: one's own counter is no offer of anybody. */
export function offeredBy(
  maker: Party,
  { messages, quoteAmount, proposedBy }: Pick<Thread, 'messages' | 'quoteAmount' | 'proposedBy'>,
): BaseUnits | null {
  if (proposedBy === maker) return BigInt(quoteAmount);
  const last = messages.findLast(({ by }) => by === maker);
  return last === undefined ? null : BigInt(last.quoteAmount);
}

export type Offer = {
  readonly thread: Thread;
  readonly standing: Standing;
  /** Base units of the quote asset; null: its maker's price is older than what the thread keeps. */
  readonly quoteAmount: BaseUnits | null;
  /** The price that the taker has named since. */
  readonly countered: BaseUnits | null;
  /** Against the indicative price. */
  readonly advantageBps: number | null;
};

/** Newest first, as the market lists them: one that moved while pages were read is in two. */
export function oneOfEach(threads: readonly Thread[]): Thread[] {
  const first = new Map<string, Thread>();
  for (const each of threads) if (!first.has(each.id)) first.set(each.id, each);
  return [...first.values()];
}

/**
 * Open offers, those whose price is over, ended ones; among them the best for the taker, then the
 * older. `indicative`: base and quote as in the RFQ, or null.
 */
export function offersOf(
  threads: readonly Thread[],
  indicative: Price | null,
  nowMs: number,
): Offer[] {
  return threads
    .map((thread): Offer => {
      const quoteAmount = offeredBy('maker', thread);
      const isGot = getsQuote(thread.rfq, 'taker');
      const expected =
        indicative === null ? null : quoteAt(indicative, BigInt(thread.rfq.baseAmount), isGot);
      return {
        thread,
        standing: standingOf(thread, 'taker', nowMs),
        quoteAmount,
        countered: thread.proposedBy === 'taker' ? BigInt(thread.quoteAmount) : null,
        advantageBps:
          expected === null || quoteAmount === null
            ? null
            : advantageBps(quoteAmount, expected, isGot),
      };
    })
    .sort(byWorth);
}

function endOf({ standing: { is } }: Offer): number {
  return is === 'closed' ? 2 : is === 'price_over' ? 1 : 0;
}

function byWorth(one: Offer, other: Offer): number {
  const ended = endOf(one) - endOf(other);
  if (ended !== 0) return ended;
  const a = one.quoteAmount;
  const b = other.quoteAmount;
  if (a === null || b === null || a === b) {
    const unknown = Number(a === null) - Number(b === null);
    return unknown !== 0 ? unknown : one.thread.createdAt < other.thread.createdAt ? -1 : 1;
  }
  const more = a > b ? -1 : 1;
  return getsQuote(one.thread.rfq, 'taker') ? more : -more;
}
