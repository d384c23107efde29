// Quotes down the socket: the same effect, budget and idempotency as over REST.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Frame } from '../testing/feed-client.ts';
import { feedMarket } from '../testing/feed-market.ts';

const market = await feedMarket();
const taker = await market.trader();
const maker = await market.trader();
const client = await market.maker(maker, { resume: null, since: null, cancelOnDisconnect: null });
after(async () => {
  client.close();
  await market.close();
});

const isAnswer = ({ type }: Frame) => ['quoted', 'outcomes', 'levels', 'error'].includes(type);

/** Sends frames, and the answers that come until each has one. */
async function answers(...sent: unknown[]): Promise<Frame[]> {
  const from = client.frames.length;
  for (const each of sent) client.send(each);
  await client.frame(() => client.frames.slice(from).filter(isAnswer).length >= sent.length);
  return client.frames.slice(from).filter(isAnswer);
}

const quote = (rfqId: string, quoteAmount: unknown, more: object = {}) => ({
  quote: { rfqId, quoteAmount, ...more },
});

test('a quote opens a thread that REST shows; of many on one RFQ the last stands', async () => {
  const { id } = await market.rfq(taker);
  const [first] = await answers(
    quote(id, '65000000', { validForSeconds: null, idempotencyKey: null }),
  );
  assert.deepEqual(first, { type: 'quoted', rfqId: id, threadId: first.threadId });
  const prices = Array.from({ length: 40 }, (_, index) => String(64_000_000 - index));
  for (const each of await answers(...prices.map((price) => quote(id.toUpperCase(), price)))) {
    assert.deepEqual(each, first);
  }
  const { body } = await taker.get(`/v1/threads/${first.threadId}`);
  assert.deepEqual([body.quoteAmount, body.makerId], [prices.at(-1), maker.accountId]);
  const history = body.messages.map(({ quoteAmount }: Frame) => quoteAmount);
  assert.deepEqual(history, ['65000000', ...prices]);
});

test('many quotes of one frame have an outcome each, in turn with those sent before', async () => {
  const ids = [await market.rfq(taker), await market.rfq(taker)].map(({ id }) => id);
  const [one, two] = ids as [string, string];
  const priced = (quoteAmount: string) =>
    ids.map((rfqId) => ({ rfqId, quoteAmount, validForSeconds: 60, unlessAccepted: null }));
  const key = { idempotencyKey: 'many' };
  const said = await answers(
    quote(two, '61000000'),
    { quotes: priced('62000000'), ...key },
    quote(one, '63000000'),
    { quotes: priced('62000000'), ...key },
    { quotes: [...priced('62000000'), { rfqId: one }] },
  );
  const bad = said.find(({ type }) => type === 'error');
  const [outcomes, again] = said.filter(({ type }) => type === 'outcomes');
  assert.equal(outcomes!.idempotencyKey, 'many');
  const shown = outcomes!.outcomes.map(({ status, rfqId }: Frame) => [status, rfqId]);
  assert.deepEqual(shown, [
    [201, one],
    [200, two],
  ]);
  assert.deepEqual(again, outcomes);
  assert.match(bad!.error, /"quotes.2.quoteAmount" is missing/);
  const prices = await Promise.all(
    outcomes!.outcomes.map(async ({ threadId }: Frame) => {
      const { body } = await taker.get(`/v1/threads/${threadId}`);
      return body.quoteAmount;
    }),
  );
  assert.deepEqual(prices, ['63000000', '62000000']);
});

