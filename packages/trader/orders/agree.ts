// From an order to a swap: asks, waits for quotes, has the best one that keeps the bound accepted,
// and waits for its maker. One request of an order stands at a time, and a market makes one swap of
// a request, so that an order is one swap whatever ends this process.

import type { ParleyClient } from '@parley/sdk/client.ts';
import { clockToleranceSeconds } from '@parley/sdk/clock-tolerance.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { defaultAcceptTtlSeconds, type OwnTrade } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import { shownAmount } from '../assets.ts';
import { Failure, needsYou, type Told, toldOf } from '../failures.ts';
import type { Session } from '../session.ts';
import { deadlineOf } from '../show.ts';
import { keepTerms } from '../terms.ts';
import {
  dropOrder,
  type KeptOrder,
  keepOrder,
  type RequestBody,
  readOrder,
  wordsOfOrder,
} from './kept.ts';
import { goodOffers, isOver, isTime, type Offer, offersIn, quotesOf } from './offers.ts';
import { directionOf, type Order } from './order.ts';

export type OrderEvent =
  | { readonly step: 'asked'; readonly rfqId: string; readonly until: number }
  /** They have changed. `best` may miss the bound. */
  | { readonly step: 'quotes'; readonly count: number; readonly best: Offer | null }
  /** An offer that was not accepted, or a market that does not answer now. */
  | { readonly step: 'trouble'; readonly threadId: string | null; readonly told: Told }
  | { readonly step: 'accepted'; readonly threadId: string; readonly until: number }
  | { readonly step: 'agreed'; readonly threadId: string; readonly swapId: string }
  /** Its request was taken back. */
  | { readonly step: 'withdrawn'; readonly rfqId: string }
  /** Its request, or its acceptance, outlives this process. */
  | { readonly step: 'stands'; readonly rfqId: string | null };

export type Asking = {
  readonly session: Pick<Session, 'places' | 'now'>;
  readonly client: Pick<ParleyClient, 'createRfq' | 'rfq' | 'threadsOfRfq' | 'cancelRfq'>;
  readonly signal: AbortSignal;
  /** Between two looks. Rejects when the signal aborts. */
  readonly pause: () => Promise<void>;
  readonly tell: (event: OrderEvent) => void;
  /** With the ids that the market has for the assets. */
  readonly bodyOf: (order: Order, ttlSeconds: number) => Promise<RequestBody>;
  /**
   * Examines it by own nodes, asks where a person is to be asked, and accepts it. `binding` comes
   * before the market hears of it.
   */
  readonly accept: (order: Order, offer: Offer, binding: () => Promise<void>) => Promise<void>;
  /** Whether a new request may be posted; else only one that stands goes on. */
  readonly mayAsk: boolean;
  /** As this profile accepted it on a thread; null: it did not. */
  readonly tradeOf: (threadId: string) => Promise<OwnTrade | null>;
};

type Asked = KeptOrder & { readonly rfqId: string };
export type AgreedOrder = Asked & {
  readonly swapId: string;
  readonly accepted: NonNullable<KeptOrder['accepted']>;
};

/** A maker may accept for so long after the last quote was taken. */
const makerSeconds = 120;
/** Below the 24 hours for which a market keeps its answer to a key. */
const keySeconds = 82_800;
const leaveMs = 8_000;

/**
 * Resolves once there is a swap. Throws Failure `no_quotes`, `not_good_enough`, `lapsed` and
 * `request_over` of the class `no_quote`, errors of `accept` of this side, and the signal's reason.
 * It leaves no request behind then, or has told `stands`.
 */
export async function agreedOn(
  asking: Asking,
  order: Order,
  before: KeptOrder | null,
): Promise<AgreedOrder> {
  try {
    const kept = await askedFor(asking, order, before);
    asking.tell({ step: 'asked', rfqId: kept.rfqId, until: kept.until });
    return await bargained(asking, order, kept);
  } catch (error) {
    // If this fails too, the first error says why.
    await left(asking, order.id).catch(() => 'unknown');
    throw error;
  }
}

