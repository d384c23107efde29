// kill -9 of a server between the commit of an RFQ and its frame, at each statement on the way: its
// frame comes all the same, once, to who was at another server and to who comes back.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FeedClient, type Frame, openFeed } from '../server/edge/testing/feed-client.ts';
import { type ServerProcess, startServerProcess } from '../server/edge/testing/process.ts';
import { seedAssets } from '../server/market/assets.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { type TestDeps, testDeps } from './support/deps.ts';
import { type Point, type PostgresProxy, postgresProxy } from './support/postgres-proxy.ts';
import { insertTrader, someAddress } from './support/trading.ts';

let database: TestDatabase;
let deps: TestDeps;
let proxy: PostgresProxy;
let maker: { key: string };
let taker: { key: string; accountId: string };
let wanted: object;

before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  const [btc, usd] = await seedAssets(database.db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'USD', address: `0x${'d0'.repeat(20)}`, decimals: 6 },
  ]);
  wanted = {
    direction: 'sell_base',
    baseAssetId: btc?.id,
    baseAmount: '100000',
    quoteAssetId: usd?.id,
    ttlSeconds: 600,
  };
  proxy = await postgresProxy(database.url);
  const wallets = () => [{ family: 'bitcoin' as const, address: someAddress('bitcoin') }];
  maker = await insertTrader(deps, ['maker'], wallets());
  taker = await insertTrader(deps, ['taker'], wallets());
});
after(async () => {
  await proxy.close();
  await database.drop();
});

async function post(url: string): Promise<void> {
  await fetch(`${url}/v1/rfqs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${taker.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(wanted),
  });
}

async function resume(url: string, since?: number): Promise<FeedClient> {
  const client = await openFeed(url);
  const from = since === undefined ? {} : { since };
  client.send({ apiKey: maker.key, resume: true, ...from });
  await client.of('ready');
  return client;
}

/** Of the taker, in the order in which they were made. */
async function rfqs(): Promise<string[]> {
  const rows = await database.db.rows<{ id: string }>({
    name: 'test_rfqs',
    text: 'select id from rfqs where creator_id = $1 order by id',
    values: [taker.accountId],
  });
  return rows.map(({ id }) => id);
}

const created = ({ frames }: FeedClient): string[] =>
  frames.filter(({ kind }: Frame) => kind === 'created').map(({ rfq }: Frame) => rfq.id);

const points: readonly (readonly [string, Point])[] = [
  ['after the commit of the RFQ', { statement: 'commit', when: 'after', having: 'rfqs_insert' }],
  ['before it is in the log', { statement: 'feed_append', when: 'before', since: 'rfqs_insert' }],
  ['after it is in the log', { statement: 'feed_append', when: 'after', since: 'rfqs_insert' }],
  ['before the log is read', { statement: 'feed_read', when: 'before', since: 'rfqs_insert' }],
];

for (const [what, point] of points) {
  test(`killed ${what}, a server's RFQ is told by another, once`, async () => {
    const known = await rfqs();
    const other = await startServerProcess(database.url);
    const client = await resume(other.url);
    const seen = client.frames.at(-1).seq;
    const reached = proxy.stopAt(point);
    const dying = await startServerProcess(proxy.url);
    // Whoever looks first appends: until it is this server, one RFQ more.
    const posting = postUntil(dying, reached);
    await reached;
    process.kill(dying.pid, 'SIGKILL');
    await posting;
    await dying.ended;
    const made = (await rfqs()).filter((id) => !known.includes(id));
    assert.ok(made.length > 0);
    await client.frame(() => created(client).length >= made.length);
    const mark = await told(client, other);
    assert.deepEqual(created(client), [...made, mark]);
    const back = await resume(other.url, seen);
    assert.deepEqual(created(back), [...made, mark]);
    client.close();
    back.close();
    await other.stop();
  });

  test(`killed ${what} with nobody else there, it is told after the restart, once`, async () => {
    const known = await rfqs();
    const dying = await startServerProcess(proxy.url);
    const client = await resume(dying.url);
    const seen = client.frames.at(-1).seq;
    const reached = proxy.stopAt(point);
    const posting = postUntil(dying, reached);
    await reached;
    process.kill(dying.pid, 'SIGKILL');
    await posting;
    await dying.ended;
    const restarted = await startServerProcess(database.url);
    const back = await resume(restarted.url, seen);
    const made = (await rfqs()).filter((id) => !known.includes(id));
    await back.frame(() => created(back).length >= made.length);
    const mark = await told(back, restarted);
    assert.deepEqual(created(back), [...made, mark]);
    back.close();
    await restarted.stop();
  });
}

async function postUntil({ url }: ServerProcess, reached: Promise<void>): Promise<void> {
  let over = false;
  void reached.then(() => {
    over = true;
  });
  while (!over) await post(url).catch(() => {});
}

/** An RFQ more, told to this client: whatever came twice has come twice by then. */
async function told(client: FeedClient, { url }: ServerProcess): Promise<string> {
  await post(url);
  const id = (await rfqs()).at(-1) ?? '';
  await client.frame((frame) => frame.rfq?.id === id);
  return id;
}