test('levels of a frame are published as by REST, in turn with those sent before on their pair', async () => {
  const { btc, usd } = market.assets;
  const pair = { baseAssetId: btc.id, quoteAssetId: usd.id };
  const turned = [usd.id, btc.id] as const;
  const key = { idempotencyKey: 'levels' } as const;
  const level = { direction: 'sell_base', baseAmount: '100000', validForSeconds: 600 };
  const priced = (...prices: string[]) => prices.map((quoteAmount) => ({ ...level, quoteAmount }));
  const said = await answers(
    { levels: { ...pair, levels: priced('64000000') } },
    { levels: { baseAssetId: turned[0], quoteAssetId: turned[1], levels: [] } },
    { levels: { ...pair, levels: priced('65000000', '63000000'), ...key } },
    { levels: { ...pair, levels: priced('1', '2'), and: 1 } },
    { levels: null },
  );
  const told = said.find(({ idempotencyKey }) => idempotencyKey === 'levels');
  const { endsAt } = told!;
  assert.deepEqual(told, { type: 'levels', ...pair, published: 2, endsAt, ...key });
  const errors = said.filter(({ type }) => type === 'error').map(({ error }) => error);
  assert.match(errors.join('\n'), /"levels.and" is not known[\s\S]*levels/);
  const query = `direction=sell_base&baseAssetId=${btc.id}&quoteAssetId=${usd.id}`;
  const shown = async () =>
    (await taker.get(`/v1/levels?${query}`)).body.levels.map((each: Frame) => each.quoteAmount);
  assert.deepEqual(await shown(), ['65000000', '63000000']);
  assert.equal((await maker.post('/v1/levels/withdraw')).body.withdrawn, 2);
  // A retry is answered as the first was, and publishes nothing.
  const [again] = await answers({
    levels: { ...pair, levels: priced('65000000', '63000000'), ...key },
  });
  assert.deepEqual([again, await shown()], [told, []]);
});

test('bad frames are refused in words, and the socket stays open', async () => {
  const { id } = await market.rfq(taker);
  const { id: gone } = await market.rfq(taker);
  await taker.post(`/v1/rfqs/${gone}/cancel`);
  const cases: [unknown, RegExp][] = [
    ['{"quote":', /not valid JSON/],
    ['', /"quote" is missing/],
    [quote(id, '0'), /quoteAmount/],
    [quote(id, '1', { idempotencyKey: 'a\u0000b' }), /U\+0000/],
    [{ other: 1 }, /^the frame must be \{"quote".*\{"quotes".*\{"levels".*\{"cancelOnDisconnect"/],
    [quote(gone, '65000000'), /cancelled/],
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

test('an idempotencyKey is one space with the header of REST: replayed, refusals too, 422', async () => {
  const { id } = await market.rfq(taker);
  const { id: gone } = await market.rfq(taker);
  await taker.post(`/v1/rfqs/${gone}/cancel`);
  const under = (idempotencyKey: string, price: string, rfqId = id) =>
    answers(quote(rfqId, price, { idempotencyKey }));
  const [first] = await under('one', '65000000');
  await answers(quote(id, '64000000'));
  assert.deepEqual(await under('one', '65000000'), [first]);
  const [other] = await under('one', '63000000');
  assert.match(other.error, /used with another body/);
  const rest = (key: string, quoteAmount: string) =>
    maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount }, { 'idempotency-key': key });
  const { status, body } = await rest('one', '65000000');
  assert.deepEqual([status, body.thread.quoteAmount], [201, '65000000']);
  await rest('two', '62000000');
  assert.deepEqual(await under('two', '62000000'), [first]);
  const { body: now } = await maker.get(`/v1/threads/${first.threadId}`);
  assert.equal(now.messages.length, 3);
  const [refused] = await under('refused', '65000000', gone);
  assert.equal(refused.type, 'error');
  assert.deepEqual(await under('refused', '65000000', gone), [refused]);
});

test('quotes and malformed frames spend the budget of the key, and REST the same', async (t) => {
  // The first frame spends one of them.
  const small = await feedMarket({ rateLimit: 6 });
  t.after(() => small.close());
  const asks = await small.trader();
  const quotes = await small.trader();
  const { id } = await small.rfq(asks);
  const feed = await small.maker(quotes);
  feed.send(quote(id, '65000000'));
  feed.send('{');
  await feed.frame(() => feed.frames.filter(isAnswer).length >= 2);
  const rest = await quotes.get('/v1/me');
  assert.equal(rest.status, 200);
  for (let more = 0; more < 4; more += 1) feed.send(quote(id, '64000000'));
  const over = await feed.frame(({ error }) => /too many requests/.test(error ?? ''));
  assert.match(over.error, /too many requests for this account \(6 in 60 s\); try again in \d+ s/);
  await feed.frame(() => feed.frames.filter(isAnswer).length >= 6);
  assert.equal(feed.frames.filter(({ type }) => type === 'quoted').length, 3);
  assert.equal((await quotes.get('/v1/me')).status, 429);
  assert.equal(feed.ws.readyState, feed.ws.OPEN);
  feed.close();
});