/** The request that stands, or a new one. */
async function askedFor(asking: Asking, order: Order, before: KeptOrder | null): Promise<Asked> {
  const { session, mayAsk } = asking;
  const now = session.now();
  if (before !== null && isAsked(before)) {
    if (await stillStanding(asking, before)) {
      const next = { ...before, ...boundOf(order) };
      // A "resume" that comes after a kill knows no other words.
      await keepOrder(session, next);
      return next;
    }
  } else if (before !== null && now - before.askedAt < keySeconds) {
    try {
      return await posted(asking, order, before);
    } catch (error) {
      // The market keeps its refusal of then under the key, and has posted no request.
      if (!mayAsk || !isRefusal(error)) throw error;
    }
  }
  if (!mayAsk) {
    await dropOrder(session, order.id);
    throw new Failure('no_quote', 'request_over', 'its request has ended: nothing was agreed');
  }
  const ttlSeconds = order.waitSeconds + makerSeconds;
  const body = await asking.bodyOf(order, ttlSeconds);
  const next = {
    ...wordsOfOrder(order),
    body,
    key: crypto.randomUUID(),
    askedAt: now,
    until: now + order.waitSeconds,
  };
  return posted(asking, order, { ...next, rfqId: null, accepted: null, swapId: null });
}

const isAsked = (kept: KeptOrder): kept is Asked => kept.rfqId !== null;

/** The words of now: a person may have thought better of a bound. */
const boundOf = (order: Order) => ({ limit: wordsOfOrder(order).limit });

async function posted(asking: Asking, order: Order, kept: KeptOrder): Promise<Asked> {
  const { session, client, signal } = asking;
  await keepOrder(session, kept);
  try {
    const { id: rfqId } = await client.createRfq(kept.body, { idempotencyKey: kept.key, signal });
    const asked = { ...kept, ...boundOf(order), rfqId };
    await keepTerms(session, rfqId, {
      party: 'taker',
      direction: directionOf(order.side),
      baseAmount: order.baseAmount,
      base: order.base,
      quote: order.quote,
    });
    await keepOrder(session, asked);
    return asked;
  } catch (error) {
    if (isRefusal(error)) await dropOrder(session, kept.id);
    throw error;
  }
}

/** The market has heard it, and done nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ParleyApiError && !error.unreachable && error.code !== 'still_running';

/** Whether an order goes on with its request. Throws Failure `acceptance_stands`. */
async function stillStanding(asking: Asking, kept: Asked): Promise<boolean> {
  const { client, session, signal } = asking;
  const isGone = await client.rfq(kept.rfqId, { signal }).then(isOver, (error: unknown) => {
    if (error instanceof ParleyApiError && error.status === 404) return true;
    throw error;
  });
  const now = session.now();
  if (!isGone) {
    const isLate = now >= kept.until && kept.accepted === null;
    return !isLate || (await left(asking, kept.id)) !== 'gone';
  }
  const { accepted } = kept;
  const until = accepted === null ? 0 : lapsesAt(accepted);
  // A market could say that it is over, and make a swap of the acceptance all the same.
  if (now < until) {
    const sentence = `its request has ended, and your acceptance on it stands until ${deadlineOf(until, now)}`;
    throw needsYou('acceptance_stands', `${sentence}: run this again then`);
  }
  return false;
}

const lapsesAt = ({ at }: { readonly at: number }): number =>
  at + defaultAcceptTtlSeconds + clockToleranceSeconds;

type Bargain = {
  kept: Asked;
  /** Prices that were refused, by their thread. */
  readonly passed: Map<string, bigint>;
  /** When the first good offer was seen. */
  firstAt: number | null;
  trouble: Told | null;
  count: number;
  best: Offer | null;
  seen: string;
};

