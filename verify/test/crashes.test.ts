// kill -9 of a server where more than one process, or more than one request, has a part in what
// must come out right: quotes that commit together, and an RFQ between its commit and its frame.
// The points are forced: the server's way to PostgreSQL stops at the message that the test names.
// Each request by itself is killed at every await in the crash matrix (docs/verification.md).

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FeedClient, type Frame, openFeed } from '@parley/market/edge/testing/feed-client.ts';
import {
  anotherProcess,
  type FeedMarket,
  feedMarket,
} from '@parley/market/edge/testing/feed-market.ts';
import { startServerProcess } from '@parley/market/edge/testing/process.ts';
import { type Point, type PostgresProxy, postgresProxy } from './support/postgres-proxy.ts';
import type { Trader } from './support/trading.ts';

/** The server that stays: in this process, as nothing kills it. */
let market: FeedMarket;
let proxy: PostgresProxy;

before(async () => {
  market = await feedMarket();
  proxy = await postgresProxy(market.url);
});
after(async () => {
  await proxy.close();
  await market.close();
});

/** Kills a server of its own when it has come to the point; its request has no answer. */
async function killAt(point: Point, work: (url: string) => Promise<unknown>): Promise<void> {
  const victim = await startServerProcess(proxy.url);
  const reached = proxy.stopAt(point);
  const working = work(victim.url);
  const answered = working.then((answer) => {
    throw new Error(`${point.statement} was never reached: ${JSON.stringify(answer)}`);
  });
  await Promise.race([reached, answered]);
  process.kill(victim.pid, 'SIGKILL');
  await assert.rejects(working, 'nothing was answered');
  await victim.ended;
}

function post(url: string, { key }: Trader, path: string, body: object): Promise<Response> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

const wanted = () => ({
  direction: 'sell_base',
  baseAssetId: market.assets.btc.id,
  baseAmount: '100000',
  quoteAssetId: market.assets.usd.id,
  ttlSeconds: 3_600,
});
const countOf = async (text: string, id: string) =>
  (await market.db.rows<{ count: number }>({ name: '', text, values: [id] }))[0]?.count;

for (const [when, most] of [
  ['before', 0],
  ['after', 3],
] as const) {
  test(`quotes killed together ${when} their commit are whole or not there`, async () => {
    const taker = await market.trader();
    const { body } = await taker.post('/v1/rfqs', wanted());
    const path = `/v1/rfqs/${body.rfq.id}/quotes`;
    const makers = [await market.trader(), await market.trader(), await market.trader()];
    const send = (url: string) =>
      makers.map((maker) => post(url, maker, path, { quoteAmount: '65000000' }));
    await killAt({ statement: 'commit', when, having: 'quotes_insert' }, async (url) => {
      const answers = await Promise.allSettled(send(url));
      if (answers.every((each) => each.status === 'rejected')) throw new Error('cut off');
      return answers.map(({ status }) => status);
    });
    const threads = () => countOf('select count(*) from threads where rfq_id = $1', body.rfq.id);
    const told = `select count(*) from outbox where topic = 'quote.created'
      and payload->>'rfqId' = $1`;
    const stored = (await threads()) ?? -1;
    assert.ok(stored <= most && (most === 0) === (stored === 0), `${stored} of ${most}`);
    assert.equal(await countOf(told, body.rfq.id), stored);
    for (const answer of await Promise.all(send(market.at))) assert.ok(answer.ok);
    assert.equal(await threads(), 3);
  });
}

async function resume(url: string, maker: Trader, since?: number): Promise<FeedClient> {
  const client = await openFeed(url);
  client.send({ apiKey: maker.key, resume: true, ...(since === undefined ? {} : { since }) });
  await client.of('ready');
  return client;
}

const created = ({ frames }: FeedClient): string[] =>
  frames.filter(({ kind }: Frame) => kind === 'created').map(({ rfq }: Frame) => rfq.id);

for (const point of [
  { statement: 'commit', when: 'after', having: 'rfqs_insert' },
  { statement: 'feed_append', when: 'after', since: 'rfqs_insert' },
] as const) {
  const what = `after ${point.statement}`;
  test(`killed ${what}, a server's RFQ is on the feed of others, once`, async () => {
    const taker = await market.trader();
    const maker = await market.trader();
    const client = await resume(market.at, maker);
    const seen = client.frames.at(-1).seq;
    // The first reader appends: until it is the victim, one RFQ more.
    await killAt(point, async (url) => {
      for (;;) await post(url, taker, '/v1/rfqs', wanted());
    });
    // A duplicate has arrived once a later one is there.
    const last = await post(market.at, taker, '/v1/rfqs', wanted());
    const mark = (await last.json()) as { rfq: { id: string } };
    const rows = await market.db.rows<{ id: string }>({
      name: '',
      text: 'select id from rfqs where creator_id = $1 order by id',
      values: [taker.accountId],
    });
    const made = rows.map(({ id }) => id);
    assert.ok(made.length > 1);
    await client.frame((frame) => frame.rfq?.id === mark.rfq.id);
    assert.deepEqual(created(client), made);
    // As a server that starts: it has seen nothing of this.
    const restarted = await anotherProcess(market);
    const back = await resume(restarted.at, maker, seen);
    assert.deepEqual(created(back), made);
    client.close();
    back.close();
    await restarted.close();
  });
}
