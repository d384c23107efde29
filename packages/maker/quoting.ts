// Quoting: each RFQ of the book is looked at when it comes and again and again while it stands.
// The maker quotes a price that it can promise for a while, prolongs it, and lets it follow its
// source. A quote that can no longer be promised is withdrawn. The decisions of one round leave in
// one request.

import type { Millis } from '@parley/core/nominal.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { codeOf, messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import type { BookChange, MakerFeed } from '@parley/sdk/feed.ts';
import type { QuoteOutcome, Rfq } from '@parley/sdk/types.ts';
import type { Limits, PairConfig } from './config/config.ts';
import type { OpenQuote } from './promises.ts';
import { modeRefusal, type Refusal } from './rules/decide.ts';
import { type Match, matchOf, quoteAmountOf } from './rules/matching.ts';
import type { Terms } from './rules/price.ts';
import type { Trading } from './trading.ts';

/** Between two looks at the book. */
export const bookMs = 1_000;
/** After a price came, before the book is looked at. */
export const priceMs = 100;
/** The market has to answer a quote within this; later it may have taken it. */
const answerMs = 5_000;
/** A quote is prolonged when this part of its time is left. */
const lastPart = 3;
/** An RFQ that ends sooner than this cannot be agreed on in time. */
const leastLeftMs = 5_000;
/** After a refusal of the market the same RFQ is left alone for so long. */
const refusedRestMs = 30_000;
/** After no answer: it is asked again whether it was taken. */
const silentRestMs = 2_000;
/** Quotes of one request: as many as the market takes. */
const mostInBatch = 50;
/** Prices on their way. */
const mostSending = 200;
/** The pages of a withdrawal of all quotes: 500 quotes each, and a maker has 1 000. */
const mostPages = 5;

type QuotingInput = Trading & {
  /** null: not connected yet. */
  readonly feed: () => Pick<MakerFeed, 'book' | 'state'> | null;
  readonly client: Pick<ParleyClient, 'quoteMany' | 'withdrawQuote' | 'withdrawQuotes'>;
  readonly idOf: (name: string) => string | undefined;
};

/** A quote that is decided on. */
type Due = {
  readonly quote: OpenQuote;
  /** A quote that the taker has accepted is left to that acceptance. */
  readonly unlessAccepted: boolean;
  /** The quote that stood in its place. */
  readonly before: OpenQuote | undefined;
};

