// The facts before a trade: its meaning and costs, the prices that others traded at, and whether the
// market works.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import type { FastifyInstance } from 'fastify';
import type { Agreement } from '../../db/agreements.ts';
import { assetPair } from '../../market/assets.ts';
import { priceWindowSeconds } from '../../market/bounds.ts';
import { readPairs, type TradedPair } from '../../market/pair-list.ts';
import { type Point, readHistory, since, spanOf } from '../../market/price-history.ts';
import { type PairPrices, readPrices } from '../../market/prices.ts';
import { mustDiffer } from '../../market/rfqs.ts';
import { readStatus } from '../../market/status.ts';
import type { Deps } from '../../ports/deps.ts';
import { createMoments } from '../../ports/moments.ts';
import { readsOf } from '../../ports/reads.ts';
import { createCosts, pairView } from '../../settle/pair.ts';
import { open, readByAll } from '../command.ts';
import * as shapes from '../schemas/pair.ts';

/** A statement walks some thousand rows at most, for all who ask within a moment. */
const priceMs = 10_000;
const mostPairs = 500;
const minuteMs = 60_000;
/** A history walks more of them, and moves less. */
const historyMs = minuteMs;
const listMs = 10_000;
/** An answer about the status of the market is kept so long. */
const statusMs = 1_000;

export function registerPairs(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag: 'pairs' };
  const readCosts = createCosts(deps);
  const prices = createMoments<PairPrices>(priceMs, mostPairs);

  readByAll(place, '/pairs', 'getPair', {
    about:
      'What a trade would mean before anything is asked: who funds first, times, fees and the ' +
      'least amounts. By `rules` and fees of the chains, which you can read by yourself.',
    query: shapes.pairQuery,
    replies: { 200: shapes.pair },
    handle: async ({ query }) => {
      const { direction, baseAssetId, quoteAssetId } = query;
      const assets = await assetPair(deps.db, baseAssetId, quoteAssetId);
      mustDiffer(assets);
      const amount = (text: string | undefined, field: string) =>
        text === undefined ? 1n : parseBaseUnits(text, field);
      const terms = {
        ...assets,
        direction,
        baseAmount: amount(query.baseAmount, 'baseAmount'),
        quoteAmount: amount(query.quoteAmount, 'quoteAmount'),
      };
      const asked = { direction, baseAssetId: assets.base.id, quoteAssetId: assets.quote.id };
      return { ...asked, ...(await pairView(deps, terms, readCosts)) };
    },
  });

  readByAll(place, '/pairs/price', 'getPairPrice', {
    about:
      'Public agreements of the last day that both sides funded, and the middle one by price. ' +
      'An account that trades with itself moves it for the fees: a hint, no quote.',
    query: shapes.priceQuery,
    replies: { 200: shapes.pairPrice },
    handle: async ({ query }) => {
      const { base, quote } = await assetPair(deps.db, query.baseAssetId, query.quoteAssetId);
      mustDiffer({ base, quote });
      const { agreements, median } = await prices.of(`${base.id} ${quote.id}`, () =>
        readPrices(readsOf(deps), base.id, quote.id, deps.now()),
      );
      return {
        baseAssetId: base.id,
        quoteAssetId: quote.id,
        median: median && tradedView(median),
        agreements: agreements.map(tradedView),
        windowSeconds: priceWindowSeconds,
      };
    },
  });
}

export function registerPairLists(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag: 'pairs' };
  const histories = createMoments<Point[]>(historyMs, mostPairs, deps.now);
  const lists = createMoments<TradedPair[]>(listMs, 1, deps.now);

  readByAll(place, '/pairs/history', 'getPairHistory', {
    about:
      'Prices of public agreements that both sides funded, over days. An account that trades with ' +
      'itself moves them for the fees: a hint, no quote.',
    query: shapes.historyQuery,
    replies: { 200: shapes.pairHistory },
    handle: async ({ query }) => {
      const { base, quote } = await assetPair(deps.db, query.baseAssetId, query.quoteAssetId);
      mustDiffer({ base, quote });
      const { days = 7 } = query;
      const span = spanOf(days);
      const points = await histories.of(`${base.id} ${quote.id} ${span.days}`, () =>
        readHistory(readsOf(deps), base.id, quote.id, span, deps.now()),
      );
      return {
        baseAssetId: base.id,
        quoteAssetId: quote.id,
        days,
        bucketSeconds: span.bucketSeconds,
        points: since(points, days, deps.now()).map(pointView),
      };
    },
  });

  readByAll(place, '/pairs/list', 'listPairs', {
    about:
      'Pairs that are traded now: with recent public agreements, or with levels of makers. Prices ' +
      'of both are hints, and no quotes.',
    replies: { 200: shapes.pairList },
    handle: async () => {
      const pairs = await lists.of('', () => readPairs(readsOf(deps), deps.now()));
      return { pairs: pairs.map(pairOf), windowSeconds: priceWindowSeconds };
    },
  });
}

type Amounts = { readonly baseAmount: bigint; readonly quoteAmount: bigint };

function amountsOf({ baseAmount, quoteAmount }: Amounts) {
  return { baseAmount: baseAmount.toString(), quoteAmount: quoteAmount.toString() };
}

function pointView({ at, median, low, high, count }: Point) {
  return {
    at: new Date(at * 1_000).toISOString(),
    ...amountsOf(median),
    low: amountsOf(low),
    high: amountsOf(high),
    count,
  };
}

function pairOf({ low, high, bid, ask, median, agreements, makers }: TradedPair) {
  const level = (of: TradedPair['bid']) => of && { baseAmount: of.low, quoteAmount: of.high };
  return {
    baseAssetId: low,
    quoteAssetId: high,
    median: median && amountsOf(median),
    agreements,
    bid: level(bid),
    ask: level(ask),
    makers,
  };
}

export function registerStatus(app: FastifyInstance, deps: Deps): void {
  const kept = createMoments<object>(statusMs, 1);
  open({ app, deps, tag: 'market' }, 'GET /market/status', 'getMarketStatus', {
    about: 'Chains, halts, and whether swaps are agreed now.',
    replies: { 200: shapes.marketStatus },
    handle: () => kept.of('', () => readStatus(deps, deps.watchtower)),
  });
}

/** To the minute: enough for a price, and less to tell two trades of one account by. */
function tradedView({ direction, baseAmount, quoteAmount, agreedAt }: Agreement) {
  const minute = Math.floor(agreedAt.getTime() / minuteMs) * minuteMs;
  return {
    direction,
    baseAmount: baseAmount.toString(),
    quoteAmount: quoteAmount.toString(),
    agreedAt: new Date(minute).toISOString(),
  };
}
