// Indicative levels: makers publish them, everybody reads them.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import type { FastifyInstance } from 'fastify';
import { deleteLevels, listLevels, stored } from '../../db/levels.ts';
import { assetPair } from '../../market/assets.ts';
import {
  givesLow,
  levelView,
  prepareLevels,
  publishLevels,
  type WantedLevel,
} from '../../market/levels.ts';
import { mustDiffer } from '../../market/rfqs.ts';
import { recount, standingView, withStandings } from '../../market/standing.ts';
import type { Deps } from '../../ports/deps.ts';
import { readsOf } from '../../ports/reads.ts';
import { command, type Run, readByAll } from '../command.ts';
import { pageOf } from '../cursor.ts';
import * as shapes from '../schemas/level.ts';

/** Returns the command of publishing, which the feed runs too. */
export function registerLevels(app: FastifyInstance, deps: Deps): Run {
  const place = { app, deps, tag: 'levels' };
  registerReading(app, deps);

  command(place, 'POST /v1/levels/withdraw', 'withdrawLevels', {
    about: 'Withdraw all levels of yours, of every pair.',
    replies: { 200: shapes.withdrawnLevels },
    run: async (tx, { caller }) => ({
      status: 200,
      body: { withdrawn: await deleteLevels(tx, caller.accountId, new Date(deps.now())) },
    }),
  });

  return command(place, 'POST /v1/levels', 'publishLevels', {
    about:
      'Publish the prices at which you would quote a pair, in place of those before. Everybody ' +
      'reads them with your account and standing. They bind nobody.',
    body: shapes.publishLevels,
    replies: { 200: shapes.publishedLevels },
    before: async ({ caller: { accountId }, body, signal }) => {
      if (body.levels.length > 0) await app.edge.budgets.charge('levels', accountId);
      const levels = body.levels.map((each): WantedLevel => {
        const amount = (name: string, text: string) => parseBaseUnits(text, name);
        const least = each.leastBaseAmount;
        return {
          ...each,
          baseAmount: amount('baseAmount', each.baseAmount),
          quoteAmount: amount('quoteAmount', each.quoteAmount),
          leastBaseAmount: least === undefined ? null : amount('leastBaseAmount', least),
        };
      });
      // They are shown with the count.
      await recount(deps.db, [accountId], deps.now());
      return prepareLevels(deps, { ...body, levels }, signal);
    },
    run: async (tx, { caller, prepared }) => {
      const { accountId, keyId: id } = caller;
      const of =
        caller.by === 'key' ? { keyId: id, sessionId: null } : { keyId: null, sessionId: id };
      const by = { accountId, ...of };
      const endsAt = await publishLevels(tx, deps, by, prepared);
      const { base, quote, levels } = prepared;
      const pair = { baseAssetId: base.id, quoteAssetId: quote.id };
      const body = { ...pair, published: levels.length, endsAt: endsAt?.toISOString() ?? null };
      return { status: 200, body };
    },
  });
}

function registerReading(app: FastifyInstance, deps: Deps): void {
  readByAll({ app, deps, tag: 'levels' }, '/levels', 'listLevels', {
    about:
      'Prices at which makers say that they would quote, the best for the taker first. They are ' +
      'published by choice and bind nobody: ask for quotes.',
    query: shapes.levelsQuery,
    replies: { 200: shapes.levelList },
    handle: async ({ query }) => {
      const { direction, minSettled = 0, makerId } = query;
      const assets = await assetPair(deps.db, query.baseAssetId, query.quoteAssetId);
      mustDiffer(assets);
      const pair = { baseAssetId: assets.base.id, quoteAssetId: assets.quote.id };
      const amount = query.baseAmount;
      const of = {
        direction,
        minSettled,
        baseAmount: amount === undefined ? null : parseBaseUnits(amount, 'baseAmount'),
        makerId: makerId?.toLowerCase() ?? null,
      };
      const way = stored(pair);
      const filters = {
        ...of,
        now: new Date(deps.now()),
        givesLow: givesLow(direction, way.baseIsLow),
      };
      const bound = { list: 'levels', ...pair, ...of, baseAmount: amount };
      const { rows, nextCursor } = await withStandings(
        deps,
        () =>
          pageOf(
            deps,
            query,
            bound,
            (from, limit) =>
              listLevels(
                readsOf(deps),
                way,
                filters,
                from && { rank: from[0]!, id: from[1]! },
                limit,
              ),
            ({ rank, id }) => [rank.toString(), id],
          ),
        (page) => page.rows.map((each) => each.makerId),
      );
      const levels = rows.map((each) => ({
        ...levelView(each, pair, direction),
        makerStanding: each.makerStanding && standingView(each.makerStanding),
      }));
      return { levels, nextCursor };
    },
  });
}
