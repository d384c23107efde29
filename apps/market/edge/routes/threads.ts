// The negotiation that a quote opens, and quotes: prices that makers name, one or many at once, and
// take back.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import { parseHashlock } from '@parley/core/hashlock.ts';
import { mostQuotesAtOnce } from '@parley/core/limits.ts';
import type { FastifyInstance } from 'fastify';
import { findRecord } from '../../db/agreements.ts';
import { listOwnThreads } from '../../db/own-threads.ts';
import { findRfq } from '../../db/rfqs.ts';
import { listThreads } from '../../db/threads.ts';
import { accept } from '../../market/agreement.ts';
import { bookWriting, feedWriting } from '../../market/book.ts';
import { mostWithdrawn, threadsPage } from '../../market/bounds.ts';
import { createGroupedQuotes } from '../../market/grouped-quotes.ts';
import type { Offered } from '../../market/negotiation.ts';
import { createPrepareQuotes } from '../../market/quote-amounts.ts';
import { type Quote, type Quoted, quote, quoteAll } from '../../market/quotes.ts';
import { unknownRfq } from '../../market/rfqs.ts';
import { recount, standingView, withStandings } from '../../market/standing.ts';
import { preparePropose, propose, sharedThreads, unknownThread } from '../../market/threads.ts';
import { threadView } from '../../market/views.ts';
import { withdraw, withdrawSome } from '../../market/withdrawals.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { swapOfCaller } from '../../settle/access.ts';
import { swapView } from '../../settle/view.ts';
import { command, type Place, type Run, read } from '../command.ts';
import { pageOf } from '../cursor.ts';
import { fault, HttpError, refusalOf } from '../errors.ts';
import { idParams, pageQuery, threadId } from '../schemas/common.ts';
import { accountRecord } from '../schemas/pair.ts';
import * as shapes from '../schemas/thread.ts';
import { rfqParams } from './rfqs.ts';

const tag = 'threads';
const dayMs = 86_400_000;
const params = idParams(threadId);

export function registerThreads(app: FastifyInstance, deps: Deps): void {
  registerReads(app, deps);
  command({ app, deps, tag }, 'POST /v1/threads/:id/propose', 'proposePrice', {
    about: 'Name another price. Both acceptances end.',
    params,
    body: shapes.proposeBody,
    replies: { 200: shapes.threadReply },
    before: async ({ caller, params, body, signal }) => {
      const id = threadIdOf(params);
      const offered = offeredIn(body, deps.now());
      await preparePropose(deps, caller.accountId, id, offered.quoteAmount, signal);
      return { id, offered };
    },
    run: async (tx, { caller, prepared }) => {
      const { id, offered } = prepared;
      const moved = await propose(tx, deps, caller.accountId, id, offered);
      return { status: 200, body: { thread: threadView(deps, moved, deps.now()) } };
    },
  });

  const writing = { ...deps, db: feedWriting(deps.db) };
  command({ app, deps: writing, tag }, 'POST /v1/threads/:id/accept', 'acceptPrice', {
    about:
      'Commit to the current price. When both sides have, the swap exists. The initiator gives ' +
      'the hashlock; its secret stays with it.',
    params,
    body: shapes.acceptBody,
    replies: { 200: shapes.acceptReply },
    run: async (tx, { caller, params, body }) => {
      const accepted = await accept(tx, deps, caller.accountId, threadIdOf(params), {
        quoteAmount: parseBaseUnits(body.quoteAmount, 'quoteAmount'),
        hashlock: body.hashlock === undefined ? null : parseHashlock(body.hashlock),
        rules: body.rules,
      });
      const nowMs = deps.now();
      const shown = threadView(deps, accepted, nowMs);
      if (accepted.swapId === null) return { status: 200, body: { thread: shown } };
      const { swap, party } = await swapOfCaller(tx, accepted.swapId, caller.accountId);
      return { status: 200, body: { thread: shown, swap: swapView(swap, party, nowMs) } };
    },
  });
}

