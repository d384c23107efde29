// A thread as its parties stand in it: the party whose move it is, and the price that the other
// side has named. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Party } from '@parley/core/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { advantageBps, getsQuote, type Price, quoteAt } from './prices.ts';

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