async function bargained(asking: Asking, order: Order, kept: Asked): Promise<AgreedOrder> {
  const { signal, session, pause } = asking;
  const passed = new Map<string, bigint>();
  const nothing = { firstAt: null, trouble: null, count: 0, best: null, seen: seenOf([]) };
  const bargain: Bargain = { kept, passed, ...nothing };
  for (;;) {
    signal.throwIfAborted();
    const threads = await threadsNow(asking, bargain);
    const agreed = threads?.find(({ swapId }) => swapId !== null);
    if (agreed?.swapId != null) return begun(asking, bargain, agreed.id, agreed.swapId);
    const standing = threads?.find(
      ({ status, takerAccepted }) => status === 'open' && takerAccepted,
    );
    if (standing !== undefined) await mustNotHaveLapsed(asking, bargain, standing);
    else if (threads?.some(({ rfq }) => isOver(rfq)) === true)
      throw nothingOf(order, bargain, true);
    else if (session.now() >= bargain.kept.until) {
      const how = await left(asking, order.id);
      if (how === 'gone') throw nothingOf(order, bargain, false);
      if (how === 'stands') mustEnd(asking, bargain.kept);
      if (how === 'unknown') throw bargain.trouble === null ? silent() : failureOf(bargain.trouble);
    } else if (threads !== null && (await tookBest(asking, order, bargain, threads))) continue;
    await pause();
  }
}

/** A market that neither cancels nor shows an acceptance is waited for no longer than for one. */
function mustEnd({ session }: Asking, { until: at }: Asked): void {
  if (session.now() >= lapsesAt({ at })) throw lapsed();
}

const silent = () =>
  new Failure('market_unavailable', 'no_answer', 'the market does not answer: run this again');

/** All quotes of the request; null: the market does not answer now. */
async function threadsNow(asking: Asking, bargain: Bargain): Promise<Thread[] | null> {
  const { client, signal, tell } = asking;
  try {
    return await quotesOf(client, bargain.kept.rfqId, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ParleyApiError && error.unreachable)) throw error;
    bargain.trouble = toldOf(error);
    tell({ step: 'trouble', threadId: null, told: bargain.trouble });
    return null;
  }
}

async function begun(
  { session, tell, tradeOf }: Asking,
  { kept }: Bargain,
  threadId: string,
  swapId: string,
): Promise<AgreedOrder> {
  const trade = await tradeOf(threadId);
  if (trade === null || trade.rfqId !== kept.rfqId) {
    const sentence = `swap ${swapId} was accepted elsewhere: this profile does not know its terms`;
    throw needsYou('accepted_elsewhere', sentence);
  }
  const { quoteAmount, acceptedAt: at } = trade;
  const agreed = { ...kept, accepted: { threadId, price: String(quoteAmount), at }, swapId };
  await keepOrder(session, agreed);
  tell({ step: 'agreed', threadId, swapId });
  return agreed;
}

/** An acceptance that no market ends is waited for so long, and no longer. */
async function mustNotHaveLapsed(asking: Asking, bargain: Bargain, thread: Thread): Promise<void> {
  const { session, tell } = asking;
  const now = session.now();
  if (bargain.kept.accepted?.threadId !== thread.id) {
    const accepted = { threadId: thread.id, price: thread.quoteAmount, at: now };
    bargain.kept = { ...bargain.kept, accepted };
    await keepOrder(session, bargain.kept);
  }
  const accepted = bargain.kept.accepted;
  const until = accepted === null ? now : lapsesAt(accepted);
  if (now >= until) throw lapsed();
  const key = `accepted ${thread.id}`;
  if (bargain.seen === key) return;
  bargain.seen = key;
  tell({ step: 'accepted', threadId: thread.id, until: until - clockToleranceSeconds });
}

const lapsed = () =>
  new Failure('no_quote', 'lapsed', 'the maker did not accept in time: nothing was agreed');

/** Whether an offer was accepted, or refused: there is something new to look at. */
async function tookBest(
  asking: Asking,
  order: Order,
  bargain: Bargain,
  threads: readonly Thread[],
): Promise<boolean> {
  const { session, tell } = asking;
  const now = session.now();
  const { passed } = bargain;
  const offers = offersIn(threads, order, now).filter(
    ({ thread, price }) => passed.get(thread.id) !== price,
  );
  const [first = null] = offers;
  const seen = seenOf(offers);
  if (seen !== bargain.seen) tell({ step: 'quotes', count: offers.length, best: first });
  bargain.seen = seen;
  bargain.count = Math.max(bargain.count, offers.length);
  bargain.best = first ?? bargain.best;
  const [best] = goodOffers(offers, order);
  if (best === undefined) return false;
  bargain.firstAt ??= now;
  const { firstAt } = bargain;
  if (!isTime(best, { firstAt, now, until: bargain.kept.until })) return false;
  await accepted(asking, order, bargain, best);
  return true;
}

