// The frames that a maker gets, and those that it does not.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { someAddress } from '@parley/verify/test/support/trading.ts';
import { parseAddress } from '../../market/addresses.ts';
import { about, type FeedClient, type Frame } from '../testing/feed-client.ts';
import { agreeOn, feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());
const taker = await market.trader();
const newAddress = () => parseAddress(someAddress('evm'), 'dev').address;
const open = async () => market.maker(await market.trader());
const textOf = ({ frames }: FeedClient) => JSON.stringify(frames);

/** Frames come in order: with one of a later RFQ everything of the earlier ones has come. */
async function settled(...clients: FeedClient[]): Promise<void> {
  const { id } = await market.rfq(await market.trader());
  for (const client of clients) await client.frame(about(id));
}

test('a public RFQ comes to every maker as REST shows it, and that it was cancelled; not to its own', async () => {
  const own = await market.trader();
  const { id: before } = await market.rfq(own);
  const [mine, ...clients] = [await market.maker(own), await open(), await open()];
  const posted = await market.rfq(own, { askAmount: '65000000' });
  const { body } = await own.post(`/v1/rfqs/${posted.id}/cancel`);
  for (const client of clients) {
    const created = await client.frame(about(posted.id));
    assert.deepEqual(created, { type: 'rfq', kind: 'created', rfq: posted });
    const cancelled = await client.frame(about(posted.id, 'cancelled'));
    assert.deepEqual(cancelled, { type: 'rfq', kind: 'cancelled', rfq: body.rfq });
    assert.ok(client.frames[0].rfqs.some(({ id }: Frame) => id === before));
  }
  await settled(mine!);
  for (const id of [before, posted.id]) assert.ok(!textOf(mine!).includes(id));
  for (const each of [mine!, ...clients]) each.close();
});

test('private RFQs: nobody hears of a link, only its holder of an addressed one', async () => {
  const address = newAddress();
  const holder = await market.trader({ wallets: [{ family: 'evm', address }] });
  const client = await market.maker(holder);
  const other = await open();
  const link = await market.rfq(taker, { visibility: 'private' });
  const spelled = address.toLowerCase();
  const posted = await market.rfq(taker, { visibility: 'private', targetAddress: spelled });
  assert.equal((await client.frame(about(posted.id))).rfq.targetAddress, address);
  for (const { id } of [posted, link]) await taker.post(`/v1/rfqs/${id}/cancel`);
  await client.frame(about(posted.id, 'cancelled'));
  await settled(client, other);
  const again = await market.maker(holder);
  for (const each of [client, other, again]) assert.ok(!textOf(each).includes(link.id));
  for (const each of [other, again]) assert.ok(!textOf(each).includes(posted.id));
  for (const each of [client, other, again]) each.close();
});

test('the stream is silent on agreement and on expiry, and has no field beyond the specification', async () => {
  const maker = await market.trader();
  const client = await market.maker(maker);
  const agreed = await market.rfq(taker);
  await agreeOn(market, agreed.id, taker, maker);
  const short = await market.rfq(taker, { ttlSeconds: 30 });
  await client.frame(about(short.id));
  market.deps.advance(31_000);
  await settled(client);
  assert.equal((await maker.get(`/v1/rfqs/${short.id}`)).body.status, 'expired');
  const kinds = client.frames.filter((each) => [agreed.id, short.id].includes(each.rfq?.id));
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['created', 'created'],
  );
  const { id: rfqId } = await market.rfq(taker);
  for (const each of [rfqId, 'nothing']) {
    client.send({ quote: { rfqId: each, quoteAmount: '65000000' } });
  }
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
