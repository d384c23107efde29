// A market that listens, for tests of the maker feed.

import { type TestMarket, type Trader, testMarket } from '@parley/verify/test/support/trading.ts';
import type { Settings } from '../../settings/config.ts';
import { buildApp } from '../app.ts';
import { type FeedClient, openMaker } from './feed-client.ts';

export type FeedMarket = TestMarket & {
  /** Where it listens. */
  readonly at: string;
  /** Posts an RFQ; its view. */
  rfq(
    by: Trader,
    fields?: Record<string, unknown>,
  ): Promise<{ id: string; [name: string]: unknown }>;
  /** On the feed as this trader, ready. */
  maker(trader: Trader, first?: object): Promise<FeedClient>;
};

export async function feedMarket(settings: Partial<Settings> = {}): Promise<FeedMarket> {
  const market = await testMarket({ settings });
  const at = await market.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...market,
    at,
    rfq: async (by, fields = {}) => {
      const { btc, usd } = market.assets;
      const wanted = {
        direction: 'sell_base',
        baseAssetId: btc.id,
        baseAmount: '100000',
        quoteAssetId: usd.id,
        ttlSeconds: 600,
        ...fields,
      };
      const { status, body } = await by.post('/v1/rfqs', wanted);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.rfq;
    },
    maker: (trader, first = {}) => openMaker(at, { apiKey: trader.key, ...first }),
  };
}

/** Quoted by the maker and accepted by both. */
export async function agreeOn(
  { deps }: Pick<TestMarket, 'deps'>,
  rfqId: string,
  taker: Trader,
  maker: Trader,
): Promise<void> {
  const price = { quoteAmount: '65000000' };
  const { thread } = (await maker.post(`/v1/rfqs/${rfqId}/quotes`, price)).body;
  const hashlock = Buffer.from(deps.randomBytes(32)).toString('hex');
  for (const [side, by] of Object.entries({ taker, maker })) {
    const words = { ...price, ...(thread.initiator === side ? { hashlock } : {}) };
    const { status, body } = await by.post(`/v1/threads/${thread.id}/accept`, words);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  }
}

/** Another process on the same database, as after a restart. */
export async function anotherProcess({ deps }: FeedMarket, db = deps.db) {
  const app = await buildApp({ ...deps, db });
  const at = await app.listen({ host: '127.0.0.1', port: 0 });
  return { at, close: () => app.close() };
}
