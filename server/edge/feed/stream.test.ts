// What a maker is told, and what it is not.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { someAddress, type Trader } from '../../../test/support/trading.ts';
import { parseAddress } from '../../market/addresses.ts';
import type { FeedClient, Frame } from '../testing/feed-client.ts';
import { type FeedMarket, feedMarket } from '../testing/feed-market.ts';

let market: FeedMarket;
let taker: Trader;

before(async () => {
  market = await feedMarket();
  taker = await market.trader();
});
after(() => market.close());

const about =
  (id: string, kind = 'created') =>
  (frame: Frame) =>
    frame.type === 'rfq' && frame.kind === kind && frame.rfq.id === id;

/** Everything of the RFQs was told when a later one is: frames come in order. */
async function settled(client: FeedClient): Promise<void> {
  const { id } = await market.rfq(await market.trader());
  await client.frame(about(id));
}

test('a public RFQ is told to every maker as REST shows it, and that it was cancelled', async () => {
  const [one, two] = [await market.trader(), await market.trader()];
  const clients = [await market.maker(one), await market.maker(two)];
  const posted = await market.rfq(taker, { askAmount: '65000000' });
  for (const client of clients) {
    const frame = await client.frame(about(posted.id));
    assert.deepEqual(frame, { type: 'rfq', kind: 'created', rfq: posted });
  }
  const { body } = await taker.post(`/v1/rfqs/${posted.id}/cancel`);
  for (const client of clients) {
    const frame = await client.frame(about(posted.id, 'cancelled'));
    assert.deepEqual(frame, { type: 'rfq', kind: 'cancelled', rfq: body.rfq });
    client.close();
  }
});

test('nobody is told of its own, in the snapshot nor after, and all others are', async () => {
  const own = await market.trader();
  const { id: before } = await market.rfq(own);
  const client = await market.maker(own);
  const other = await market.maker(await market.trader());
  const shown = (frames: readonly Frame[]) => frames[0].rfqs.map((each: Frame) => each.id);
  assert.ok(!shown(client.frames).includes(before));
  assert.ok(shown(other.frames).includes(before));
  const { id } = await market.rfq(own);
  await own.post(`/v1/rfqs/${id}/cancel`);
  await other.frame(about(id, 'cancelled'));
  await settled(client);
  assert.ok(!JSON.stringify(client.frames).includes(id));
  client.close();
  other.close();
});

test('the snapshot is the newest hundred of others, newest first', async () => {
  const own = await market.trader();
  const posted: string[] = [];
  for (let count = 0; count < 105; count += 1) {
    const { id } = await market.rfq(count === 50 ? own : taker);
    posted.push(id);
  }
  const client = await market.maker(await market.trader());
  const ids = client.frames[0].rfqs.map((each: Frame) => each.id);
  assert.deepEqual(ids, posted.toReversed().slice(0, 100));
  const mine = await market.maker(own);
  const without = mine.frames[0].rfqs.map((each: Frame) => each.id);
  const others = posted.filter((id) => id !== posted[50]);
  assert.deepEqual(without, others.toReversed().slice(0, 100));
  for (const id of posted) {
    const by = id === posted[50] ? own : taker;
    assert.equal((await by.post(`/v1/rfqs/${id}/cancel`)).status, 200);
  }
  client.close();
  mine.close();
});

test('private RFQs: nobody hears of a link, only its holder of an addressed one', async () => {
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const holder = await market.trader({ wallets: [{ family: 'evm', address }] });
  const [client, other] = [await market.maker(holder), await market.maker(await market.trader())];
  const link = await market.rfq(taker, { visibility: 'private' });
  const spelled = address.toLowerCase();
  const posted = await market.rfq(taker, { visibility: 'private', targetAddress: spelled });
  const frame = await client.frame(about(posted.id));
  assert.equal(frame.rfq.targetAddress, address);
  await taker.post(`/v1/rfqs/${posted.id}/cancel`);
  await client.frame(about(posted.id, 'cancelled'));
  await taker.post(`/v1/rfqs/${link.id}/cancel`);
  await settled(client);
  await settled(other);
  const again = await market.maker(holder);
  for (const { frames } of [client, other, again]) {
    assert.ok(!JSON.stringify(frames).includes(link.id));
  }
  for (const { frames } of [other, again]) {
    assert.ok(!JSON.stringify(frames).includes(posted.id));
  }
  for (const each of [client, other, again]) each.close();
});

test('a wallet proven or removed while connected counts from then on', async () => {
  const maker = await market.trader();
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const client = await market.maker(maker);
  const addressed = () => market.rfq(taker, { visibility: 'private', targetAddress: address });
  const before = await addressed();
  const statement = (text: string) =>
    market.db.rows({ name: text.slice(0, 20), text, values: [maker.accountId, address] });
  await settled(client);
  await statement(`insert into wallets (account_id, family, address, standing, proven_at)
    values ($1, 'evm', $2, 'proven', now())`);
  const during = await addressed();
  await client.frame(about(during.id));
  await statement('delete from wallets where account_id = $1 and address = $2');
  const afterwards = await addressed();
  await settled(client);
  const text = JSON.stringify(client.frames);
  assert.deepEqual(
    [before, during, afterwards].map(({ id }) => text.includes(id)),
    [false, true, false],
  );
  client.close();
});

test('nothing is said on agreement nor on expiry', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker);
  const agreed = await market.rfq(taker);
  const { body } = await maker.post(`/v1/rfqs/${agreed.id}/quotes`, { quoteAmount: '65000000' });
  const { id, initiator } = body.thread;
  for (const [by, side] of [
    [taker, 'taker'],
    [maker, 'maker'],
  ] as const) {
    const hashlock = initiator === side ? { hashlock: 'ab'.repeat(32) } : {};
    const words = { quoteAmount: '65000000', ...hashlock };
    assert.equal((await by.post(`/v1/threads/${id}/accept`, words)).status, 200);
  }
  const short = await market.rfq(taker, { ttlSeconds: 30 });
  await client.frame(about(short.id));
  market.deps.advance(31_000);
  await settled(client);
  const { status } = (await maker.get(`/v1/rfqs/${short.id}`)).body;
  assert.equal(status, 'expired');
  const told = client.frames.filter((each) => [agreed.id, short.id].includes(each.rfq?.id));
  assert.deepEqual(
    told.map(({ kind }) => kind),
    ['created', 'created'],
  );
  assert.ok(client.frames.every(({ type }) => ['snapshot', 'ready', 'rfq'].includes(type)));
  client.close();
});

test('no frame of one who did not ask for more has a field beyond the specification', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker);
  const { id } = await market.rfq(taker);
  await client.frame(about(id));
  client.send({ quote: { rfqId: id, quoteAmount: '65000000' } });
  client.send({ quote: { rfqId: 'nothing', quoteAmount: '65000000' } });
  client.send({ ping: 'x' });
  await client.of('quoted');
  await client.frame((frame) => /"quote" is missing/.test(frame.error ?? ''));
  const fields: Record<string, string[]> = {
    snapshot: ['rfqs', 'type'],
    ready: ['type'],
    rfq: ['kind', 'rfq', 'type'],
    quoted: ['rfqId', 'threadId', 'type'],
    error: ['error', 'type'],
  };
  for (const frame of client.frames) {
    assert.deepEqual(Object.keys(frame).sort(), fields[frame.type], JSON.stringify(frame));
  }
  client.close();
});
