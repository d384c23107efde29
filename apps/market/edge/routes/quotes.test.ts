// Many quotes of one request, and quotes that are taken back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { mostQuotesAtOnce } from '@parley/core/limits.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import { refused } from '../testing/edge.ts';
import { negotiating } from '../testing/negotiating.ts';

let asked = 0;
/** Takes amounts of 1 000 to 10^12. */
const evm = stubAdapter('evm-dev', 'evm', {
  checkAmount: async (_token, amount) => {
    asked += 1;
    if (amount < 1_000n) throw new ParleyError('amount_too_small', `${amount} is dust`);
    if (amount > 10n ** 12n) throw new ParleyError('bad_amount', `${amount} are too many`);
  },
});
const market = await negotiating({ adapters: [stubAdapter('bitcoin', 'bitcoin'), evm] });
const { taker, maker } = market;
const posted = (count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await market.rfq()).id as string));
const quoteAll = (quotes: object[], headers = {}, by = maker) =>
  by.post('/v1/quotes', { quotes }, headers);
const absent = '0193b5a0-0000-7000-8000-000000000000';
const shown = (outcomes: { status: number; code?: string }[]) =>
  outcomes.map(({ status, code }) => (code === undefined ? `${status}` : `${status} ${code}`));

test('each quote of a batch has its own outcome, in order, and nothing of a refused one is stored', async () => {
  const [one, gone, two] = (await posted(3)) as [string, string, string];
  await taker.post(`/v1/rfqs/${gone}/cancel`);
  await market.quote(maker, two, '2000');
  const own = (await maker.post('/v1/rfqs', market.wanted())).body.rfq.id;
  const quotes = [
    { rfqId: one.toUpperCase(), quoteAmount: '1000', validForSeconds: 30 },
    { rfqId: gone, quoteAmount: '1000' },
    { rfqId: two, quoteAmount: '3000' },
    { rfqId: absent, quoteAmount: '1000' },
    { rfqId: own, quoteAmount: '1000' },
    { rfqId: 'nonsense', quoteAmount: '1000' },
    { rfqId: one, quoteAmount: '4000' },
  ];
  for (const headers of [{}, { 'idempotency-key': 'batch' }]) {
    const { status, body } = await quoteAll(quotes, headers);
    assert.equal(status, 200, JSON.stringify(body));
    const first = 'idempotency-key' in headers ? '200' : '201';
    assert.deepEqual(shown(body.outcomes), [
      first,
      '409 rfq_gone',
      '200',
      '404 unknown_rfq',
      '403 own_rfq',
      '404 unknown_rfq',
      '400 bad_field',
    ]);
    const [stored, , , , , odd, twice] = body.outcomes;
    const thread = (await taker.get(`/v1/threads/${stored.threadId}`)).body;
    assert.deepEqual([thread.quoteAmount, stored.rfqId], ['1000', one.toUpperCase()]);
    assert.equal(thread.quoteExpiresAt, stored.quoteExpiresAt);
    assert.equal(odd.rfqId, 'nonsense');
    assert.match(twice.error, /quotes\.0 and quotes\.6 are on one RFQ/);
  }
  const again = await quoteAll(quotes, { 'idempotency-key': 'batch' });
  assert.equal(again.status, 200);
  refused(await quoteAll(quotes.slice(1), { 'idempotency-key': 'batch' }), '422 key_reused');
  const { threads } = (await taker.get(`/v1/rfqs/${one}/threads`)).body;
  assert.equal(threads.length, 1);
  // Once without the key and once with it; the replay ran nothing.
  assert.equal(threads[0].messages.length, 2);
  assert.equal((await market.events('quote.created', 'rfqId', one)).length, 2);
  assert.equal((await market.events('quote.created', 'rfqId', gone)).length, 0);
});

