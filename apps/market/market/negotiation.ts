// The rules of an RFQ and a thread, pure: whether it takes business, who may move the price, who
// may accept, and when both have. An acceptance of the current price stands for `ttlMs`.

import { ParleyError } from '@parley/core/errors.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { type Rules, rulesDifferences, sameRules } from '@parley/core/rules.ts';
import type { Party } from '@parley/core/trade.ts';
import type { Rfq, StoredStatus } from '../db/rfqs.ts';
import type { Price } from '../db/threads.ts';

/** `expired` is a fact of the clock. */
export function statusAt(rfq: Rfq, nowMs: number): StoredStatus {
  const ends = rfq.status === 'open' || rfq.status === 'negotiating';
  return ends && rfq.expiresAt.getTime() <= nowMs ? 'expired' : rfq.status;
}

export function isLive(rfq: Rfq, nowMs: number): boolean {
  const status = statusAt(rfq, nowMs);
  return status === 'open' || status === 'negotiating';
}

/** Throws `rfq_gone` unless it is open or negotiating. */
export function assertLive(rfq: Rfq, nowMs: number): void {
  if (isLive(rfq, nowMs)) return;
  const status = statusAt(rfq, nowMs);
  throw new ParleyError('rfq_gone', `the RFQ is ${status} and takes no more business`, {
    rfqId: rfq.id,
    status,
  });
}

/** When this side's standing acceptance lapses, with its price at the latest; null = none. */
export function standsUntil(
  price: Price,
  party: Party,
  nowMs: number,
  ttlMs: number,
): number | null {
  const acceptedAt = party === 'maker' ? price.makerAcceptedAt : price.takerAcceptedAt;
  if (acceptedAt === null) return null;
  const until = Math.min(acceptedAt + ttlMs, price.expiresAt ?? Number.POSITIVE_INFINITY);
  return nowMs < until ? until : null;
}

/** Throws `committed` while this side's acceptance of the current price stands. */
export function assertFree(price: Price, party: Party, nowMs: number, ttlMs: number): void {
  const until = standsUntil(price, party, nowMs, ttlMs);
  if (until === null) return;
  throw new ParleyError(
    'committed',
    `your acceptance of ${price.quoteAmount} stands until ${new Date(until).toISOString()}; ` +
      'until then only the other side can move the price',
    { quoteAmount: price.quoteAmount, until },
  );
}

/** The offer of a party. `expiresAt` in milliseconds; null = for as long as the RFQ. */
export type Offered = { readonly quoteAmount: bigint; readonly expiresAt: number | null };

/** The price that `party` puts instead: neither side has accepted it yet. Throws `committed`. */
export function movePrice(
  price: Price,
  party: Party,
  { quoteAmount, expiresAt }: Offered,
  nowMs: number,
  ttlMs: number,
): Price {
  assertFree(price, party, nowMs, ttlMs);
  return {
    quoteAmount,
    expiresAt,
    proposedBy: party,
    makerAcceptedAt: null,
    takerAcceptedAt: null,
    hashlock: null,
    rules: null,
  };
}

/** Throws `terms_moved` unless `quoteAmount` is the current price. */
export function assertCurrent(price: Price, quoteAmount: bigint): void {
  if (quoteAmount === price.quoteAmount) return;
  throw new ParleyError(
    'terms_moved',
    `the current price is ${price.quoteAmount}, not ${quoteAmount}; read the thread again`,
    { quoteAmount: price.quoteAmount, named: quoteAmount },
  );
}

/** Throws `quote_expired` from the end of the price's lifetime on. */
export function assertUnexpired({ quoteAmount, expiresAt }: Offered, nowMs: number): void {
  if (expiresAt === null || nowMs < expiresAt) return;
  throw new ParleyError(
    'quote_expired',
    `the price ${quoteAmount} held until ${new Date(expiresAt).toISOString()}, ` +
      `${(nowMs - expiresAt) / 1_000} s ago; ask for a new one, or propose one`,
    { quoteAmount, expiresAt, now: nowMs },
  );
}

