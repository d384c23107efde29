// A market without chains where a taker and makers negotiate over HTTP, for tests of its routes and
// of the feed.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import {
  type Answer,
  type TestMarket,
  type Trader,
  testMarket,
} from '@parley/verify/test/support/trading.ts';

export type Negotiating = TestMarket & {
  readonly taker: Trader;
  readonly maker: Trader;
  /** The body of an RFQ, with these fields instead. */
  wanted(fields?: object): Record<string, unknown>;
  /** Posts an RFQ, of the taker unless named; its view. */
  rfq(fields?: object, by?: Trader): Promise<Answer['body']>;
  quote(by: Trader, rfqId: string, quoteAmount?: unknown, headers?: object): Promise<Answer>;
  propose(by: Trader, threadId: string, quoteAmount: unknown): Promise<Answer>;
  accept(by: Trader, threadId: string, more?: object): Promise<Answer>;
  /** An RFQ of the taker, who is its initiator, with this maker's quote. */
  negotiation(fields?: object, by?: Trader): Promise<{ rfqId: string; threadId: string }>;
  /** Rows of the outbox with this in their payload, oldest first. */
  events(topic: string, field: string, id: string): Promise<object[]>;
};

export const price = '65000000';
export const secretLock = () => randomBytes(32).toString('hex');

/** Closed after the file, suite or test that asks for it. */
export async function negotiating(...how: Parameters<typeof testMarket>): Promise<Negotiating> {
  const market = await testMarket(...how);
  after(() => market.close());
  const { btc, usd } = market.assets;
  const taker = await market.trader();
  const maker = await market.trader();
  const wanted: Negotiating['wanted'] = (fields = {}) => ({
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    ttlSeconds: 3_600,
    ...fields,
  });
  const rfq: Negotiating['rfq'] = async (fields, by = taker) => {
    const { status, body } = await by.post('/v1/rfqs', wanted(fields));
    assert.equal(status, 201, JSON.stringify(body));
    return body.rfq;
  };
  const quote: Negotiating['quote'] = (by, rfqId, quoteAmount = price, headers = {}) =>
    by.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount }, { ...headers });
  return {
    ...market,
    taker,
    maker,
    wanted,
    rfq,
    quote,
    propose: (by, id, quoteAmount) => by.post(`/v1/threads/${id}/propose`, { quoteAmount }),
    accept: (by, id, more = {}) =>
      by.post(`/v1/threads/${id}/accept`, { quoteAmount: price, ...more }),
    negotiation: async (fields, by = maker) => {
      const { id: rfqId } = await rfq(fields);
      const { status, body } = await quote(by, rfqId);
      assert.equal(status, 201, JSON.stringify(body));
      return { rfqId, threadId: body.thread.id };
    },
    events: async (topic, field, id) => {
      const rows = await market.sql(
        'select account_id, payload from outbox where topic = $1 and payload->>$2 = $3 order by id',
        topic,
        field,
        id,
      );
      return rows.map(({ account_id: to, payload }) => ({ to, ...payload }));
    },
  };
}
