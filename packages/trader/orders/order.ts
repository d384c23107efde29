// An order: one trade that a person or a program wants, with its bound. Pure: words into an order,
// and which price keeps it.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { minSettled as settledLimits } from '@parley/core/limits.ts';
import type { Direction } from '@parley/core/trade.ts';
import { mustBeOfTwo, namedAsset, type OwnAsset, shownAmount, typedAmount } from '../assets.ts';
import { misused } from '../failures.ts';
import type { Session } from '../session.ts';
import { waitSeconds } from './waits.ts';

export type Side = 'sell' | 'buy';

/** As it is typed, or stands in a file. */
export type OrderWords = {
  readonly side: Side;
  /** An amount of the base asset. */
  readonly amount: string;
  readonly base: string;
  readonly quote: string;
  /** The least that a sale brings for all of it, in the quote asset. */
  readonly atLeast?: string | undefined;
  /** The most that a purchase costs for all of it, in the quote asset. */
  readonly atMost?: string | undefined;
  readonly waitSeconds?: number | undefined;
  /** Quotes of accounts with so many settled swaps alone. */
  readonly settled?: number | undefined;
  /** The trade of one name is done once, for ever. */
  readonly id?: string | undefined;
};

export type Order = {
  /** Names its file: a name of the person, else by what it trades. */
  readonly id: string;
  readonly isNamed: boolean;
  readonly side: Side;
  readonly base: OwnAsset;
  /** Base units. */
  readonly baseAmount: bigint;
  readonly quote: OwnAsset;
  /** Base units of the quote asset; null: no bound. */
  readonly limit: bigint | null;
  readonly waitSeconds: number;
  readonly minSettled: number | null;
};

const nameShape = /^[0-9a-zA-Z][0-9a-zA-Z._-]{0,63}$/;

/** Throws Failure `usage`, `not_pinned`, `same_chain`, `ambiguous_asset`, and `bad_amount`. */
export function orderOf(session: Pick<Session, 'chain' | 'profile'>, words: OrderWords): Order {
  const { side, id, settled } = words;
  const pair = [namedAsset(session, words.base), namedAsset(session, words.quote)] as const;
  const [base, quote] = mustBeOfTwo(pair);
  const baseAmount = typedAmount(words.amount, base);
  if (id !== undefined && !nameShape.test(id)) {
    const shape = 'letters, digits, point, dash and underscore, at most 64 characters';
    throw misused(`"${id.slice(0, 80)}" names no trade: ${shape}`);
  }
  mustBeWithin('wait', words.waitSeconds, waitSeconds);
  mustBeWithin('settled', settled, settledLimits);
  const order = { side, base, baseAmount, quote };
  return {
    ...order,
    id: id === undefined ? digestOf(order) : `id-${id}`,
    isNamed: id !== undefined,
    limit: limitOf(words, quote),
    waitSeconds: words.waitSeconds ?? waitSeconds.usual,
    minSettled: settled ?? null,
  };
}

function mustBeWithin(
  name: string,
  value: number | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw misused(`${name} must be a whole number from ${least} to ${most}, and is ${value}`);
}

/** A bound of the other side of trade would bound nothing. */
function limitOf({ side, atLeast, atMost }: OrderWords, quote: OwnAsset): bigint | null {
  const [own, other, name] =
    side === 'sell' ? [atLeast, atMost, 'at least'] : [atMost, atLeast, 'at most'];
  if (other !== undefined) {
    throw misused(`to ${side} is bounded by "${name}", and not by the other bound`);
  }
  return own === undefined ? null : typedAmount(own, quote);
}

/** The same trade, whatever its bound, so that one that was killed is found again. */
function digestOf({ side, base, baseAmount, quote }: Pick<Order, 'side' | 'baseAmount'> & Pair) {
  const of = ({ chain, token }: OwnAsset) => [chain, token];
  const text = JSON.stringify([side, String(baseAmount), of(base), of(quote)]);
  return `of-${bytesToHex(sha256(utf8ToBytes(text))).slice(0, 32)}`;
}

type Pair = Readonly<Record<'base' | 'quote', OwnAsset>>;

export const directionOf = (side: Side): Direction => (side === 'sell' ? 'sell_base' : 'buy_base');

/** `sell 0.01 bitcoin for at least 640 ethereum:USDC`. */
export function orderWords({ side, base, baseAmount, quote, limit }: Order): string {
  const [joint, bound] = side === 'sell' ? ['for', 'at least'] : ['with', 'at most'];
  const price = limit === null ? quote.name : `${bound} ${shownAmount(limit, quote)}`;
  return `${side} ${shownAmount(baseAmount, base)} ${joint} ${price}`;
}

/** `price`: base units of the quote asset for all of it. */
export function keepsLimit({ side, limit }: Pick<Order, 'side' | 'limit'>, price: bigint): boolean {
  if (limit === null) return true;
  return side === 'sell' ? price >= limit : price <= limit;
}

/** Sorts the best price first. */
export const byPrice =
  ({ side }: Pick<Order, 'side'>) =>
  (one: bigint, other: bigint): number =>
    one === other ? 0 : one > other === (side === 'sell') ? -1 : 1;
