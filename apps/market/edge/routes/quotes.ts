// Quotes: prices that makers name, one or many at once, and take back.

import { mostQuotesAtOnce } from '@parley/core/limits.ts';
import type { FastifyInstance } from 'fastify';
import { bookWriting } from '../../market/book.ts';
import { mostWithdrawn } from '../../market/bounds.ts';
import { createGroupedQuotes } from '../../market/grouped-quotes.ts';
import { createPrepareQuotes } from '../../market/quote-amounts.ts';
import { type Quote, type Quoted, quote, quoteAll } from '../../market/quotes.ts';
import { unknownRfq } from '../../market/rfqs.ts';
import { threadView } from '../../market/views.ts';
import { withdraw, withdrawSome } from '../../market/withdrawals.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { command, type Run } from '../command.ts';
import { fault, HttpError, refusalOf } from '../errors.ts';
import { idParams, threadId } from '../schemas/common.ts';
import * as shapes from '../schemas/thread.ts';
import { rfqParams } from './rfqs.ts';
import { type OfferBody, offeredIn, threadIdOf } from './threads.ts';

const tag = 'threads';

/** The commands of quoting, which the feed runs too. */
export type Quoting = { readonly one: Run; readonly many: Run };

export function registerQuotes(app: FastifyInstance, deps: Deps): Quoting {
  registerWithdrawals(app, deps);
  const writing = { ...deps, db: bookWriting(deps.db) };
  const prepare = createPrepareQuotes(deps);
  const quoteGrouped = createGroupedQuotes(writing);
  const replyOf = ({ thread, created }: Quoted) => ({
    status: created ? 201 : 200,
    body: { thread: threadView(deps, thread, deps.now()) },
  });
  const place = { app, deps: writing, tag };
  const one = command(place, 'POST /v1/rfqs/:id/quotes', 'quoteRfq', {
    about: 'Quote a price. The first one opens a thread; later ones move its price.',
    params: rfqParams,
    body: shapes.quoteBody,
    replies: { 200: shapes.threadReply, 201: shapes.threadReply },
    outcomes: { 200: 'the price of the thread there is has moved', 201: 'a thread was opened' },
    before: async ({ caller, params, body, signal }) => {
      if (!isUuid(params.id)) throw unknownRfq(params.id);
      const rfqId = params.id.toLowerCase();
      const wanted = { makerId: caller.accountId, rfqId, ...quotedIn(body, deps.now()) };
      const [error] = await prepare([wanted], signal);
      if (error) throw error;
      return wanted;
    },
    run: async (tx, { prepared }) => replyOf(await quote(tx, deps, prepared)),
    grouped: async ({ prepared }) => replyOf(await quoteGrouped(prepared)),
  });
  const many = command(place, 'POST /v1/quotes', 'quoteMany', {
    about:
      `Quote up to ${mostQuotesAtOnce} RFQs in one request. Each quote has an outcome of its own. ` +
      'An Idempotency-Key is for all of them together.',
    body: shapes.quotesBody,
    replies: { 200: shapes.quotesReply },
    before: async ({ caller, body, signal }) => {
      const wanted = wantedIn(body.quotes, caller.accountId, deps.now());
      await app.edge.budgets.chargeQuotes(caller.accountId, wanted.length);
      const quotes = wanted.filter(isQuote);
      const refused = await prepare(quotes, signal);
      const judged = quotes.map((each, at) => refused[at] ?? each);
      return {
        named: body.quotes.map(({ rfqId }) => rfqId),
        wanted: wanted.map((each) => (each instanceof Error ? each : judged.shift()!)),
      };
    },
    run: async (tx, { prepared }) =>
      outcomesOf(deps, prepared, (quotes) => quoteAll(tx, deps, quotes)),
    grouped: async ({ prepared }) =>
      outcomesOf(deps, prepared, (quotes) =>
        Promise.all(
          quotes.map((each) => quoteGrouped(each).catch((error: unknown) => error as Error)),
        ),
      ),
  });
  return { one, many };
}

function registerWithdrawals(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag };
  command(place, 'POST /v1/threads/:id/withdraw', 'withdrawQuote', {
    about:
      'Take your quote back. The thread is closed until you quote the RFQ again. Refused once ' +
      'both have accepted, and while your own acceptance stands.',
    params: idParams(threadId),
    replies: { 200: shapes.threadReply },
    run: async (tx, { caller, params }) => {
      const withdrawn = await withdraw(tx, deps, caller.accountId, threadIdOf(params));
      return { status: 200, body: { thread: threadView(deps, withdrawn, deps.now()) } };
    },
  });

  command(place, 'POST /v1/quotes/withdraw', 'withdrawQuotes', {
    about:
      `Take back all your open quotes, oldest first, up to ${mostWithdrawn} in one request. Those ` +
      'that your own acceptance binds you to stay.',
    body: shapes.withdrawBody,
    replies: { 200: shapes.withdrawReply },
    run: async (tx, { caller, body }) => {
      const of = { makerId: caller.accountId, after: body.after ?? null, limit: mostWithdrawn };
      return { status: 200, body: await withdrawSome(tx, deps, 'withdrawn', of) };
    },
  });
}

const isQuote = (each: Quote | Error): each is Quote => !(each instanceof Error);

type QuoteBody = OfferBody & { readonly unlessAccepted?: boolean };

function quotedIn(body: QuoteBody, nowMs: number) {
  return { ...offeredIn(body, nowMs), unlessAccepted: body.unlessAccepted ?? false };
}

/** The quotes that are named, and a refusal for each that can be none. */
function wantedIn(
  quotes: readonly (QuoteBody & { readonly rfqId: string })[],
  makerId: string,
  nowMs: number,
): (Quote | Error)[] {
  const places = new Map<string, number>();
  return quotes.map((each, at) => {
    const rfqId = each.rfqId.toLowerCase();
    if (!isUuid(rfqId)) return unknownRfq(each.rfqId);
    const before = places.get(rfqId);
    if (before !== undefined) {
      const sentence = `quotes ${before + 1} and ${at + 1} are on one RFQ; the first of them counts`;
      return new HttpError('bad_field', sentence);
    }
    places.set(rfqId, at);
    return { makerId, rfqId, ...quotedIn(each, nowMs) };
  });
}

type Prepared = {
  readonly named: readonly string[];
  readonly wanted: readonly (Quote | Error)[];
};

/** Takes the quotes that may be taken, and says of each what became of it. */
async function outcomesOf(
  deps: Deps,
  { named, wanted }: Prepared,
  take: (quotes: readonly Quote[]) => Promise<(Quoted | Error)[]>,
) {
  const taken = await take(wanted.filter(isQuote));
  const outcomes = wanted.map((each, at) => {
    const rfqId = named[at]!;
    const outcome = each instanceof Error ? each : taken.shift()!;
    if (!(outcome instanceof Error)) {
      const { thread, created } = outcome;
      const { id: threadId, quoteExpiresAt } = threadView(deps, thread, deps.now());
      return { status: created ? 201 : 200, rfqId, threadId, quoteExpiresAt };
    }
    const refusal = refusalOf(outcome, deps.settings.shortName);
    if (refusal === null) deps.log.error({ err: outcome }, 'a quote of many failed');
    const { status, sentence: error, code } = refusal ?? fault();
    return { status, rfqId, error, code };
  });
  return { status: 200, body: { outcomes } };
}