/** Throws `taker_accepted` while the taker's acceptance of the current price stands. */
export function assertNotAccepted(price: Price, nowMs: number, ttlMs: number): void {
  const until = standsUntil(price, 'taker', nowMs, ttlMs);
  if (until === null) return;
  throw new ParleyError(
    'taker_accepted',
    `the taker's acceptance of ${price.quoteAmount} stands until ` +
      `${new Date(until).toISOString()}; accept it, or quote without unlessAccepted`,
    { quoteAmount: price.quoteAmount, until },
  );
}

/** The initiator names a hashlock, the other side must not. */
export function assertHashlockFits(isInitiator: boolean, hashlock: Hashlock | null): void {
  if (isInitiator && hashlock === null) {
    throw new ParleyError(
      'hashlock_missing',
      'you fund the long leg: accept with hashlock, the SHA-256 of your 32-byte secret',
    );
  }
  if (!isInitiator && hashlock !== null) {
    throw new ParleyError(
      'hashlock_unexpected',
      'the other side funds the long leg and names the hashlock; accept without one',
    );
  }
}

/** Throws `hashlock_differs` when an acceptance that binds named another hashlock. */
export function assertSameHashlock(bound: Hashlock | null, hashlock: Hashlock | null): void {
  if (hashlock === null || hashlock === bound) return;
  throw new ParleyError(
    'hashlock_differs',
    'you have accepted this price with another hashlock, and that one binds',
  );
}

/**
 * Whether the acceptance that stands was given in the role that its side has now. Policies, and
 * what counts as a high value, may have changed since, and with them who is the initiator.
 */
export function acceptedInRole(price: Price, isInitiator: boolean): boolean {
  return (price.hashlock !== null) === isInitiator;
}

/**
 * The price without acceptances of other rules: a party is not held to rules that it did not see.
 */
export function acceptedUnder(price: Price, rules: Rules | null): Price {
  const { makerAcceptedAt, takerAcceptedAt } = price;
  const none = makerAcceptedAt === null && takerAcceptedAt === null;
  if (none || sameRules(price.rules, rules)) return price;
  return { ...price, makerAcceptedAt: null, takerAcceptedAt: null, hashlock: null, rules: null };
}

/** Throws `rules_differ` unless what the caller accepts under is what a swap would begin with. */
export function assertSameRules(rules: Rules, named: unknown): void {
  const [first, ...more] = rulesDifferences(rules, named);
  if (first === undefined) return;
  const { field, expected, got } = first;
  throw new ParleyError(
    'rules_differ',
    `${field} is ${expected} here, not ${got}; read the thread again, and GET /v1/rules`,
    { field, here: expected, named: got, more: more.length },
  );
}

export type Accepted = {
  readonly price: Price;
  /** False when the same words had been said before and still bind. */
  readonly changed: boolean;
  readonly agreed: boolean;
};

/**
 * `party` accepts the current price. Saying it again changes nothing and prolongs nothing. Throws
 * `terms_moved`, `quote_expired`, `hashlock_missing`, `hashlock_unexpected`, `hashlock_differs`.
 */
export function acceptPrice(
  price: Price,
  by: { readonly party: Party; readonly isInitiator: boolean },
  words: { readonly quoteAmount: bigint; readonly hashlock: Hashlock | null },
  nowMs: number,
  ttlMs: number,
): Accepted {
  const { party, isInitiator } = by;
  assertCurrent(price, words.quoteAmount);
  assertUnexpired(price, nowMs);
  assertHashlockFits(isInitiator, words.hashlock);
  const stands = (side: Party) => standsUntil(price, side, nowMs, ttlMs) !== null;
  if (stands(party) && acceptedInRole(price, isInitiator)) {
    assertSameHashlock(price.hashlock, words.hashlock);
    return { price, changed: false, agreed: false };
  }
  const other = party === 'maker' ? 'taker' : 'maker';
  const agreed = stands(other) && acceptedInRole(price, !isInitiator);
  const [at, ofOther] =
    party === 'maker'
      ? (['makerAcceptedAt', 'takerAcceptedAt'] as const)
      : (['takerAcceptedAt', 'makerAcceptedAt'] as const);
  return {
    price: {
      ...price,
      [at]: nowMs,
      // One in another role is none.
      [ofOther]: agreed ? price[ofOther] : null,
      hashlock: isInitiator ? words.hashlock : agreed ? price.hashlock : null,
    },
    changed: true,
    agreed,
  };
}
