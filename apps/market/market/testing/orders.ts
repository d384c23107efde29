// A market whose assets are closed and reopened, and what its feed, its book and two traders see.

import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import { connect, type Database } from '../../db/database.ts';
import { buildApp } from '../../edge/app.ts';
import { negotiating, secretLock } from '../../edge/testing/negotiating.ts';

export type Told = { kind: string; rfqId: string; body: string; again: boolean };

/** Before each test all is open again, no RFQ is live and nothing waits for the feed. */
export async function ordersToClose() {
  /** Another pool on the same database: it acts as another process would. */
  let other: Database | undefined;
  after(() => other?.close());
  const market = await negotiating();
  const { taker, maker, db, deps } = market;
  other = connect(market.url);
  beforeEach(async () => {
    for (const text of [
      'delete from outbox where account_id is null',
      'delete from halts',
      `update assets set closings = '{}', delisted_at = null`,
      `update rfqs set status = 'cancelled' where status in ('open', 'negotiating')`,
    ]) {
      await market.sql(text);
    }
  });
  const at = () => new Date(deps.now());

  /** The rows that wait for the feed, oldest first; it does not run here. */
  const told = async (): Promise<Told[]> => {
    const text = 'select topic, payload from outbox where account_id is null order by id';
    return (await market.sql(text)).map(({ topic, payload: { rfqId, body, again = false } }) => {
      return { kind: topic.slice('feed.'.length), rfqId, body, again };
    });
  };
  const kindsOf = async (id: string) =>
    (await told()).filter(({ rfqId }) => rfqId === id).map(({ kind }) => kind);

  /** The book of a process that changed nothing itself and keeps no page. */
  const book = async (): Promise<string[]> => {
    const app = await buildApp({ ...deps, db: { ...db } });
    const headers = { authorization: `Bearer ${taker.key}` };
    const reply = await app.inject({ url: '/v1/rfqs?limit=100', headers });
    await app.close();
    return reply.json().rfqs.map(({ id }: { id: string }) => id);
  };

  /** Both accept; `meanwhile` runs before the second does. */
  const agreed = async (rfqId: string, meanwhile = async () => {}) => {
    const { thread } = (await market.quote(maker, rfqId)).body;
    const first = await market.accept(taker, thread.id, { hashlock: secretLock() });
    assert.equal(first.status, 200);
    await meanwhile();
    return market.accept(maker, thread.id);
  };
  return {
    market,
    taker,
    maker,
    db,
    other,
    at,
    told,
    kindsOf,
    book,
    agreed,
    /** As it is answered. */
    tryPost: (fields = {}) => taker.post('/v1/rfqs', market.wanted(fields)),
    post: (fields = {}) => market.rfq(fields),
    quote: (id: string) => market.quote(maker, id),
  };
}
