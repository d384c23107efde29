// What may be traded.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { ParleyError } from '../../../core/errors.ts';
import { listAssets } from '../../db/assets.ts';
import { type Decision, decideSoon } from '../../listing/decide.ts';
import { createLooks } from '../../listing/requests.ts';
import { feedWriting } from '../../market/book.ts';
import { assetView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Token } from '../../ports/markets.ts';
import type { Spent } from '../budgets.ts';
import { command, read } from '../command.ts';
import { cursorSecrets, decodeCursor, encodeCursor } from '../cursor.ts';
import { HttpError } from '../errors.ts';
import type { Reply } from '../idempotency/once.ts';
import { assetList, listAsset, listedAsset, refusedAsset, waitingAsset } from '../schemas/asset.ts';
import { pageLimit, pageQuery } from '../schemas/common.ts';

export function registerAssets(app: FastifyInstance, deps: Deps): void {
  const looks = createLooks(deps);
  /** What is answered with 503 costs nothing: the caller is to ask again. */
  const unlessInVain = async <R>(work: Promise<R>, accountId: string): Promise<R> => {
    try {
      return await work;
    } catch (error) {
      const inVain = error instanceof ParleyError && error.kind === 'unavailable';
      if (inVain) await app.edge.budgets.giveBackListing(accountId);
      throw error;
    }
  };
  command(
    app,
    { ...deps, db: feedWriting(deps.db) },
    {
      method: 'POST',
      url: '/v1/assets',
      operationId: 'listAsset',
      summary: 'Ask for a token to be listed, or a closed one to be looked at again',
      tags: ['assets'],
      scope: 'taker',
      body: listAsset,
      replies: { 200: listedAsset, 201: listedAsset, 202: waitingAsset, 422: refusedAsset },
      outcomes: {
        200: 'listed before, and open to trade; or closed before, and reopened by this',
        201: 'listed by this request, and open to trade',
        202: '`pending`: not listed yet; `closed`: listed, and not open to trade for now',
      },
      before: async ({ caller, body, signal }) => {
        const spent = await app.edge.budgets.spendListing(caller.accountId);
        if (!spent.allowed) throw tooOften(spent);
        const looking = looks({ ...body, accountId: caller.accountId }, signal);
        return unlessInVain(looking, caller.accountId);
      },
      run: async (tx, { caller, prepared: { token, judgement } }) => {
        const { accountId } = caller;
        const wish = { ...token, source: 'api', accountId };
        const decision = await unlessInVain(decideSoon(tx, deps, wish, judgement), accountId);
        return replyOf(token, decision, judgement?.notChecked);
      },
    },
  );

  const secrets = cursorSecrets(deps);
  read(app, deps, {
    url: '/v1/assets',
    operationId: 'listAssets',
    summary: 'Assets, oldest first',
    tags: ['assets'],
    query: pageQuery({
      chain: Type.Optional(
        Type.String({ maxLength: 64, description: 'of this chain key, such as `base`' }),
      ),
      symbol: Type.Optional(
        Type.String({
          maxLength: 64,
          description: 'with this symbol, in upper or lower case; several may have it',
        }),
      ),
      address: Type.Optional(
        Type.String({
          maxLength: 128,
          description: 'of this token contract or mint; hex in any case',
        }),
      ),
      enabled: Type.Optional(
        Type.Boolean({ description: '`true`: open to trade; `false`: closed, halted or delisted' }),
      ),
    }),
    replies: { 200: assetList },
    handle: async ({ query }) => {
      const { limit = pageLimit.otherwise, cursor } = query;
      const filters = {
        chain: query.chain ?? null,
        symbol: query.symbol ?? null,
        address: query.address ?? null,
        enabled: query.enabled ?? null,
      };
      const bound = { list: 'assets', ...filters };
      const after = cursor === undefined ? null : decodeCursor(secrets, bound, cursor)[0]!;
      const found = await listAssets(deps.db, filters, after, limit + 1);
      const assets = found.slice(0, limit);
      const last = assets.at(-1);
      return {
        assets: assets.map(assetView),
        nextCursor:
          found.length > limit && last !== undefined
            ? encodeCursor(secrets, bound, [last.id])
            : null,
      };
    },
  });
}

function tooOften({ limit, resetSeconds }: Spent): HttpError {
  const sentence =
    `too many tokens asked for by this account (${limit} an hour);` +
    ` try again in ${resetSeconds} s`;
  return new HttpError('listing_rate_limited', sentence, { 'retry-after': String(resetSeconds) });
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