test('a price that is no amount is refused alone, as by the request for one quote', async () => {
  const ids = await posted(5);
  const amounts = ['2000', '0', '1e3', '9'.repeat(78), '3000'];
  const quotes = amounts.map((quoteAmount, at) => ({ rfqId: ids[at]!, quoteAmount }));
  const { body } = await quoteAll(quotes);
  assert.deepEqual(shown(body.outcomes), [
    '201',
    '400 bad_amount',
    '400 bad_amount',
    '400 bad_amount',
    '201',
  ]);
  for (const [at, { rfqId, quoteAmount }] of quotes.entries()) {
    if (shown(body.outcomes)[at] === '201') continue;
    const one = await maker.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount });
    refused(one, '400 bad_amount');
    assert.equal(body.outcomes[at].error, one.body.error);
  }
});

test('a batch has up to 50 quotes, and is one request of the budget', async () => {
  const ids = await posted(mostQuotesAtOnce);
  const quotes = ids.map((rfqId) => ({ rfqId, quoteAmount: '65000000' }));
  const left = async () => {
    const headers = { authorization: `Bearer ${maker.key}` };
    const reply = await market.app.inject({ url: '/v1/me', headers });
    return Number(reply.headers['ratelimit-remaining']);
  };
  const before = await left();
  asked = 0;
  const { body } = await quoteAll(quotes);
  assert.ok(body.outcomes.every(({ status }: { status: number }) => status === 201));
  assert.equal(before - (await left()), 2);
  // The market asks a chain about the least and the largest of one asset.
  assert.ok(asked <= 2, `${asked} questions`);
  refused(
    await quoteAll([...quotes, { rfqId: absent, quoteAmount: '1' }]),
    '400 bad_field',
    /quotes/,
  );
});

test('amounts that cannot settle are refused one by one, with few questions to the chain', async () => {
  const ids = await posted(12);
  const amounts = [5, 1_000, 7, 10 ** 12, 10 ** 13, 2_000];
  const quotes = amounts.map((amount, at) => ({ rfqId: ids[at], quoteAmount: String(amount) }));
  const { body } = await quoteAll(quotes);
  assert.deepEqual(shown(body.outcomes), [
    '400 amount_too_small',
    '201',
    '400 amount_too_small',
    '201',
    '400 bad_amount',
    '201',
  ]);
  assert.match(body.outcomes[2].error, /^7 is dust/);
  asked = 0;
  const dust = ids.map((rfqId, at) => ({ rfqId, quoteAmount: String(at + 1) }));
  const many = (await quoteAll(dust)).body.outcomes;
  assert.equal(asked, 8);
  assert.deepEqual(new Set(shown(many.slice(0, 8))), new Set(['400 amount_too_small']));
  assert.match(many[8].error, /8 others of the same asset in this request were refused/);
  const large = ids.map((rfqId, at) => ({
    rfqId,
    quoteAmount: String(at === 0 ? 1_000 : 10 ** 13 + at),
  }));
  const [least, ...rest] = shown((await quoteAll(large)).body.outcomes);
  assert.deepEqual([least, new Set(rest)], ['201', new Set(['400 bad_amount'])]);
});

test('an account has ten quotes for each request of its budget, and what is over is not stored', async () => {
  const small = await negotiating({ settings: { rateLimit: 7 } });
  const { id: rfqId } = await small.rfq();
  const others = Array.from({ length: 49 }, () => ({ rfqId: absent, quoteAmount: '1' }));
  const headers = { 'idempotency-key': 'over' };
  const send = (quotes: object[], more = {}) => small.maker.post('/v1/quotes', { quotes }, more);
  assert.equal((await send([{ rfqId: absent, quoteAmount: '1' }, ...others])).status, 200);
  const quotes = [{ rfqId, quoteAmount: '65000000' }, ...others.slice(0, 20)];
  refused(await send(quotes, headers), '429 quote_rate_limited', /20 are left and 21 were sent/);
  small.deps.advance(60_000);
  assert.equal((await send(quotes, headers)).body.outcomes[0].status, 201);
});
