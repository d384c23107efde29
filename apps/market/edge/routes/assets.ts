// The assets that may be traded.

import { ParleyError } from '@parley/core/errors.ts';
import type { FastifyInstance } from 'fastify';
import { listAssets } from '../../db/assets.ts';
import { type Decision, decideSoon } from '../../listing/decide.ts';
import { createLooks } from '../../listing/requests.ts';
import { feedWriting } from '../../market/book.ts';
import { assetView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Token } from '../../ports/markets.ts';
import { readsOf } from '../../ports/reads.ts';
import { command, readByAll } from '../command.ts';
import { pageOf } from '../cursor.ts';
import type { Reply } from '../idempotency/once.ts';
import * as shapes from '../schemas/asset.ts';

export function registerAssets(app: FastifyInstance, deps: Deps): void {
  const { budgets } = app.edge;
  const looks = createLooks(deps);
  /** An answer of 503 costs nothing: the caller is to ask again. */
  const unlessInVain = async <R>(work: Promise<R>, by: string): Promise<R> => {
    try {
      return await work;
    } catch (error) {
      const inVain = error instanceof ParleyError && error.kind === 'unavailable';
      if (inVain) await budgets.giveBack('listings', by);
      throw error;
    }
  };
  const writing = { ...deps, db: feedWriting(deps.db) };
  command({ app, deps: writing, tag: 'assets' }, 'POST /v1/assets', 'listAsset', {
    about:
      'Ask for a token to be listed, or a closed one to be looked at again. What is checked: ' +
      'docs/listing.md.',
    body: shapes.listAsset,
    replies: {
      200: shapes.listedAsset,
      201: shapes.listedAsset,
      202: shapes.waitingAsset,
      422: shapes.refusedAsset,
    },
    outcomes: {
      200: 'listed before, and open to trade; or closed before, and reopened by this',
      201: 'listed by this request, and open to trade',
      202: '`pending`: not listed yet; `closed`: listed, and not open to trade for now',
    },
    before: async ({ caller: { accountId }, body, signal }) => {
      await budgets.charge('listings', accountId);
      return unlessInVain(looks({ ...body, accountId }, signal), accountId);
    },
    run: async (tx, { caller: { accountId }, prepared: { token, judgement } }) => {
      const wish = { ...token, source: 'api', accountId };
      const deciding = decideSoon(tx, deps, wish, judgement);
      const decision = await unlessInVain(deciding, accountId);
      return replyOf(token, decision, judgement?.notChecked);
    },
  });

  readByAll({ app, deps, tag: 'assets' }, '/assets', 'listAssets', {
    about: 'Assets, oldest first. The filters are taken together.',
    query: shapes.assetQuery,
    replies: { 200: shapes.assetList },
    handle: async ({ query }) => {
      const { chain = null, symbol = null, address = null, enabled = null } = query;
      const filters = { chain, symbol, address, enabled };
      const find = (from: readonly string[] | null, limit: number) =>
        listAssets(readsOf(deps), filters, from?.[0] ?? null, limit);
      const { rows, nextCursor } = await pageOf(deps, query, { list: 'assets', ...filters }, find);
      return { assets: rows.map(assetView), nextCursor };
    },
  });
}

function replyOf(
  { chain, address }: Token,
  decision: Decision,
  unchecked: readonly string[] = [],
): Reply {
  const notChecked = unchecked.length === 0 ? {} : { notChecked: unchecked };
  switch (decision.status) {
    case 'listed': {
      const { asset, isNew } = decision;
      const body = { status: 'listed', asset: assetView(asset), ...notChecked };
      return { status: isNew ? 201 : 200, body };
    }
    case 'pending':
    case 'closed': {
      const { status, reasons } = decision;
      return { status: 202, body: { status, reasons, ...notChecked } };
    }
    default: {
      const { status, reasons } = decision;
      const verb = status === 'rejected' ? 'cannot be listed' : 'was delisted';
      const error = `${address} on ${chain} ${verb}, for ever: ${reasons.join('; ')}`;
      const code = status === 'rejected' ? 'token_rejected' : 'asset_delisted';
      return { status: 422, body: { error, status, reasons }, code };
    }
  }
}
