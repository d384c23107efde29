// Quoting: each RFQ of the book is looked at when it comes and again and again while it stands.
// What can be promised is quoted for a while and prolonged, and it follows its price. What cannot
// be promised any more is withdrawn.

import type { Millis } from '../core/nominal.ts';
import type { ParleyClient } from '../sdk/client.ts';
import { codeOf, messageOf, ParleyApiError } from '../sdk/errors.ts';
import type { BookChange, MakerFeed } from '../sdk/feed.ts';
import type { Rfq } from '../sdk/types.ts';
import type { Limits, PairConfig } from './config/config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Prices } from './prices/sources.ts';
import type { OpenQuote, Promises } from './promises.ts';
import { type Mode, modeRefusal, type Refusal } from './rules/decide.ts';
import { type Match, matchOf, quoteAmountOf } from './rules/matching.ts';
import { marginBps, type Terms, termsAt } from './rules/price.ts';

/** The market has to answer a quote within this; later it may have taken it. */
const answerMs = 5_000;
/** A quote is prolonged when this part of its time is left. */
const lastPart = 3;
/** The market's clock begins when it hears of it. */
const heardMs = 2_000;
/** An RFQ that ends sooner than this cannot be agreed on in time. */
const leastLeftMs = 5_000;
/** After a refusal of the market the same RFQ is left alone for so long. */
const refusedRestMs = 30_000;
/** After no answer: it is asked again whether it was taken. */
const silentRestMs = 2_000;
/** Quotes on their way. */
const mostSending = 20;

export type Quoting = ReturnType<typeof createQuoting>;

export type QuotingInput = {
  /** null: not connected yet. */
  readonly feed: () => Pick<MakerFeed, 'book' | 'state'> | null;
  readonly client: Pick<ParleyClient, 'quote' | 'withdrawQuote'>;
  readonly promises: Promises;
  readonly prices: Prices;
  readonly pairs: readonly PairConfig[];
  readonly idOf: (name: string) => string | undefined;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly mode: () => Mode;
  readonly now: () => Millis;
  readonly signal: AbortSignal;
};

