// Quotes down the socket: the same effect, budget and idempotency as over REST.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Trader } from '../../../test/support/trading.ts';
import type { FeedClient, Frame } from '../testing/feed-client.ts';
import { type FeedMarket, feedMarket } from '../testing/feed-market.ts';

let market: FeedMarket;
let taker: Trader;
let maker: Trader;
let client: FeedClient;

before(async () => {
  market = await feedMarket();
  taker = await market.trader();
  maker = await market.trader();
  client = await market.maker(maker);
});
after(async () => {
  client.close();
  await market.close();
});

/** Sends frames, and the answers that come until each has one. */
async function answers(...sent: unknown[]): Promise<Frame[]> {
  const from = client.frames.length;
  const isAnswer = ({ type }: Frame) => type === 'quoted' || type === 'error';
  for (const each of sent) client.send(each);
  await client.frame(() => client.frames.slice(from).filter(isAnswer).length >= sent.length);
  return client.frames.slice(from).filter(isAnswer);
}

const quote = (rfqId: string, quoteAmount: unknown, more: object = {}) => ({
  quote: { rfqId, quoteAmount, ...more },
});

test('a quote opens a thread that REST shows, and the next one moves its price', async () => {
  const { id } = await market.rfq(taker);
  const [first] = await answers(quote(id, '65000000'));
  assert.deepEqual(Object.keys(first).sort(), ['rfqId', 'threadId', 'type']);
  assert.deepEqual([first.type, first.rfqId], ['quoted', id]);
  const [second] = await answers(quote(id.toUpperCase(), '64000000'));
  assert.deepEqual(second, first);
  const { body } = await taker.get(`/v1/threads/${first.threadId}`);
  assert.deepEqual([body.quoteAmount, body.makerId], ['64000000', maker.accountId]);
});

test('of many quotes on one RFQ the last that was sent stands', async () => {
  const { id } = await market.rfq(taker);
  const prices = Array.from({ length: 40 }, (_, index) => String(65_000_000 - index));
  const [first] = await answers(...prices.map((price) => quote(id, price)));
  const { body } = await maker.get(`/v1/threads/${first.threadId}`);
  assert.equal(body.quoteAmount, prices.at(-1));
  assert.deepEqual(
    body.messages.map((each: Frame) => each.quoteAmount),
    prices,
  );
});

