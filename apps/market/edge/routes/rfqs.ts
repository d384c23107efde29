// Requests for quote and the book.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import type { FastifyInstance } from 'fastify';
import type Type from 'typebox';
import { findHoldings } from '../../db/holdings.ts';
import {
  type BookFilters,
  findRfqs,
  listAddressed,
  listBook,
  listOwn,
  type Rfq,
} from '../../db/rfqs.ts';
import { sharedRows } from '../../db/shared-question.ts';
import { bookOf, feedWriting, type Page } from '../../market/book.ts';
import { cancelRfq, postRfq, preparePost, rfqFor, unknownRfq } from '../../market/rfqs.ts';
import { recount, withStandings } from '../../market/standing.ts';
import { rfqView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import { isUuid } from '../../ports/ids.ts';
import { readsOf } from '../../ports/reads.ts';
import { command, read } from '../command.ts';
import { pageOf } from '../cursor.ts';
import { etagOf } from '../etags.ts';
import { Tagged } from '../headers.ts';
import { idParams, rfqId } from '../schemas/common.ts';
import { bookQuery, createRfq, rfq, rfqList, rfqReply } from '../schemas/rfq.ts';

export const rfqParams = idParams(rfqId);

export function registerRfqs(app: FastifyInstance, deps: Deps): void {
  registerBook(app, deps);
  const place = { app, deps: { ...deps, db: feedWriting(deps.db) }, tag: 'rfqs' };
  command(place, 'POST /v1/rfqs', 'createRfq', {
    about:
      'Ask for quotes. Makers see a public RFQ on the feed at once; it ends by itself after its ' +
      'lifetime.',
    body: createRfq,
    replies: { 201: rfqReply },
    before: async ({ caller, body, signal }) => {
      const { askAmount, visibility = 'public', targetAddress = null, minSettled = null } = body;
      await recount(deps.db, [caller.accountId], deps.now());
      const wanted = {
        ...body,
        visibility,
        targetAddress,
        minSettled,
        baseAmount: parseBaseUnits(body.baseAmount, 'baseAmount'),
        askAmount: askAmount === undefined ? null : parseBaseUnits(askAmount, 'askAmount'),
      };
      return preparePost(deps, wanted, signal);
    },
    run: async (tx, { caller, prepared }) => {
      const posted = await postRfq(tx, deps, caller.accountId, prepared);
      return { status: 201, body: { rfq: rfqView(posted, deps.now(), true) } };
    },
  });

  command(place, 'POST /v1/rfqs/:id/cancel', 'cancelRfq', {
    about: 'Take an RFQ off the market. Its open threads close.',
    params: rfqParams,
    replies: { 200: rfqReply },
    run: async (tx, { caller, params }) => {
      if (!isUuid(params.id)) throw unknownRfq(params.id);
      const cancelled = await cancelRfq(tx, deps, caller.accountId, params.id);
      return { status: 200, body: { rfq: rfqView(cancelled, deps.now(), true) } };
    },
  });
}

function registerBook(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag: 'rfqs' };
  const book = bookOf(deps.db);
  const find = sharedRows((ids) => findRfqs(deps.db, ids));
  read(place, '/v1/rfqs', 'listRfqs', {
    about:
      'The book: public RFQs, newest first. With `addressed` private ones for you instead, with ' +
      '`own` those that you posted.',
    query: bookQuery,
    replies: { 200: rfqList },
    isTagged: true,
    handle: ({ caller, query }) => {
      const nowMs = deps.now();
      // Never kept: it depends on what the viewer holds now.
      const viewer = caller.accountId;
      const fresh = (list: 'own' | 'addressed') =>
        load(deps, query, nowMs, { list, viewer }).then(({ value }) => value);
      if (query.own === true) return fresh('own');
      if (query.addressed === true) return fresh('addressed');
      const { direction = '', baseAssetId = '', quoteAssetId = '', limit, cursor = '' } = query;
      // A cursor that was never checked is not the key of any page.
      const which = `${direction} ${baseAssetId} ${quoteAssetId} ${query.minSettled}`;
      const key = `${which} ${limit} ${cursor}`;
      return book.page(key, nowMs, async () => {
        const { value, ...page } = await load(deps, query, nowMs, { list: 'rfqs' });
        return { ...page, value: new Tagged(value, etagOf(value)) };
      });
    },
  });

  read(place, '/v1/rfqs/:id', 'getRfq', {
    about: 'One RFQ. Whoever has the link may read a private one.',
    params: rfqParams,
    replies: { 200: rfq },
    handle: async ({ caller: { accountId }, params }) => {
      const found = await withStandings(
        deps,
        async () => (isUuid(params.id) ? find(params.id.toLowerCase()) : null),
        (rfq) => (rfq === null ? [] : [rfq.creatorId]),
      );
      if (found === null) throw unknownRfq(params.id);
      // Only an addressed RFQ depends on what its viewer holds.
      const depends = found.targetAddress !== null && found.creatorId !== accountId;
      const holdings = depends
        ? await findHoldings(deps.db, accountId)
        : { families: [], addresses: [] };
      return rfqFor(found, accountId, holdings, deps.now());
    },
  });
}

type Listed =
  | { readonly list: 'rfqs' }
  | { readonly list: 'addressed' | 'own'; readonly viewer: string };

/** A page of the book, of private RFQs for addresses of the viewer, or of the viewer's own. */
async function load(
  deps: Deps,
  query: Type.Static<typeof bookQuery>,
  nowMs: number,
  listed: Listed,
): Promise<Page<Buffer>> {
  const filters = {
    direction: query.direction ?? null,
    baseAssetId: query.baseAssetId?.toLowerCase() ?? null,
    quoteAssetId: query.quoteAssetId?.toLowerCase() ?? null,
  };
  const { minSettled } = query;
  const now = new Date(nowMs);
  const listing = await listingOf(
    deps,
    { ...filters, minSettled: minSettled ?? null },
    listed,
    now,
  );
  let validUntilMs = Number.POSITIVE_INFINITY;
  const find = async (from: readonly string[] | null, limit: number) => {
    const found = await listing({ before: from?.[0] ?? null, limit });
    validUntilMs = Math.min(validUntilMs, ...found.map((each) => each.expiresAt.getTime()));
    return found;
  };
  const { rows, nextCursor } = await withStandings(
    deps,
    () => pageOf(deps, query, { ...listed, ...filters, minSettled }, find),
    (page) => page.rows.map(({ creatorId }) => creatorId),
  );
  const rfqs = rows.map((each) => rfqView(each, nowMs, listed.list !== 'rfqs'));
  // Encoded once: node:http then copies no text, which is a third of a request.
  return { value: Buffer.from(JSON.stringify({ rfqs, nextCursor })), validUntilMs };
}

async function listingOf(
  deps: Deps,
  filters: BookFilters,
  listed: Listed,
  now: Date,
): Promise<(page: { before: string | null; limit: number }) => Promise<Rfq[]>> {
  switch (listed.list) {
    case 'rfqs':
      return (page) => listBook(readsOf(deps), filters, page, now);
    case 'own':
      return (page) => listOwn(deps.db, { ...filters, creatorId: listed.viewer }, page, now);
    case 'addressed': {
      const { addresses } = await findHoldings(deps.db, listed.viewer);
      const own = { ...filters, addresses, without: listed.viewer };
      return (page) => listAddressed(deps.db, own, page, now);
    }
  }
}
