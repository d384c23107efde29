// What makers are told when an asset closes and reopens, and how a burst of that reaches them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { someAddress, type Trader } from '../../../test/support/trading.ts';
import { connect, type Database } from '../../db/database.ts';
import { parseAddress } from '../../market/addresses.ts';
import { closeAsset, reopenAsset } from '../../market/listing.ts';
import { type FeedClient, type Frame, openFeed } from '../testing/feed-client.ts';
import { type FeedMarket, feedMarket } from '../testing/feed-market.ts';

let market: FeedMarket;
let taker: Trader;
/** Another program on the same database: nobody here is told of its changes at once. */
let other: Database;

before(async () => {
  market = await feedMarket();
  taker = await market.trader();
  other = connect(market.url);
});
after(async () => {
  await other.close();
  await market.close();
});

const change = () => ({
  assetId: market.assets.usd.id,
  by: 'checks' as const,
  at: new Date(market.deps.now()),
});
const close = () => other.transaction((tx) => closeAsset(tx, { ...change(), reasons: ['test'] }));
const reopen = () => other.transaction((tx) => reopenAsset(tx, change()));

const about = (id: string) => (frame: Frame) => frame.type === 'rfq' && frame.rfq.id === id;
const framesOf = ({ frames }: FeedClient, id: string) => frames.filter(about(id));
const several = (client: FeedClient, id: string, count: number) =>
  client.frame(() => framesOf(client, id).length >= count);

/** Everything before was told when a later RFQ is: frames come in order. */
async function settled(...clients: FeedClient[]): Promise<void> {
  const { id } = await market.rfq(await market.trader(), { quoteAssetId: market.assets.eth.id });
  for (const each of clients) await each.frame(about(id));
}

test('a maker sees an order leave with its token and come back with its id and createdAt', async () => {
  const plain = await market.maker(await market.trader());
  const resuming = await market.maker(await market.trader(), { resume: true });
  const posted = await market.rfq(taker);
  const elsewhere = await market.rfq(taker, { quoteAssetId: market.assets.eth.id });
  for (const each of [plain, resuming]) await each.frame(about(elsewhere.id));
  await close();
  for (const each of [plain, resuming]) await several(each, posted.id, 2);
  const shown = await taker.get('/v1/rfqs?limit=100');
  assert.ok(!shown.body.rfqs.some(({ id }: Frame) => id === posted.id));
  const late = await market.maker(await market.trader());
  assert.ok(!JSON.stringify(late.frames).includes(posted.id));
  await reopen();
  for (const each of [plain, resuming]) {
    await several(each, posted.id, 3);
    const frames = framesOf(each, posted.id);
    assert.deepEqual(
      frames.map(({ kind }) => kind),
      ['created', 'cancelled', 'created'],
    );
    for (const { rfq } of frames) assert.deepEqual(rfq, posted);
    assert.equal(framesOf(each, elsewhere.id).length, 1);
  }
  assert.deepEqual((await late.frame(about(posted.id))).rfq, posted);
  for (const each of [plain, resuming, late]) each.close();
});

test('who was away is sent the closing and the reopening, in order', async () => {
  const trader = await market.trader();
  const first = await market.maker(trader, { resume: true });
  const posted = await market.rfq(taker);
  const { seq } = await first.frame(about(posted.id));
  first.close();
  await first.closed;
  const meanwhile = await market.maker(await market.trader(), { resume: true });
  await close();
  await reopen();
  await settled(meanwhile);
  const again = await openFeed(market.at);
  again.send({ apiKey: trader.key, resume: true, since: seq });
  await again.of('ready');
  assert.equal(again.frames[0].type, 'resumed');
  const frames = framesOf(again, posted.id);
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['cancelled', 'created'],
  );
  assert.deepEqual(frames, framesOf(meanwhile, posted.id));
  for (const each of [again, meanwhile]) each.close();
});

test('a private order: its addressed maker sees both, and nobody else', async () => {
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const holder = await market.trader({ wallets: [{ family: 'evm', address }] });
  const [client, stranger] = [
    await market.maker(holder),
    await market.maker(await market.trader()),
  ];
  const posted = await market.rfq(taker, { visibility: 'private', targetAddress: address });
  const link = await market.rfq(taker, { visibility: 'private' });
  await close();
  await reopen();
  await settled(client, stranger);
  const frames = framesOf(client, posted.id);
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['created', 'cancelled', 'created'],
  );
  for (const { rfq } of frames) assert.equal(rfq.targetAddress, address);
  assert.ok(!JSON.stringify(stranger.frames).includes(posted.id));
  for (const { frames } of [client, stranger]) {
    assert.ok(!JSON.stringify(frames).includes(link.id));
  }
  for (const each of [client, stranger]) each.close();
});

for (const [how, end] of [
  ['expires', async () => market.deps.advance(31_000)],
  [
    'is cancelled',
    async (id: string) => {
      assert.equal((await taker.post(`/v1/rfqs/${id}/cancel`)).status, 200);
    },
  ],
] as const) {
  test(`an order that ${how} while its token reopens is not told as there`, async () => {
    const client = await market.maker(await market.trader(), { resume: true });
    const { id } = await market.rfq(taker, { ttlSeconds: 30 });
    await close();
    await several(client, id, 2);
    await other.transaction(async (tx) => {
      await reopenAsset(tx, change());
      await end(id);
      const gone = (frame: Frame) => frame.type === 'gone' && frame.rfqId === id;
      await client.frame((frame) => gone(frame) || framesOf(client, id).length > 2);
    });
    await settled(client);
    const last = framesOf(client, id).map(({ kind }) => kind);
    assert.deepEqual(last.slice(0, 2), ['created', 'cancelled']);
    assert.ok(!last.slice(2).includes('created'), `${last}`);
    client.close();
  });
}

test('a burst neither drops a reader that pauses nor waits for it, and it gets all in order', async () => {
  const slow = await market.maker(await market.trader(), { resume: true });
  const healthy = await market.maker(await market.trader());
  const before = slow.frames.length;
  slow.ws.pause();
  const count = 12_000;
  const had = healthy.frames.length;
  // More than the network's own buffers hold.
  await other.rows({
    name: 'test_burst',
    text: `insert into outbox (topic, payload, created_at) select 'feed.created',
      jsonb_build_object('rfqId', gen_random_uuid(), 'creatorId', gen_random_uuid(),
        'targetAddress', null, 'body', $1::text), now() from generate_series(1, $2)`,
    values: [JSON.stringify({ filler: 'x'.repeat(1_400) }), count],
  });
  await healthy.frame(() => healthy.frames.length >= had + count);
  assert.equal(slow.frames.length, before);
  slow.ws.resume();
  await slow.frame(() => slow.frames.length >= before + count);
  const numbers = slow.frames.slice(before).map(({ seq }) => seq);
  assert.equal(new Set(numbers).size, count);
  assert.ok(numbers.every((seq, index) => index === 0 || seq > (numbers[index - 1] as number)));
  // Live again.
  const { id } = await market.rfq(taker);
  await slow.frame(() => slow.frames.slice(before + count).some(about(id)));
  for (const each of [slow, healthy]) each.close();
});