function registerReads(app: FastifyInstance, deps: Deps): void {
  const readThread = sharedThreads(deps.db);
  registerRecord({ app, deps, tag }, readThread);
  read({ app, deps, tag }, '/v1/rfqs/:id/threads', 'listThreads', {
    about: 'The threads of an RFQ, newest activity first. Its creator sees all, a maker its own.',
    params: rfqParams,
    query: pageQuery({}, threadsPage),
    replies: { 200: shapes.threadList },
    handle: async ({ caller: { accountId: viewer }, params, query }) => {
      const rfqId = params.id.toLowerCase();
      const found = isUuid(rfqId) ? await findRfq(deps.db, rfqId) : null;
      if (found === null) throw unknownRfq(params.id);
      const find = (from: readonly string[] | null, limit: number) => {
        const before = from === null ? null : { updatedAt: from[0]!, id: from[1]! };
        return listThreads(deps.db, rfqId, viewer, before, limit);
      };
      const page = await pageOf(
        deps,
        { limit: threadsPage, ...query },
        { list: 'threads', rfqId, viewer },
        (from, limit) =>
          withStandings(
            deps,
            () => find(from, limit),
            (found) => found.map(({ makerId }) => makerId),
          ),
        ({ updatedAt, id }) => [updatedAt.toISOString(), id],
      );
      const nowMs = deps.now();
      const threads = page.rows.map((each) => threadView(deps, each, nowMs));
      return { threads, nextCursor: page.nextCursor };
    },
  });

  read({ app, deps, tag }, '/v1/threads', 'listQuotes', {
    about:
      'Your threads by side, status and RFQ, newest first. Without side and status: your open ' +
      'quotes.',
    query: pageQuery(shapes.ownThreads),
    replies: { 200: shapes.threadList },
    handle: async ({ caller: { accountId }, query }) => {
      const { role = 'maker', status = 'open', rfqId: named, ...page } = query;
      const rfqId = named?.toLowerCase() ?? null;
      const now = new Date(deps.now());
      const { rows, nextCursor } = await pageOf(
        deps,
        page,
        { list: 'quotes', accountId, role, status, rfqId },
        (from, limit) =>
          listOwnThreads(deps.db, role, status, {
            accountId,
            rfqId,
            before: from?.[0] ?? null,
            now,
            limit,
          }),
        ({ id, swapId }) => [swapId ?? id],
      );
      const threads = rows.map((each) => threadView(deps, each, now.getTime()));
      return { threads, nextCursor };
    },
  });

  read({ app, deps, tag }, '/v1/threads/:id', 'getThread', {
    about: 'One thread. Only its two parties see it.',
    params,
    replies: { 200: shapes.thread },
    handle: async ({ caller: { accountId }, params }) => {
      const thread = await withStandings(
        deps,
        () => readThread(accountId, threadIdOf(params)),
        ({ makerId, takerId }) => [makerId, takerId],
      );
      return threadView(deps, thread, deps.now());
    },
  });
}

function registerRecord(place: Place, readThread: ReturnType<typeof sharedThreads>): void {
  const { deps } = place;
  read(place, '/v1/threads/:id/record', 'getOtherRecord', {
    about:
      'How the other side of this thread kept what it agreed to in the last 29 days. It moves ' +
      'once a day.',
    params,
    replies: { 200: accountRecord },
    handle: async ({ caller, params }) => {
      const { makerId, takerId } = await readThread(caller.accountId, threadIdOf(params));
      const accountId = caller.accountId === makerId ? takerId : makerId;
      await recount(deps.db, [accountId], deps.now());
      const { since, kept } = await findRecord(deps.db, accountId);
      const day = Math.floor(since.getTime() / dayMs) * dayMs;
      return { accountId, since: new Date(day).toISOString(), ...standingView(kept) };
    },
  });
}

type OfferBody = { readonly quoteAmount: string; readonly validForSeconds?: number };

/** The offer in a body, received at `nowMs`. */
function offeredIn(body: OfferBody, nowMs: number): Offered {
  const { quoteAmount, validForSeconds } = body;
  return {
    quoteAmount: parseBaseUnits(quoteAmount, 'quoteAmount'),
    expiresAt: validForSeconds === undefined ? null : nowMs + validForSeconds * 1_000,
  };
}

function threadIdOf({ id }: { readonly id: string }): string {
  if (!isUuid(id)) throw unknownThread(id);
  return id.toLowerCase();
}

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
      const [error] = await prepare(caller.accountId, [wanted], signal);
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
      const refused = await prepare(caller.accountId, quotes, signal);
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
    params,
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
      const sentence = `quotes.${before} and quotes.${at} are on one RFQ; the first of them counts`;
      return new HttpError('bad_field', sentence);
    }
    places.set(rfqId, at);
    try {
      return { makerId, rfqId, ...quotedIn(each, nowMs) };
    } catch (error) {
      return error as Error;
    }
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
