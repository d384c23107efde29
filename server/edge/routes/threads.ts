// Quotes and the negotiation that each one opens.

import type { FastifyInstance } from 'fastify';
import { parseAmount } from '../../../core/amounts.ts';
import { parseHashlock } from '../../../core/hashlock.ts';
import { findRfq } from '../../db/rfqs.ts';
import { listThreads } from '../../db/threads.ts';
import { accept } from '../../market/agreement.ts';
import { bookWriting, feedWriting } from '../../market/book.ts';
import { threadsPage } from '../../market/bounds.ts';
import { createGroupedQuotes } from '../../market/grouped-quotes.ts';
import { createPrepareQuote, type Quoted, quote } from '../../market/quotes.ts';
import { unknownRfq } from '../../market/rfqs.ts';
import { preparePropose, propose, readThread, unknownThread } from '../../market/threads.ts';
import { threadView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { swapOfCaller } from '../../settle/access.ts';
import { swapView } from '../../settle/view.ts';
import { command, type Run, read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
import { idParams, pageQuery } from '../schemas/common.ts';
import {
  acceptBody,
  acceptReply,
  quoteBody,
  thread,
  threadList,
  threadReply,
} from '../schemas/thread.ts';

const tags = ['threads'];

/** Returns the quoting command, which the feed runs too. */
export function registerThreads(app: FastifyInstance, deps: Deps): Run {
  registerReads(app, deps);
  const quoting = registerQuotes(app, deps);

  command(app, deps, {
    method: 'POST',
    url: '/v1/threads/:id/propose',
    operationId: 'proposePrice',
    summary: 'Name another price; both acceptances end',
    tags,
    params: idParams,
    body: quoteBody,
    replies: { 200: threadReply },
    before: async ({ caller, params, body, signal }) => {
      const id = threadId(params.id);
      const quoteAmount = parseAmount(body.quoteAmount, 'quoteAmount');
      await preparePropose(deps, caller.accountId, id, quoteAmount, signal);
      return { id, quoteAmount };
    },
    run: async (tx, { caller, prepared }) => {
      const { id, quoteAmount } = prepared;
      const moved = await propose(tx, deps, caller.accountId, id, quoteAmount);
      return { status: 200, body: { thread: threadView(deps, moved, deps.now()) } };
    },
  });

  const writing = { ...deps, db: feedWriting(deps.db) };
  command(app, writing, {
    method: 'POST',
    url: '/v1/threads/:id/accept',
    operationId: 'acceptPrice',
    summary: 'Commit to the current price; when both sides have, the swap exists',
    tags,
    params: idParams,
    body: acceptBody,
    replies: { 200: acceptReply },
    run: async (tx, { caller, params, body }) => {
      const accepted = await accept(tx, deps, caller.accountId, threadId(params.id), {
        quoteAmount: parseAmount(body.quoteAmount, 'quoteAmount'),
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
  return quoting;
}

function registerQuotes(app: FastifyInstance, deps: Deps): Run {
  const writing = { ...deps, db: bookWriting(deps.db) };
  const prepareQuote = createPrepareQuote(deps);
  const quoteGrouped = createGroupedQuotes(writing);
  const replyOf = ({ thread, created }: Quoted) => ({
    status: created ? 201 : 200,
    body: { thread: threadView(deps, thread, deps.now()) },
  });
  return command(app, writing, {
    method: 'POST',
    url: '/v1/rfqs/:id/quotes',
    operationId: 'quoteRfq',
    summary: 'Quote a price: 201 opens a thread, 200 moves the price of the one there is',
    tags,
    scope: 'maker',
    params: idParams,
    body: quoteBody,
    replies: { 200: threadReply, 201: threadReply },
    before: async ({ caller, params, body, signal }) => {
      if (!isUuid(params.id)) throw unknownRfq(params.id);
      const quoteAmount = parseAmount(body.quoteAmount, 'quoteAmount');
      const wanted = { makerId: caller.accountId, rfqId: params.id.toLowerCase(), quoteAmount };
      await prepareQuote(wanted, signal);
      return wanted;
    },
    run: async (tx, { prepared }) => replyOf(await quote(tx, deps, prepared)),
    grouped: async ({ prepared }) => replyOf(await quoteGrouped(prepared)),
  });
}

function registerReads(app: FastifyInstance, deps: Deps): void {
  const secrets = cursorSecrets(deps);
  read(app, deps, {
    url: '/v1/rfqs/:id/threads',
    operationId: 'listThreads',
    summary: 'Its creator sees every thread, a maker its own; newest activity first',
    tags,
    params: idParams,
    query: pageQuery({}, threadsPage),
    replies: { 200: threadList },
    handle: async ({ caller, params, query }) => {
      const rfqId = params.id.toLowerCase();
      const found = isUuid(rfqId) ? await findRfq(deps.db, rfqId) : null;
      if (found === null) throw unknownRfq(params.id);
      const { limit = threadsPage, cursor } = query;
      const bound = { list: 'threads', rfqId, viewer: caller.accountId };
      const [updatedAt, id] = cursor === undefined ? [] : decodeCursor(secrets, bound, cursor);
      const before = updatedAt === undefined ? null : { updatedAt, id: id! };
      const some = await listThreads(deps.db, rfqId, caller.accountId, before, limit + 1);
      const shown = some.slice(0, limit);
      const last = shown.at(-1);
      const more = some.length > limit && last !== undefined;
      const nowMs = deps.now();
      return {
        threads: shown.map((each) => threadView(deps, each, nowMs)),
        nextCursor: more
          ? encodeCursor(secrets, bound, [last.updatedAt.toISOString(), last.id])
          : null,
      };
    },
  });

  read(app, deps, {
    url: '/v1/threads/:id',
    operationId: 'getThread',
    summary: 'One thread; its two parties only',
    tags,
    params: idParams,
    replies: { 200: thread },
    handle: async ({ caller, params }) => {
      const found = await readThread(deps.db, caller.accountId, threadId(params.id));
      return threadView(deps, found, deps.now());
    },
  });
}

function threadId(id: string): string {
  if (!isUuid(id)) throw unknownThread(id);
  return id.toLowerCase();
}
