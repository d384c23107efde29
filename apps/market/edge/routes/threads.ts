// The negotiation that a quote opens.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import { parseHashlock } from '@parley/core/hashlock.ts';
import type { FastifyInstance } from 'fastify';
import { findRecord } from '../../db/agreements.ts';
import { listOwnThreads } from '../../db/own-threads.ts';
import { findRfq } from '../../db/rfqs.ts';
import { listThreads } from '../../db/threads.ts';
import { accept } from '../../market/agreement.ts';
import { feedWriting } from '../../market/book.ts';
import { threadsPage } from '../../market/bounds.ts';
import type { Offered } from '../../market/negotiation.ts';
import { unknownRfq } from '../../market/rfqs.ts';
import { recount, standingView, withStandings } from '../../market/standing.ts';
import { preparePropose, propose, readThread, unknownThread } from '../../market/threads.ts';
import { threadView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { swapOfCaller } from '../../settle/access.ts';
import { swapView } from '../../settle/view.ts';
import { command, read } from '../command.ts';
import { pageOf } from '../cursor.ts';
import { idParams, pageQuery, threadId } from '../schemas/common.ts';
import { accountRecord } from '../schemas/pair.ts';
import * as shapes from '../schemas/thread.ts';
import { rfqParams } from './rfqs.ts';

const tag = 'threads';
const dayMs = 86_400_000;
const params = idParams(threadId);

export function registerThreads(app: FastifyInstance, deps: Deps): void {
  registerReads(app, deps);
  registerRecord(app, deps);
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
        () => readThread(deps.db, accountId, threadIdOf(params)),
        ({ makerId, takerId }) => [makerId, takerId],
      );
      return threadView(deps, thread, deps.now());
    },
  });
}

function registerRecord(app: FastifyInstance, deps: Deps): void {
  read({ app, deps, tag }, '/v1/threads/:id/record', 'getOtherRecord', {
    about:
      'How the other side of this thread kept what it agreed to in the last 29 days. It moves ' +
      'once a day.',
    params,
    replies: { 200: accountRecord },
    handle: async ({ caller, params }) => {
      const { makerId, takerId } = await readThread(deps.db, caller.accountId, threadIdOf(params));
      const accountId = caller.accountId === makerId ? takerId : makerId;
      await recount(deps.db, [accountId], deps.now());
      const { since, kept } = await findRecord(deps.db, accountId);
      const day = Math.floor(since.getTime() / dayMs) * dayMs;
      return { accountId, since: new Date(day).toISOString(), ...standingView(kept) };
    },
  });
}

export type OfferBody = { readonly quoteAmount: string; readonly validForSeconds?: number };

/** The offer in a body, received at `nowMs`. */
export function offeredIn(body: OfferBody, nowMs: number): Offered {
  const { quoteAmount, validForSeconds } = body;
  return {
    quoteAmount: parseBaseUnits(quoteAmount, 'quoteAmount'),
    expiresAt: validForSeconds === undefined ? null : nowMs + validForSeconds * 1_000,
  };
}

export function threadIdOf({ id }: { readonly id: string }): string {
  if (!isUuid(id)) throw unknownThread(id);
  return id.toLowerCase();
}
