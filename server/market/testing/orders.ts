// A market whose assets are closed and reopened, and what its feed, its book and two traders see.

import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { type TestMarket, type Trader, testMarket } from '../../../test/support/trading.ts';
import { connect, type Database } from '../../db/database.ts';
import { buildApp } from '../../edge/app.ts';

export type Told = { kind: string; rfqId: string; body: string; again: boolean };

type Place = {
  readonly market: TestMarket;
  readonly taker: Trader;
  readonly maker: Trader;
  /** Another pool on the same database: what another process would do. */
  readonly other: Database;
};

/** Before each test all is open again, no RFQ is live and nothing waits for the feed. */
export function ordersToClose() {
  const place = {} as { -readonly [K in keyof Place]: Place[K] };
  before(async () => {
    place.market = await testMarket();
    [place.taker, place.maker] = [await place.market.trader(), await place.market.trader()];
    place.other = connect(place.market.url);
  });
  after(async () => {
    await place.other.close();
    await place.market.close();
  });
  beforeEach(async () => {
    for (const text of [
      'delete from outbox where account_id is null',
      'delete from halts',
      `update assets set closings = '{}', delisted_at = null`,
      `update rfqs set status = 'cancelled' where status in ('open', 'negotiating')`,
    ]) {
      await place.market.db.rows({ name: '', text, values: [] });
    }
  });
  const at = () => new Date(place.market.deps.now());

  /** What waits for the feed, oldest first; it does not run here. */
  const told = async (): Promise<Told[]> => {
    const rows = await place.market.db.rows<{ topic: string; payload: Told }>({
      name: 'test_told',
      text: 'select topic, payload from outbox where account_id is null order by id',
      values: [],
    });
    return rows.map(({ topic, payload: { rfqId, body, again = false } }) => {
      return { kind: topic.slice('feed.'.length), rfqId, body, again };
    });
  };
  const kindsOf = async (id: string) =>
    (await told()).filter(({ rfqId }) => rfqId === id).map(({ kind }) => kind);

  const post = (fields: Record<string, unknown> = {}) => {
    const { btc, usd } = place.market.assets;
    const wanted = { baseAssetId: btc.id, quoteAssetId: usd.id, baseAmount: '100000' };
    const rest = { direction: 'sell_base', ttlSeconds: 600 };
    return place.taker.post('/v1/rfqs', { ...wanted, ...rest, ...fields });
  };
  const posted = async (fields: Record<string, unknown> = {}) => {
    const { status, body } = await post(fields);
    assert.equal(status, 201, JSON.stringify(body));
    return body.rfq;
  };
  const quote = (id: string) =>
    place.maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' });

  /** The book of a process that changed nothing itself and keeps no page. */
  const book = async (): Promise<string[]> => {
    const app = await buildApp({ ...place.market.deps, db: { ...place.other } });
    const headers = { authorization: `Bearer ${place.taker.key}` };
    const reply = await app.inject({ url: '/v1/rfqs?limit=100', headers });
    await app.close();
    return reply.json().rfqs.map(({ id }: { id: string }) => id);
  };

  /** Both accept; `meanwhile` runs before the second does. */
  const agreed = async (rfqId: string, meanwhile = async () => {}) => {
    const { thread } = (await quote(rfqId)).body;
    const hashlock = Buffer.from(place.market.deps.randomBytes(32)).toString('hex');
    const accept = (by: Trader, side: string) =>
      by.post(`/v1/threads/${thread.id}/accept`, {
        quoteAmount: '65000000',
        ...(thread.initiator === side ? { hashlock } : {}),
      });
    assert.equal((await accept(place.taker, 'taker')).status, 200);
    await meanwhile();
    return accept(place.maker, 'maker');
  };
  return { place, at, told, kindsOf, post, posted, quote, book, agreed };
}
