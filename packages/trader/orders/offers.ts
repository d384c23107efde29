// Which quotes of a request are offers for an order, the best first.

import { pageLimit } from '@parley/core/limits.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Rfq, Thread } from '@parley/sdk/types.ts';
import { byPrice, keepsLimit, type Order } from './order.ts';

export type Offer = {
  readonly thread: Thread;
  /** Base units of the quote asset, for all of it. */
  readonly price: bigint;
  /** Unix seconds; null: as long as its request. */
  readonly endsAt: number | null;
};

/** A price must last for so long, so that it can be examined and accepted. */
export const leastLeftSeconds = 2;

/** The newest 500 quotes: more than that are no makers. */
const mostPages = 5;

export async function quotesOf(
  client: Pick<ParleyClient, 'threadsOfRfq'>,
  rfqId: string,
  signal: AbortSignal,
): Promise<Thread[]> {
  const all: Thread[] = [];
  const page = { limit: pageLimit.most };
  const ask = (from: object) => client.threadsOfRfq(rfqId, { ...page, ...from }, { signal });
  for await (const { threads } of pagesOf(mostPages, ask)) all.push(...threads);
  return all;
}

/** Standing quotes of makers, the best price first, then the maker who settled most. */
export function offersIn(threads: readonly Thread[], order: Order, now: number): Offer[] {
  const better = byPrice(order);
  return threads
    .flatMap((thread) => offerOf(thread, now) ?? [])
    .sort(
      (one, other) =>
        better(one.price, other.price) || settledOf(other.thread) - settledOf(one.thread),
    );
}

/** Those that keep the bound. */
export const goodOffers = (offers: readonly Offer[], order: Order): Offer[] =>
  offers.filter(({ price }) => keepsLimit(order, price));

const settledOf = ({ makerStanding }: Thread): number => makerStanding?.settled ?? 0;

/** A price that is none, or has ended, is no offer. */
function offerOf(thread: Thread, now: number): Offer | null {
  const { status, proposedBy, quoteAmount, quoteExpiresAt } = thread;
  if (status !== 'open' || proposedBy !== 'maker') return null;
  if (!/^[1-9]\d{0,77}$/.test(quoteAmount)) return null;
  const endsAt = quoteExpiresAt == null ? null : Date.parse(quoteExpiresAt) / 1_000;
  if (endsAt !== null && !(endsAt >= now + leastLeftSeconds)) return null;
  return { thread, price: BigInt(quoteAmount), endsAt };
}

/** Seconds after the first good offer in which a better one may come. */
export const gatherSeconds = 3;

/** Whether the best offer is taken now: later it may be gone, or the wait over. */
export function isTime(
  { endsAt }: Pick<Offer, 'endsAt'>,
  at: { readonly firstAt: number; readonly until: number; readonly now: number },
): boolean {
  const { firstAt, until, now } = at;
  const ends = endsAt === null ? until : endsAt - gatherSeconds;
  return now >= Math.min(firstAt + gatherSeconds, until - 1, ends);
}

/** An RFQ that takes no more business. */
export const isOver = ({ status }: Pick<Rfq, 'status'>): boolean =>
  status === 'cancelled' || status === 'expired';
