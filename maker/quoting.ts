// Quoting: each RFQ of the book is looked at when it comes and again and again while it stands.
// What can be promised is quoted, and a quote follows its price.

import type { Millis } from '../core/nominal.ts';
import { QuoteError } from '../sdk/errors.ts';
import type { BookChange, MakerFeed } from '../sdk/feed.ts';
import type { Rfq } from '../sdk/types.ts';
import type { Limits, PairConfig } from './config/config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Prices } from './prices/sources.ts';
import type { OpenQuote, Promises } from './promises.ts';
import type { Refusal } from './rules/decide.ts';
import { type Match, matchOf, quoteAmountOf } from './rules/matching.ts';
import { marginBps, type Terms, termsAt } from './rules/price.ts';

/** A quote is not sent later than this after it was decided. */
const goodForMs = 2_000;
/** An RFQ that ends sooner than this cannot be agreed on in time. */
const leastLeftMs = 5_000;
/** After a refusal of the market the same RFQ is left alone for so long. */
const refusedRestMs = 30_000;
/** Quotes on their way. */
const mostSending = 20;

export type Quoting = ReturnType<typeof createQuoting>;

export type QuotingInput = {
  readonly feed: () => Pick<MakerFeed, 'book' | 'quote' | 'state'>;
  readonly promises: Promises;
  readonly prices: Prices;
  readonly pairs: readonly PairConfig[];
  readonly idOf: (name: string) => string | undefined;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Millis;
};

export function createQuoting(input: QuotingInput) {
  const { feed, promises, prices, pairs, idOf, limits, log, metrics, now } = input;
  /** Why an RFQ is not quoted, as it was told. */
  const told = new Map<string, string>();
  const sending = new Set<string>();
  const resting = new Map<string, Millis>();
  const pace = createPace(limits.quotesAMinute, now);

  const refuse = (rfq: Rfq, { code, sentence }: Refusal) => {
    if (promises.quotes.has(rfq.id)) {
      promises.unquoted(rfq.id);
      log.info('quote_over', { rfqId: rfq.id, code, why: sentence });
    }
    if (told.get(rfq.id) === code) return;
    told.set(rfq.id, code);
    metrics.refused.inc({ step: 'quote', code });
    log.info('not_quoted', { rfqId: rfq.id, code, why: sentence });
  };

  const send = async (quote: OpenQuote, quoteAmount: bigint) => {
    const { rfq, match } = quote;
    sending.add(rfq.id);
    try {
      const { threadId } = await feed().quote(rfq.id, quoteAmount, { goodForMs });
      metrics.quotes.inc({ pair: match.pair.name });
      log.info('quoted', {
        ...{ rfqId: rfq.id, threadId, pair: match.pair.name, quoteAmount },
        ...{ gives: quote.terms.gives, base: quote.terms.base, quote: quote.terms.quote },
      });
      const there = promises.quotes.get(rfq.id);
      if (there === quote) promises.quoted({ ...quote, threadId });
    } catch (error) {
      if (!(error instanceof QuoteError)) throw error;
      const { fault, code, message } = error;
      // What may have been taken counts until its time is over.
      if (fault !== 'unknown' && promises.quotes.get(rfq.id) === quote) promises.unquoted(rfq.id);
      if (fault === 'refused' && code === 'rate_limited') pace.stop();
      else if (fault === 'refused') resting.set(rfq.id, now() + refusedRestMs);
      log.warn('quote_failed', { rfqId: rfq.id, fault, code, why: message });
    } finally {
      sending.delete(rfq.id);
    }
  };

  /** Whether the price has moved so far that the quote is not the maker's any more. */
  const hasMoved = ({ match: { pair }, terms }: OpenQuote): boolean => {
    const price = prices.of(pair.price);
    if (price === null) return true;
    const units = { base: pair.base.decimals, quote: pair.quote.decimals };
    const off = marginBps(terms, price, units) - pair.spreadBps;
    const moves = pair.slipBps / 2n;
    return off < -moves || off > moves + pair.spreadBps;
  };

  /** Whether what is quoted can still be promised. The market is told nothing. */
  const prolong = (before: OpenQuote) => {
    const verdict = promises.verdict(before.rfq, before.match, before.terms, 'proposal');
    if (verdict.refused !== null) return refuse(before.rfq, verdict.refused);
    promises.quoted({ ...before, takes: verdict.takes, untilMs: untilMs() });
  };

  const untilMs = () => now() + limits.quoteSeconds * 1_000;

  const consider = (rfq: Rfq) => {
    if (sending.has(rfq.id) || sending.size >= mostSending || isPromised(rfq)) return;
    if (now() < (resting.get(rfq.id) ?? 0)) return;
    const before = promises.quotes.get(rfq.id);
    if (before !== undefined && !hasMoved(before)) {
      if (now() >= before.untilMs) prolong(before);
      return;
    }
    const match = matchOf(rfq, pairs, idOf);
    if (match === null) return;
    if (Date.parse(rfq.expiresAt) - now() < leastLeftMs) {
      return refuse(rfq, { code: 'expires', sentence: `it ends at ${rfq.expiresAt}` });
    }
    const terms = termsFor(match);
    if ('code' in terms) return refuse(rfq, terms);
    const verdict = promises.verdict(rfq, match, terms, 'quote');
    if (verdict.refused !== null) return refuse(rfq, verdict.refused);
    if (!pace.take()) return;
    told.delete(rfq.id);
    const { takes } = verdict;
    const quote = { rfq, match, terms, takes, untilMs: untilMs(), threadId: null };
    promises.quoted(quote);
    void send(quote, quoteAmountOf(match, terms)).catch((error: unknown) => {
      log.error('quote_failed', { rfqId: rfq.id, why: String(error) });
    });
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
    /** Looks at the whole book. */
    look: () => {
      const { book, state } = feed();
      if (state() !== 'live') return;
      for (const rfq of book.values()) consider(rfq);
      for (const [rfqId, { untilMs }] of promises.quotes) {
        if (!book.has(rfqId) && now() >= untilMs) promises.unquoted(rfqId);
      }
      metrics.openQuotes.set(promises.quotes.size);
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