export function createQuoting(input: QuotingInput) {
  const { feed, client, promises, turns, pairs, idOf, limits, log, metrics } = input;
  const { mode, now, signal } = input;
  /** Why an RFQ is not quoted, as it was told. */
  const told = new Map<string, string>();
  const resting = new Map<string, Millis>();
  const pace = createPace(limits, mostInBatch, now);
  /** Decided on in this go. */
  const due: Due[] = [];
  const leaving: OpenQuote[] = [];

  const limit = () => AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);

  const later = <Each>(list: Each[], rfq: Rfq, each: Each) => {
    turns.take(rfq.id);
    if (due.length + leaving.length === 0) queueMicrotask(flush);
    list.push(each);
  };

  const flush = () => {
    const gone = leaving.splice(0);
    const isAll = gone.length > 1 && promises.quotes.size === 0;
    void inTurn(gone, isAll ? withdrawAll : () => Promise.all(gone.map(withdraw)));
    while (due.length > 0) {
      const batch = due.splice(0, mostInBatch);
      const quotes = batch.map(({ quote }) => quote);
      void inTurn(quotes, () => send(batch));
    }
  };

  const inTurn = async (quotes: readonly OpenQuote[], work: () => Promise<unknown>) => {
    try {
      await work();
    } finally {
      for (const { rfq } of quotes) turns.end(rfq.id);
    }
  };

  /** The quote is no longer promised; the market may have ended it already. */
  const withdraw = async ({ rfq, threadId }: OpenQuote) => {
    if (threadId === null) return;
    try {
      await client.withdrawQuote(threadId, { signal: limit() });
      log.info('withdrawn', { rfqId: rfq.id, threadId });
    } catch (error) {
      const facts = { rfqId: rfq.id, threadId, code: codeOf(error), error: messageOf(error) };
      log.warn('not_withdrawn', facts);
    }
  };

  /** The maker withdraws all quotes of the account, by few requests. */
  const withdrawAll = async () => {
    try {
      let after: string | null = null;
      for (let page = 0; page < mostPages; page += 1) {
        const from: { after?: string } = after === null ? {} : { after };
        const { withdrawn, next } = await client.withdrawQuotes(from, { signal: limit() });
        log.info('withdrawn_all', { quotes: withdrawn });
        if (next === null) return;
        after = next;
      }
    } catch (error) {
      log.warn('not_withdrawn', { code: codeOf(error), error: messageOf(error) });
    }
  };

  const refuse = (rfq: Rfq, { code, sentence }: Refusal) => {
    const before = promises.quotes.get(rfq.id);
    promises.unquoted(rfq.id);
    if (before !== undefined && now() < before.untilMs) later(leaving, rfq, before);
    if (told.get(rfq.id) === code) return;
    told.set(rfq.id, code);
    metrics.refused.inc({ step: 'quote', code });
    log.info('not_quoted', { rfqId: rfq.id, code, why: sentence });
  };

  const send = async (batch: readonly Due[]) => {
    pace.sent(batch.length);
    const quotes = batch.map(({ quote: { rfq, match, terms }, unlessAccepted }) => ({
      rfqId: rfq.id,
      quoteAmount: quoteAmountOf(match, terms).toString(),
      validForSeconds: limits.quoteSeconds,
      unlessAccepted,
    }));
    try {
      const outcomes = await client.quoteMany(quotes, { signal: limit() });
      const byRfq = new Map(outcomes.map((each) => [each.rfqId, each]));
      await Promise.all(batch.map((each) => arrived(each, byRfq.get(each.quote.rfq.id))));
    } catch (error) {
      if (signal.aborted) return;
      for (const each of batch) failed(each, error);
    }
  };

  const arrived = async (each: Due, outcome: QuoteOutcome | undefined) => {
    const { quote } = each;
    const { rfq, match, terms } = quote;
    const { status = 0, threadId, code = 'no_answer', error = 'no outcome of it' } = outcome ?? {};
    if (threadId === undefined) {
      return failed(each, new ParleyApiError({ status, code, message: error }));
    }
    metrics.quotes.inc({ pair: match.pair.name });
    log.info('quoted', {
      rfqId: rfq.id,
      threadId,
      pair: match.pair.name,
      quoteAmount: quoteAmountOf(match, terms),
      gives: terms.gives,
      base: terms.base,
      quote: terms.quote,
    });
    if (promises.quotes.get(rfq.id) === quote) promises.quoted({ ...quote, threadId });
    // It was given up while it was on its way.
    else if (!isPromised(rfq)) await withdraw({ ...quote, threadId });
  };

  const failed = ({ quote, before }: Due, error: unknown) => {
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
    // A quote without an answer may have been taken, and counts until its time is over.
    if (isOver) pace.stop();
    else resting.set(rfq.id, now() + (isAnswered && !isLeft ? refusedRestMs : silentRestMs));
    log.warn('quote_failed', { rfqId: rfq.id, code, error: messageOf(error) });
  };

  const offer = (rfq: Rfq, match: Match<PairConfig>, terms: Terms, before?: OpenQuote) => {
    const same = before !== undefined && before.terms === terms;
    const verdict = promises.verdict(rfq, match, terms, same ? 'proposal' : 'quote');
    if (verdict.refused !== null) return refuse(rfq, verdict.refused);
    if (!pace.hasRoom(due.length)) return;
    told.delete(rfq.id);
    const threadId = before?.threadId ?? null;
    const { takes } = verdict;
    const quote = { rfq, match, terms, takes, untilMs: promises.untilMs(), threadId };
    promises.quoted(quote);
    // A quote that would be refused when it is accepted is moved. The process knows nothing of a
    // quote of an earlier process: it polls first how that one ended.
    const off = before === undefined ? 0n : promises.offOf(before.match, before.terms);
    const unlessAccepted = off !== null && off >= -match.pair.slipBps;
    later(due, rfq, { quote, unlessAccepted, before });
  };

  const consider = (rfq: Rfq) => {
    if (turns.isTaken(rfq.id) || turns.size() >= mostSending || isPromised(rfq)) return;
    if (now() < (resting.get(rfq.id) ?? 0)) return;
    const before = promises.quotes.get(rfq.id);
    const off = modeRefusal(mode(), 'quote');
    const leftMs = (before?.untilMs ?? 0) - now();
    // A quote that stands when quoting is paused holds to the end of its time.
    if (off?.code === 'paused' && leftMs > 0) return;
    if (off !== null) return refuse(rfq, off);
    const isSame = before !== undefined && !promises.hasMoved(before);
    const isThere = isSame && before.threadId !== null;
    if (isThere && leftMs * lastPart > limits.quoteSeconds * 1_000) return;
    const match = before?.match ?? matchOf(rfq, pairs, idOf);
    if (match === null) return;
    if (Date.parse(rfq.expiresAt) - now() < leastLeftMs) {
      return refuse(rfq, { code: 'expires', sentence: `it ends at ${rfq.expiresAt}` });
    }
    const terms = isSame ? before.terms : promises.termsFor(match);
    if ('code' in terms) return refuse(rfq, terms);
    offer(rfq, match, terms, before);
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
      // A refusal may come after its RFQ has left the book.
      for (const rfqId of resting.keys()) if (!book.has(rfqId)) resting.delete(rfqId);
      for (const rfqId of told.keys()) if (!book.has(rfqId)) told.delete(rfqId);
      metrics.openQuotes.set(promises.quotes.size);
    },
    /** All of them, at the end of the process. */
    withdraw: async () => {
      const rfqIds = [...promises.quotes.keys()];
      for (const rfqId of rfqIds) promises.unquoted(rfqId);
      if (rfqIds.length > 0) await withdrawAll();
    },
  };
}

// How fast a maker may quote: so many quotes and so many requests within a minute, and none for a
// while after the market has said that it is too many.

/** The maker quotes nothing for this time after the market has refused its pace. */
const windowMs = 60_000;
/** After the market has refused one as too many. */
const stoppedMs = windowMs / 4;

type Sent = { readonly at: Millis; readonly quotes: number };

function createPace(
  { quotesAMinute, requestsAMinute }: Pick<Limits, 'quotesAMinute' | 'requestsAMinute'>,
  mostInBatch: number,
  now: () => Millis,
) {
  const sent: Sent[] = [];
  let stoppedUntil = 0;
  return {
    /** Whether one more quote may be sent beside so many that wait to be. */
    hasRoom: (waiting: number): boolean => {
      const at = now();
      while (sent.length > 0 && (sent[0]?.at ?? 0) <= at - windowMs) sent.shift();
      const quotes = sent.reduce((sum, each) => sum + each.quotes, waiting + 1);
      const requests = sent.length + Math.ceil((waiting + 1) / mostInBatch);
      return at >= stoppedUntil && quotes <= quotesAMinute && requests <= requestsAMinute;
    },
    /** One request with so many. */
    sent: (quotes: number): void => void sent.push({ at: now(), quotes }),
    stop: (): void => {
      stoppedUntil = now() + stoppedMs;
    },
  };
}