export function createQuoting(input: QuotingInput) {
  const { feed, client, promises, prices, pairs, idOf, limits, log, metrics } = input;
  const { mode, now, signal } = input;
  /** Why an RFQ is not quoted, as it was told. */
  const told = new Map<string, string>();
  const sending = new Set<string>();
  const resting = new Map<string, Millis>();
  const pace = createPace(limits.quotesAMinute, now);

  const limit = () => AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);

  /** What is promised no more is withdrawn; the market may have ended it already. */
  const withdraw = async ({ rfq, threadId }: OpenQuote) => {
    promises.unquoted(rfq.id);
    if (threadId === null) return;
    try {
      await client.withdrawQuote(threadId, { signal: limit() });
      log.info('withdrawn', { rfqId: rfq.id, threadId });
    } catch (error) {
      const facts = { rfqId: rfq.id, threadId, code: codeOf(error), error: messageOf(error) };
      log.warn('not_withdrawn', facts);
    }
  };

  const refuse = (rfq: Rfq, { code, sentence }: Refusal) => {
    const before = promises.quotes.get(rfq.id);
    if (before !== undefined && now() < before.untilMs) void withdraw(before);
    else promises.unquoted(rfq.id);
    if (told.get(rfq.id) === code) return;
    told.set(rfq.id, code);
    metrics.refused.inc({ step: 'quote', code });
    log.info('not_quoted', { rfqId: rfq.id, code, why: sentence });
  };

  /** `unlessAccepted`: what the taker has accepted is left to that acceptance. */
  const send = async (quote: OpenQuote, unlessAccepted: boolean, before: OpenQuote | undefined) => {
    const { rfq, match, terms } = quote;
    const quoteAmount = quoteAmountOf(match, terms);
    const how = { validForSeconds: limits.quoteSeconds, unlessAccepted, signal: limit() };
    sending.add(rfq.id);
    try {
      const { id: threadId } = await client.quote(rfq.id, quoteAmount.toString(), how);
      metrics.quotes.inc({ pair: match.pair.name });
      log.info('quoted', {
        ...{ rfqId: rfq.id, threadId, pair: match.pair.name, quoteAmount },
        ...{ gives: terms.gives, base: terms.base, quote: terms.quote },
      });
      if (promises.quotes.get(rfq.id) === quote) promises.quoted({ ...quote, threadId });
      // It was given up while it was on its way.
      else if (!isPromised(rfq)) await withdraw({ ...quote, threadId });
    } catch (error) {
      if (signal.aborted) return;
      failed(quote, before, error);
    } finally {
      sending.delete(rfq.id);
    }
  };

  const failed = (quote: OpenQuote, before: OpenQuote | undefined, error: unknown) => {
    const { rfq } = quote;
    const code = codeOf(error);
    const isOver = error instanceof ParleyApiError && error.status === 429;
    const isAnswered = isOver || (error instanceof ParleyApiError && !error.unreachable);
    // An acceptance that came meanwhile is looked at within a moment, by the price of then.
    const isLeft = code === 'taker_accepted';
    if (isAnswered && promises.quotes.get(rfq.id) === quote) {
      if (before && (isLeft || now() < before.untilMs)) promises.quoted(before);
      else promises.unquoted(rfq.id);
    }
    // What has no answer may have been taken, and counts until its time is over.
    if (isOver) pace.stop();
    else resting.set(rfq.id, now() + (isAnswered && !isLeft ? refusedRestMs : silentRestMs));
    log.warn('quote_failed', { rfqId: rfq.id, code, error: messageOf(error) });
  };

  const untilMs = () => now() + limits.quoteSeconds * 1_000 + heardMs;

  /** By how much the margin of now is off the spread; null without a price. */
  const offOf = ({ match: { pair }, terms }: OpenQuote): bigint | null => {
    const price = prices.of(pair.price);
    const units = { base: pair.base.decimals, quote: pair.quote.decimals };
    return price && marginBps(terms, price, units) - pair.spreadBps;
  };

  /** Whether the price has moved so far that the quote is not the maker's any more. */
  const hasMoved = (quote: OpenQuote): boolean => {
    const off = offOf(quote);
    const { spreadBps, slipBps } = quote.match.pair;
    return off === null || off < -slipBps / 2n || off > slipBps / 2n + spreadBps;
  };

  const offer = (rfq: Rfq, match: Match<PairConfig>, terms: Terms, before?: OpenQuote) => {
    const same = before !== undefined && before.terms === terms;
    const verdict = promises.verdict(rfq, match, terms, same ? 'proposal' : 'quote');
    if (verdict.refused !== null) return refuse(rfq, verdict.refused);
    if (!pace.take()) return;
    told.delete(rfq.id);
    const threadId = before?.threadId ?? null;
    const quote = { rfq, match, terms, takes: verdict.takes, untilMs: untilMs(), threadId };
    promises.quoted(quote);
    // What would be refused when it is accepted is moved. Of a quote of an earlier process nothing
    // is known: what became of it is looked at first.
    const off = before === undefined ? 0n : offOf(before);
    const unlessAccepted = off !== null && off >= -match.pair.slipBps;
    void send(quote, unlessAccepted, before);
  };

  const consider = (rfq: Rfq) => {
    if (sending.has(rfq.id) || sending.size >= mostSending || isPromised(rfq)) return;
    if (now() < (resting.get(rfq.id) ?? 0)) return;
    const before = promises.quotes.get(rfq.id);
    const off = modeRefusal(mode(), 'quote');
    const leftMs = (before?.untilMs ?? 0) - now();
    // What stands when quoting is paused holds to the end of its time.
    if (off?.code === 'paused' && leftMs > 0) return;
    if (off !== null) return refuse(rfq, off);
    const isSame = before !== undefined && !hasMoved(before);
    const isThere = isSame && before.threadId !== null;
    if (isThere && leftMs * lastPart > limits.quoteSeconds * 1_000) return;
    const match = before?.match ?? matchOf(rfq, pairs, idOf);
    if (match === null) return;
    if (Date.parse(rfq.expiresAt) - now() < leastLeftMs) {
      return refuse(rfq, { code: 'expires', sentence: `it ends at ${rfq.expiresAt}` });
    }
    const terms = isSame ? before.terms : termsFor(match);
    if ('code' in terms) return refuse(rfq, terms);
    offer(rfq, match, terms, before);
  };

  const termsFor = ({ pair, asked }: Match<PairConfig>): Terms | Refusal => {
    const price = prices.of(pair.price);
    if (price === null) return { code: 'no_price', sentence: 'no price that is new enough' };
    const units = { base: pair.base.decimals, quote: pair.quote.decimals };
    const terms = termsAt(asked, price, pair.spreadBps, units);
    return terms ?? { code: 'size', sentence: 'it comes to nothing at the price of now' };
  };

  const isPromised = ({ id }: Rfq) =>
    [...promises.open.values()].some(({ deal }) => deal.rfqId === id);

  return {
    changed: ({ kind, rfq }: BookChange) => {
      if (kind === 'created') return consider(rfq);
      promises.unquoted(rfq.id);
      told.delete(rfq.id);
      resting.delete(rfq.id);
    },
    /** The market withdrew the quote while this program was gone. */
    disconnected: (rfqId: string) => promises.unquoted(rfqId),
    /** Looks at the whole book. */
    look: () => {
      const { book, state } = feed() ?? {};
      if (book === undefined || state?.() !== 'live') return;
      for (const rfq of book.values()) consider(rfq);
      for (const [rfqId, { untilMs }] of promises.quotes) {
        if (!book.has(rfqId) && now() >= untilMs) promises.unquoted(rfqId);
      }
      metrics.openQuotes.set(promises.quotes.size);
    },
    /** All of them, at the end of the process. */
    withdraw: async () => {
      await Promise.all([...promises.quotes.values()].map(withdraw));
    },
  };
}

/** At most so many within a minute; none for a while after `stop`. */
function createPace(most: number, now: () => Millis) {
  const windowMs = 60_000;
  const sent: Millis[] = [];
  let stoppedUntil = 0;
  return {
    take: (): boolean => {
      const at = now();
      while (sent.length > 0 && (sent[0] ?? 0) <= at - windowMs) sent.shift();
      if (at < stoppedUntil || sent.length >= most) return false;
      sent.push(at);
      return true;
    },
    stop: () => {
      stoppedUntil = now() + windowMs / 4;
    },
  };
}
