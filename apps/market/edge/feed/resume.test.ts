// The frames for a maker that asked for more: numbers, what it missed, what is gone, and pongs.
// That no frame is lost, whatever is cut or slow: verify/test/feed-market.test.ts.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { someAddress, type Trader } from '@parley/verify/test/support/trading.ts';
import { parseAddress } from '../../market/addresses.ts';
import { workOf } from '../../ports/work.ts';
import { about, type FeedClient, type Frame, openFeed, openMaker } from '../testing/feed-client.ts';
import { agreeOn, anotherProcess, type FeedMarket, feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
after(() => market.close());
const taker = await market.trader();
const resume = { resume: true };
const gone = (id: string) => (frame: Frame) => frame.type === 'gone' && frame.rfqId === id;
const typesOf = ({ frames }: FeedClient) => frames.map(({ type }) => type);
const newAddress = () => parseAddress(someAddress('evm'), 'dev').address;
const holding = (address: string) => market.trader({ wallets: [{ family: 'evm', address }] });

/** Comes back with what it has seen, and waits until it is ready. */
const back = ({ key }: Trader, since: number, at = market.at) =>
  openMaker(at, { apiKey: key, ...resume, since });

/** So many entries of strangers, for this address or for everybody. */
const append = (own: FeedMarket, count: number, address: string | null = null) =>
  own.sql(
    `insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
      select 'gone', gen_random_uuid(), gen_random_uuid(), $2, 'expired', now()
      from generate_series(1, $1)`,
    count,
    address,
  );

/** A maker that was there, up to this number. */
async function left(trader: Trader): Promise<number> {
  const client = await market.maker(trader, resume);
  client.close();
  await client.closed;
  return client.frames.at(-1).seq;
}

test('a ping comes back with its own words; an answer names its RFQ, its code and its key', async () => {
  const client = await market.maker(await market.trader(), resume);
  const { id } = await market.rfq(taker);
  client.send({ ping: 'here' });
  assert.equal((await client.of('pong')).pong, 'here');
  const quote = (quoteAmount: string, idempotencyKey: string, rfqId = id) =>
    client.send({ quote: { rfqId, quoteAmount, idempotencyKey } });
  for (const [key, code, amount, rfqId] of [
    ['one', undefined, '65000000', id],
    ['two', 'bad_amount', 'x', id],
    ['one', 'key_reused', '64000000', id],
    ['three', 'unknown_rfq', '1', 'nothing'],
  ] as const) {
    quote(amount, key, rfqId);
    const answered = (each: Frame) => each.idempotencyKey === key && each.code === code;
    assert.equal((await client.frame(answered)).rfqId, rfqId);
  }
  for (const ping of [7, 'x'.repeat(65)]) {
    const from = client.frames.length;
    client.send({ ping });
    await client.frame(() => client.frames[from]?.code === 'bad_field');
  }
  // The error before a close carries a number like every other frame.
  client.send('x'.repeat(20_000));
  await client.closed;
  const { type, seq } = client.frames.at(-1);
  assert.deepEqual([type, typeof seq], ['error', 'number']);
});

test('gone says that an RFQ has expired or was agreed, to all but its creator', async () => {
  const maker = await market.trader();
  const one = await market.maker(maker, resume);
  const two = await market.maker(taker, resume);
  const agreed = await market.rfq(taker);
  await agreeOn(market, agreed.id, taker, maker);
  const { seq: _, ...frame } = await one.frame(gone(agreed.id));
  assert.deepEqual(frame, { type: 'gone', rfqId: agreed.id, reason: 'agreed' });
  const short = await market.rfq(taker, { ttlSeconds: 30 });
  await one.frame(about(short.id));
  market.deps.advance(30_001);
  workOf(market.db).ring('feed outbox');
  assert.equal((await one.frame(gone(short.id))).reason, 'expired');
  assert.ok(!JSON.stringify(two.frames).includes(short.id));
  for (const each of [one, two]) each.close();
});

test('a private RFQ that was missed is sent only to who holds its address now', async () => {
  const address = newAddress();
  const holder = await holding(address);
  const seen = await left(holder);
  const posted = await market.rfq(taker, { visibility: 'private', targetAddress: address });
  const mark = await market.rfq(taker);
  const restarted = await anotherProcess(market);
  const isSent = async (at: string) => {
    const again = await back(holder, seen, at);
    await again.frame(about(mark.id));
    again.close();
    return again.frames.some(about(posted.id));
  };
  assert.equal(await isSent(market.at), true);
  await market.sql('delete from wallets where account_id = $1', holder.accountId);
  for (const { at } of [market, restarted]) assert.equal(await isSent(at), false);
  await restarted.close();
});

test('a process without sockets reads nothing of the log, and who comes then misses nothing', async () => {
  const { db } = market.deps;
  let reads = 0;
  const rows: typeof db.rows = (statement) => {
    if (statement.name === 'feed_read') reads += 1;
    return db.rows(statement);
  };
  const other = await anotherProcess(market, { ...db, rows });
  const trader = await market.trader();
  // With an RFQ of its own it shares its snapshot with no one.
  await market.rfq(trader);
  const watching = await market.maker(await market.trader(), resume);
  const posted = async () => {
    const { id } = await market.rfq(taker);
    return watching.frame(about(id));
  };
  await posted();
  assert.equal(reads, 0);
  for (const again of [false, true]) {
    const { seq, rfq } = await posted();
    const client = await openMaker(other.at, { apiKey: trader.key, ...resume });
    const [snapshot] = client.frames;
    assert.equal(snapshot.seq, seq, `again: ${again}`);
    assert.ok(snapshot.rfqs.some(({ id }: Frame) => id === rfq.id));
    await client.frame(about((await posted()).rfq.id));
    client.close();
    await client.closed;
  }
  watching.close();
  await other.close();
});

test('a replay costs a request for each hundred frames; without them the book comes anew', async (t) => {
  const own = await feedMarket({ rateLimit: 8 });
  t.after(() => own.close());
  const address = newAddress();
  const maker = await own.trader();
  const holder = await own.trader({ wallets: [{ family: 'evm', address }] });
  const asks = await own.trader();
  const listens = await own.trader();
  const listener = await own.maker(listens, resume);
  const { seq } = await listener.frame(about((await own.rfq(asks)).id));
  await append(own, 249);
  await append(own, 250, address);
  await listener.frame(about((await own.rfq(asks)).id));
  const missed = async (by: Trader, expected: readonly string[]): Promise<number> => {
    const client = await back(by, seq, own.at);
    client.close();
    const news = (type: string) => type === 'gone' || type === 'rfq';
    const types = typesOf(client);
    assert.deepEqual(
      types.filter((type) => !news(type)),
      expected,
    );
    return types.filter(news).length;
  };
  // The first frame, and three for 250 that are for everybody; so all is spent.
  for (const _ of [1, 2]) assert.equal(await missed(maker, ['resumed', 'ready']), 250);
  const third = await openFeed(own.at);
  third.send({ apiKey: maker.key, ...resume, since: seq });
  assert.equal((await third.frame(() => true)).type, 'error');
  assert.equal((await third.closed).code, 4429);
  // Those for one account alone are no cheaper: after six requests 200 more are too many.
  assert.equal(await missed(holder, ['resumed', 'ready']), 500);
  assert.equal(await missed(holder, ['resumed', 'reset', 'snapshot', 'ready']), 0);
  listener.close();
});

test('private RFQs for the account are in the snapshot of who resumes, and in REST', async () => {
  const address = newAddress();
  const holder = await holding(address);
  const posted: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const fields = { visibility: 'private', targetAddress: address };
    posted.unshift((await market.rfq(taker, fields)).id);
  }
  const client = await market.maker(holder, resume);
  const [{ addressed, rfqs }] = client.frames;
  const shown = addressed.map(({ id, targetAddress }: Frame) => [id, targetAddress]);
  assert.deepEqual(
    shown,
    posted.map((id) => [id, address]),
  );
  assert.ok(!JSON.stringify(rfqs).includes(posted[0]!));
  const list = '/v1/rfqs?addressed=true';
  const { body: page } = await holder.get(`${list}&limit=2`);
  assert.deepEqual(page.rfqs, addressed.slice(0, 2));
  const cursor = `cursor=${page.nextCursor}`;
  const next = await holder.get(`${list}&limit=2&${cursor}`);
  assert.deepEqual(next.body, { rfqs: addressed.slice(2), nextCursor: null });
  const stranger = await market.trader();
  for (const by of [stranger, taker]) assert.deepEqual((await by.get(list)).body.rfqs, []);
  for (const foreign of [
    await stranger.get(`${list}&${cursor}`),
    await holder.get(`/v1/rfqs?${cursor}`),
  ]) {
    assert.equal(foreign.code, 'bad_cursor');
  }
  await taker.post(`/v1/rfqs/${posted[0]}/cancel`);
  const now = (await holder.get(list)).body.rfqs.map(({ id }: Frame) => id);
  assert.deepEqual(now, posted.slice(1));
  client.close();
});
