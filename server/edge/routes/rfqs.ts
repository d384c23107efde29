// Requests for quote and the book.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseAmount } from '../../../core/amounts.ts';
import { findHoldings } from '../../db/holdings.ts';
import { findRfq, listAddressed, listBook, type Rfq } from '../../db/rfqs.ts';
import { bookOf, feedWriting, type Page } from '../../market/book.ts';
import { cancelRfq, postRfq, preparePost, rfqFor, unknownRfq } from '../../market/rfqs.ts';
import { rfqView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { command, read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
import { idParams, oneOf, pageLimit, pageQuery, uuid } from '../schemas/common.ts';
import { createRfq, directions, rfq, rfqList, rfqReply } from '../schemas/rfq.ts';

const tags = ['rfqs'];

const bookQuery = pageQuery({
  direction: Type.Optional(oneOf(directions)),
  baseAssetId: Type.Optional(uuid),
  quoteAssetId: Type.Optional(uuid),
  addressed: Type.Optional(
    Type.Boolean({ description: 'instead: private RFQs for an address that you hold' }),
  ),
});
type BookQuery = Type.Static<typeof bookQuery>;

export function registerRfqs(app: FastifyInstance, deps: Deps): void {
  const writing = { ...deps, db: feedWriting(deps.db) };
  registerBook(app, deps);

  command(app, writing, {
    method: 'POST',
    url: '/v1/rfqs',
    operationId: 'createRfq',
    summary: 'Ask for quotes',
    tags,
    scope: 'taker',
    body: createRfq,
    replies: { 201: rfqReply },
    before: async ({ body, signal }) => {
      const { direction, ttlSeconds, visibility = 'public' } = body;
      const wanted = {
        direction,
        ttlSeconds,
        visibility,
        baseAssetId: body.baseAssetId,
        quoteAssetId: body.quoteAssetId,
        baseAmount: parseAmount(body.baseAmount, 'baseAmount'),
        askAmount: body.askAmount === undefined ? null : parseAmount(body.askAmount, 'askAmount'),
        targetAddress: body.targetAddress ?? null,
      };
      return preparePost(deps, wanted, signal);
    },
    run: async (tx, { caller, prepared }) => {
      const posted = await postRfq(tx, deps, caller.accountId, prepared);
      return { status: 201, body: { rfq: rfqView(posted, deps.now(), true) } };
    },
  });

  command(app, writing, {
    method: 'POST',
    url: '/v1/rfqs/:id/cancel',
    operationId: 'cancelRfq',
    summary: 'Take an RFQ off the market',
    tags,
    scope: 'taker',
    params: idParams,
    replies: { 200: rfqReply },
    run: async (tx, { caller, params }) => {
      if (!isUuid(params.id)) throw unknownRfq(params.id);
      const cancelled = await cancelRfq(tx, deps, caller.accountId, params.id);
      return { status: 200, body: { rfq: rfqView(cancelled, deps.now(), true) } };
    },
  });
}

function registerBook(app: FastifyInstance, deps: Deps): void {
  const book = bookOf(deps.db);
  read(app, deps, {
    url: '/v1/rfqs',
    operationId: 'listRfqs',
    summary: 'The book: public RFQs, newest first; or private ones for you',
    tags,
    query: bookQuery,
    replies: { 200: rfqList },
    handle: async ({ caller, query }) => {
      const nowMs = deps.now();
      if (query.addressed === true) {
        return (await loadAddressed(deps, query, caller.accountId, nowMs)).json;
      }
      const { direction = '', baseAssetId = '', quoteAssetId = '', limit, cursor = '' } = query;
      // A cursor that was never checked is not the key of any page.
      const key = `${direction} ${baseAssetId} ${quoteAssetId} ${limit} ${cursor}`;
      return book.page(key, nowMs, () => loadPage(deps, query, nowMs));
    },
  });

  read(app, deps, {
    url: '/v1/rfqs/:id',
    operationId: 'getRfq',
    summary: 'One RFQ; whoever has the link may read a private one',
    tags,
    params: idParams,
    replies: { 200: rfq },
    handle: async ({ caller, params }) => {
      const found = isUuid(params.id) ? await findRfq(deps.db, params.id) : null;
      if (found === null) throw unknownRfq(params.id);
      const holdings = await viewerHoldings(deps, found, caller.accountId);
      return rfqFor(found, caller.accountId, holdings, deps.now());
    },
  });
}

/** Only an addressed RFQ depends on what its viewer holds. */
async function viewerHoldings(deps: Deps, found: Rfq, viewerId: string) {
  const addressed = found.targetAddress !== null && found.creatorId !== viewerId;
  return addressed ? findHoldings(deps.db, viewerId) : { families: [], addresses: [] };
}

type BookFilters = Parameters<typeof listBook>[1];
/** Reads at most `limit` before the id. */
type Lister = (
  filters: BookFilters,
  page: { before: string | null; limit: number },
) => Promise<Rfq[]>;

function loadPage(deps: Deps, query: BookQuery, nowMs: number): Promise<Page> {
  const lister: Lister = (filters, page) => listBook(deps.db, filters, page, new Date(nowMs));
  return pageOf(deps, query, { list: 'rfqs' }, nowMs, lister);
}

/** Never kept: it depends on what the viewer holds now. */
async function loadAddressed(
  deps: Deps,
  query: BookQuery,
  viewer: string,
  nowMs: number,
): Promise<Page> {
  const { addresses } = await findHoldings(deps.db, viewer);
  const lister: Lister = (filters, page) => {
    const own = { ...filters, addresses, without: viewer };
    return listAddressed(deps.db, own, page, new Date(nowMs));
  };
  return pageOf(deps, query, { list: 'addressed', viewer }, nowMs, lister);
}

async function pageOf(
  deps: Deps,
  query: BookQuery,
  list: Record<string, string>,
  nowMs: number,
  read: Lister,
): Promise<Page> {
  const secrets = cursorSecrets(deps);
  const { limit = pageLimit.otherwise, cursor } = query;
  const filters = {
    direction: query.direction ?? null,
    baseAssetId: query.baseAssetId?.toLowerCase() ?? null,
    quoteAssetId: query.quoteAssetId?.toLowerCase() ?? null,
  };
  const bound = { ...list, ...filters };
  const before = cursor === undefined ? null : decodeCursor(secrets, bound, cursor)[0]!;
  // One more than asked says whether there is a next page.
  const found = await read(filters, { before, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const more = found.length > limit && last !== undefined;
  const isAddressed = query.addressed === true;
  return {
    json: Buffer.from(
      JSON.stringify({
        rfqs: shown.map((each) => rfqView(each, nowMs, isAddressed)),
        nextCursor: more ? encodeCursor(secrets, bound, [last.id]) : null,
      }),
    ),
    validUntilMs: found.reduce(
      (least, each) => Math.min(least, each.expiresAt.getTime()),
      Number.POSITIVE_INFINITY,
    ),
  };
}