const seenOf = (offers: readonly Offer[]): string =>
  JSON.stringify([offers.length, offers[0]?.thread.id, String(offers[0]?.price)]);

async function accepted(asking: Asking, order: Order, bargain: Bargain, offer: Offer) {
  const { session, signal, tell } = asking;
  const { thread, price } = offer;
  const binding = async () => {
    signal.throwIfAborted();
    const at = session.now();
    const next = { threadId: thread.id, price: String(price), at };
    bargain.kept = { ...bargain.kept, accepted: next };
    await keepOrder(session, bargain.kept);
  };
  try {
    await asking.accept(order, offer, binding);
    bargain.trouble = null;
  } catch (error) {
    signal.throwIfAborted();
    const told = toldOf(error);
    if (!isOfOffer(told)) throw error;
    bargain.trouble = told;
    tell({ step: 'trouble', threadId: thread.id, told });
    const passes = told.class === 'market_unavailable' || told.class === 'chain_unavailable';
    if (passes) await asking.pause();
    else bargain.passed.set(thread.id, price);
  }
}

/** Another offer may do, or the same one later; else it is this side that lacks something. */
function isOfOffer({ class: of, code }: Told): boolean {
  if (code === 'key_invalid') return false;
  const ofOthers = ['refused', 'not_verified', 'market_unavailable', 'chain_unavailable'];
  return ofOthers.includes(of) || code === 'price_ended' || code === 'price_moved';
}

function nothingOf(order: Order, bargain: Bargain, isRequestOver: boolean): Failure {
  const { trouble, kept, best, count } = bargain;
  if (trouble !== null) return failureOf(trouble);
  if (kept.accepted !== null) return lapsed();
  if (isRequestOver) {
    return new Failure('no_quote', 'request_over', 'its request has ended: nothing was agreed');
  }
  const waited = `within ${order.waitSeconds} seconds`;
  if (best === null) return new Failure('no_quote', 'no_quotes', `no maker quoted ${waited}`);
  const price = shownAmount(best.price, order.quote);
  const bound =
    order.limit === null ? '' : `, and the bound is ${shownAmount(order.limit, order.quote)}`;
  const sentence = `the last best of ${count} ${count === 1 ? 'quote' : 'quotes'} ${waited} was ${price}`;
  return new Failure('no_quote', 'not_good_enough', `${sentence}${bound}`);
}

const failureOf = (told: Told) => new Failure(told.class, told.code, told.sentence);

/**
 * Takes the request back. `gone`: it can be agreed no more, and its file is removed.
 * `stands`: it was agreed, or an acceptance stands.
 */
async function left(asking: Asking, id: string): Promise<'gone' | 'stands' | 'unknown'> {
  const { session, client, tell } = asking;
  const kept = await readOrder(session, id);
  if (kept === null || kept.swapId !== null) return kept === null ? 'gone' : 'stands';
  const { rfqId } = kept;
  const how = rfqId === null ? 'unknown' : await cancelled(client, rfqId);
  if (how !== 'gone') tell({ step: 'stands', rfqId });
  else {
    await dropOrder(session, id);
    if (rfqId !== null) tell({ step: 'withdrawn', rfqId });
  }
  return how;
}

/** By a signal of its own: a person who interrupts wants it too. */
async function cancelled(client: Asking['client'], rfqId: string) {
  const signal = AbortSignal.timeout(leaveMs);
  try {
    await client.cancelRfq(rfqId, { signal });
    return 'gone';
  } catch (error) {
    if (!isRefusal(error)) return 'unknown';
  }
  // It is agreed, an acceptance stands, or it has ended by itself.
  try {
    return isOver(await client.rfq(rfqId, { signal })) ? 'gone' : 'stands';
  } catch {
    return 'unknown';
  }
}
