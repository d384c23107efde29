// Quotes: prices that makers name and take back.

import type { FastifyInstance } from 'fastify';
import { bookWriting } from '../../market/book.ts';
import { createGroupedQuotes } from '../../market/grouped-quotes.ts';
import { createPrepareQuote, type Quoted, quote } from '../../market/quotes.ts';
import { unknownRfq } from '../../market/rfqs.ts';
import { threadView } from '../../market/views.ts';
import { withdraw } from '../../market/withdrawals.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { command, type Run } from '../command.ts';
import { idParams, threadId } from '../schemas/common.ts';
import * as shapes from '../schemas/thread.ts';
import { rfqParams } from './rfqs.ts';
import { type OfferBody, offeredIn, threadIdOf } from './threads.ts';

const tag = 'threads';

/** Returns the quoting command, which the feed runs too. */
export function registerQuotes(app: FastifyInstance, deps: Deps): Run {
  const writing = { ...deps, db: bookWriting(deps.db) };
  const prepareQuote = createPrepareQuote(deps);
  const quoteGrouped = createGroupedQuotes(writing);
  const replyOf = ({ thread, created }: Quoted) => ({
    status: created ? 201 : 200,
    body: { thread: threadView(deps, thread, deps.now()) },
  });
  command({ app, deps, tag }, 'POST /v1/threads/:id/withdraw', 'withdrawQuote', {
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
  return command({ app, deps: writing, tag }, 'POST /v1/rfqs/:id/quotes', 'quoteRfq', {
    about: 'Quote a price. The first one opens a thread; later ones move its price.',
    scope: 'maker',
    params: rfqParams,
    body: shapes.quoteBody,
    replies: { 200: shapes.threadReply, 201: shapes.threadReply },
    outcomes: { 200: 'the price of the thread there is has moved', 201: 'a thread was opened' },
    before: async ({ caller, params, body, signal }) => {
      if (!isUuid(params.id)) throw unknownRfq(params.id);
      const rfqId = params.id.toLowerCase();
      const wanted = { makerId: caller.accountId, rfqId, ...quotedIn(body, deps.now()) };
      await prepareQuote(wanted, signal);
      return wanted;
    },
    run: async (tx, { prepared }) => replyOf(await quote(tx, deps, prepared)),
    grouped: async ({ prepared }) => replyOf(await quoteGrouped(prepared)),
  });
}

function quotedIn(body: OfferBody & { readonly unlessAccepted?: boolean }, nowMs: number) {
  return { ...offeredIn(body, nowMs), unlessAccepted: body.unlessAccepted ?? false };
}