test('bad frames are refused in words, and the socket stays open', async () => {
  const { id } = await market.rfq(taker);
  const { id: gone } = await market.rfq(taker);
  await taker.post(`/v1/rfqs/${gone}/cancel`);
  const own = await market.rfq(maker);
  const cases: [unknown, RegExp][] = [
    ['{"quote":', /not valid JSON/],
    ['', /"quote" is missing/],
    ['7', /must be object/],
    ['[]', /must be object/],
    [{ quote: null }, /quote/],
    [{ quote: {} }, /"quote.rfqId" is missing/],
    [{ quote: { rfqId: id } }, /"quote.quoteAmount" is missing/],
    [quote(id, 65_000_000), /quoteAmount/],
    [quote(id, '0'), /quoteAmount/],
    [quote(id, '-1'), /quoteAmount/],
    [quote(id, '1e9'), /quoteAmount/],
    [quote(id, (2n ** 256n).toString()), /quoteAmount/],
    [quote(id, '1', { price: 2 }), /"quote.price" is not known/],
    [{ ...quote(id, '1'), and: 1 }, /"and" is not known/],
    [quote(id, '1', { idempotencyKey: '' }), /idempotencyKey/],
    [quote(id, '1', { idempotencyKey: 'x'.repeat(256) }), /idempotencyKey/],
    [quote(id, '1', { idempotencyKey: 'a\u0000b' }), /U\+0000/],
    [quote(id, '1', { idempotencyKey: 'a\nb' }), /idempotencyKey/],
    [quote('nothing', '65000000'), /no RFQ nothing/],
    [quote(`../${id}`, '65000000'), /no RFQ/],
    ['{"quote":{"rfqId":"\\ud800","quoteAmount":"1"}}', /no RFQ/],
    [{ other: 1 }, /^the frame must be \{"quote"/],
    [quote('0193f0a0-0000-7000-8000-000000000000', '65000000'), /no RFQ/],
    [quote(gone, '65000000'), /cancelled/],
    [quote(own.id, '65000000'), /own RFQ/],
    [{ apiKey: maker.key }, /"apiKey" is not known|"quote" is missing/],
    [`{"quote":${'['.repeat(100)}${']'.repeat(100)}}`, /nests deeper/],
  ];
  for (const [frame, sentence] of cases) {
    const [answer] = await answers(frame);
    assert.equal(answer.type, 'error');
    assert.match(answer.error, sentence, JSON.stringify(frame));
    assert.deepEqual(Object.keys(answer).sort(), ['error', 'type']);
  }
  const [last] = await answers(quote(id, '65000000'));
  assert.equal(last.type, 'quoted');
});

test('an idempotencyKey is one space with the header of REST: replayed, 422 for another body', async () => {
  const { id } = await market.rfq(taker);
  const [first] = await answers(quote(id, '65000000', { idempotencyKey: 'one' }));
  await answers(quote(id, '64000000'));
  const [again] = await answers(quote(id, '65000000', { idempotencyKey: 'one' }));
  assert.deepEqual(again, first);
  const { body } = await maker.get(`/v1/threads/${first.threadId}`);
  assert.equal(body.quoteAmount, '64000000');
  const [other] = await answers(quote(id, '63000000', { idempotencyKey: 'one' }));
  assert.match(other.error, /used with another body/);
  const path = `/v1/rfqs/${id}/quotes`;
  const rest = await maker.post(path, { quoteAmount: '65000000' }, { 'idempotency-key': 'one' });
  assert.deepEqual([rest.status, rest.body.thread.quoteAmount], [201, '65000000']);
  await maker.post(path, { quoteAmount: '62000000' }, { 'idempotency-key': 'two' });
  const [replayed] = await answers(quote(id, '62000000', { idempotencyKey: 'two' }));
  assert.deepEqual(replayed, first);
  const { body: now } = await maker.get(`/v1/threads/${first.threadId}`);
  assert.equal(now.messages.length, 3);
});

test('a refusal is stored under its idempotencyKey like any other', async () => {
  const { id } = await market.rfq(taker);
  await taker.post(`/v1/rfqs/${id}/cancel`);
  const sent = quote(id, '65000000', { idempotencyKey: 'refused' });
  const [one] = await answers(sent);
  const [two] = await answers(sent);
  assert.deepEqual([one.type, two], ['error', one]);
});

test('quotes and malformed frames spend the budget of the key, and REST the same', async (t) => {
  const small = await feedMarket({ rateLimit: 5 });
  t.after(() => small.close());
  const [asks, quotes] = [await small.trader(), await small.trader()];
  const { id } = await small.rfq(asks);
  const feed = await small.maker(quotes);
  feed.send(quote(id, '65000000'));
  feed.send('{');
  const isAnswer = ({ type }: Frame) => type === 'quoted' || type === 'error';
  await feed.frame(() => feed.frames.filter(isAnswer).length >= 2);
  const rest = await quotes.get('/v1/me');
  assert.equal(rest.status, 200);
  for (let more = 0; more < 4; more += 1) feed.send(quote(id, '64000000'));
  const over = await feed.frame(({ error }) => /too many requests/.test(error ?? ''));
  assert.match(over.error, /too many requests for this account \(5 in 60 s\); try again in \d+ s/);
  await feed.frame(() => feed.frames.filter(isAnswer).length >= 6);
  assert.equal(feed.frames.filter(({ type }) => type === 'quoted').length, 3);
  assert.equal((await quotes.get('/v1/me')).status, 429);
  assert.equal(feed.ws.readyState, feed.ws.OPEN);
  feed.close();
});

test('a budget that is out is said at most 200 times a second', async (t) => {
  const small = await feedMarket({ rateLimit: 1 });
  t.after(() => small.close());
  const feed = await small.maker(await small.trader());
  for (let sent = 0; sent < 5_000; sent += 1) feed.send('{');
  feed.ws.ping();
  await new Promise((resolve) => feed.ws.once('pong', resolve));
  await small.rfq(await small.trader());
  await feed.frame(({ type }) => type === 'rfq');
  const said = feed.frames.filter(({ error }) => /too many/.test(error ?? '')).length;
  assert.ok(said >= 1 && said <= 1_000, `${said} answers`);
  feed.close();
});
