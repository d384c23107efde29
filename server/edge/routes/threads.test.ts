// Quotes and negotiation over HTTP: every rule with both sides, every refusal.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { stubAdapter } from '../../../test/support/adapter.ts';
import {
  type Answer,
  someAddress,
  type TestMarket,
  type Trader,
  testMarket,
} from '../../../test/support/trading.ts';
import { mostMessages, mostThreads } from '../../market/bounds.ts';

let market: TestMarket;
let taker: Trader;
let maker: Trader;
let stranger: Trader;

before(async () => {
  market = await testMarket();
  taker = await market.trader();
  maker = await market.trader();
  stranger = await market.trader();
});
after(() => market.close());

const price = '65000000';
const hashlock = () => randomBytes(32).toString('hex');

function refused(answer: Answer, status: number, code: string, sentence?: RegExp) {
  assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(answer.body));
  assert.deepEqual(Object.keys(answer.body), ['error']);
  if (sentence !== undefined) assert.match(answer.body.error, sentence);
}

async function posted(fields: Record<string, unknown> = {}): Promise<string> {
  const { btc, usd } = market.assets;
  const answer = await taker.post('/v1/rfqs', {
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    ttlSeconds: 3_600,
    ...fields,
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.rfq.id;
}

const quote = (by: Trader, rfqId: string, quoteAmount: unknown = price, headers = {}) =>
  by.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount }, headers);
const propose = (by: Trader, threadId: string, quoteAmount: unknown) =>
  by.post(`/v1/threads/${threadId}/propose`, { quoteAmount });
const accept = (by: Trader, threadId: string, quoteAmount: unknown = price, lock?: unknown) =>
  by.post(`/v1/threads/${threadId}/accept`, {
    quoteAmount,
    ...(lock === undefined ? {} : { hashlock: lock }),
  });

/** An RFQ with this maker's quote; the taker is the initiator. */
async function negotiation(by = maker, fields = {}): Promise<{ rfqId: string; threadId: string }> {
  const rfqId = await posted(fields);
  const answer = await quote(by, rfqId);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return { rfqId, threadId: answer.body.thread.id };
}

async function events(topic: string, field: string, id: string) {
  const rows = await market.db.rows<{ account_id: string; payload: Record<string, string> }>({
    name: 'test_events',
    text: `select account_id, payload from outbox
      where topic = $1 and payload->>$2 = $3 order by id`,
    values: [topic, field, id],
  });
  return rows.map((each) => ({ to: each.account_id, ...each.payload }));
}

test('a first quote is 201, the next of the same maker 200 on the same thread', async () => {
  const rfqId = await posted();
  const first = await quote(maker, rfqId);
  const { thread } = first.body;
  assert.equal(first.status, 201);
  assert.deepEqual(
    [thread.rfqId, thread.makerId, thread.takerId, thread.status, thread.quoteAmount],
    [rfqId, maker.accountId, taker.accountId, 'open', price],
  );
  assert.deepEqual(
    [thread.proposedBy, thread.makerAccepted, thread.takerAccepted, thread.swapId],
    ['maker', false, false, null],
  );
  assert.deepEqual([thread.initiator, thread.acceptanceExpiresAt], ['taker', null]);
  const { a, b } = thread.legs;
  assert.deepEqual([a.chain, a.amount, a.long], ['evm-dev', price, false]);
  assert.deepEqual([b.chain, b.amount, b.long], ['bitcoin', '100000', true]);
  assert.ok(b.timelockSeconds > a.timelockSeconds);
  assert.equal(thread.rfq.status, 'negotiating');
  const second = await quote(maker, rfqId, '66000000');
  assert.deepEqual([second.status, second.body.thread.id], [200, thread.id]);
  assert.equal(second.body.thread.quoteAmount, '66000000');
  const prices = second.body.thread.messages.map((each: { by: string; quoteAmount: string }) => [
    each.by,
    each.quoteAmount,
  ]);
  assert.deepEqual(prices, [
    ['maker', price],
    ['maker', '66000000'],
  ]);
  assert.deepEqual((await taker.get(`/v1/threads/${thread.id}`)).body, second.body.thread);
  const told = { to: taker.accountId, rfqId, threadId: thread.id };
  assert.deepEqual(await events('quote.created', 'threadId', thread.id), [
    { ...told, quoteAmount: price },
    { ...told, quoteAmount: '66000000' },
  ]);
});

test('buying, the maker gives the base: it holds the long leg and the secret', async () => {
  const { threadId } = await negotiation(maker, { direction: 'buy_base' });
  const { body } = await maker.get(`/v1/threads/${threadId}`);
  assert.deepEqual(
    [body.initiator, body.legs.a.long, body.legs.a.chain],
    ['maker', true, 'bitcoin'],
  );
  refused(await accept(taker, threadId, price, hashlock()), 400, 'hashlock_unexpected');
  refused(await accept(maker, threadId), 400, 'hashlock_missing');
  assert.equal((await accept(taker, threadId)).status, 200);
  const done = await accept(maker, threadId, price, `0x${hashlock().toUpperCase()}`);
  assert.deepEqual([done.status, done.body.swap.role], [200, 'initiator']);
});

test('malformed prices are 400 at quoting, proposing and accepting', async () => {
  const { rfqId, threadId } = await negotiation();
  const huge = (2n ** 256n).toString();
  for (const bad of [65_000_000, '0', '-1', '1.5', '1e6', '007', '', null, undefined, huge, {}]) {
    const code = typeof bad === 'string' ? 'bad_amount' : 'bad_field';
    refused(await quote(maker, rfqId, bad ?? null), 400, code, /quoteAmount/);
    refused(await propose(maker, threadId, bad ?? null), 400, code, /quoteAmount/);
    refused(await accept(maker, threadId, bad ?? null), 400, code, /quoteAmount/);
  }
  for (const bad of [7, 'ab', `${hashlock()}00`, `${hashlock().slice(1)}g`, null]) {
    const code = typeof bad === 'string' ? 'bad_hex' : 'bad_field';
    refused(await accept(taker, threadId, price, bad), 400, code, /hashlock/);
  }
  const paths = ['quotes', 'propose', 'accept'];
  for (const path of paths) {
    const at = path === 'quotes' ? `/v1/rfqs/${rfqId}` : `/v1/threads/${threadId}`;
    refused(
      await maker.post(`${at}/${path}`, { quoteAmount: price, surprise: 1 }),
      400,
      'bad_field',
      /surprise/,
    );
    refused(await maker.post(`${at}/${path}`, {}), 400, 'bad_field', /quoteAmount/);
  }
});

test('quoting is refused for the RFQ of oneself, without the scope, and without a wallet', async () => {
  const rfqId = await posted();
  refused(await quote(taker, rfqId), 403, 'own_rfq');
  const evm = { family: 'evm' as const, address: someAddress('evm') };
  const bitcoin = { family: 'bitcoin' as const, address: someAddress('bitcoin') };
  refused(
    await quote(await market.trader({ scopes: ['read', 'taker'] }), rfqId),
    403,
    'scope_missing',
  );
  refused(await quote(await market.trader({ wallets: [bitcoin] }), rfqId), 403, 'no_wallet', /evm/);
  assert.equal((await quote(await market.trader({ wallets: [evm] }), rfqId)).status, 201);
});

test('only who holds the address of an addressed RFQ may quote; a link is open to all', async () => {
  const address = someAddress('evm');
  const holder = await market.trader({
    wallets: [{ family: 'evm', address: address.toUpperCase().replace('X', 'x') }],
  });
  const addressed = await posted({ visibility: 'private', targetAddress: address });
  refused(await quote(maker, addressed), 403, 'not_addressed');
  assert.equal((await quote(holder, addressed)).status, 201);
  const link = await posted({ visibility: 'private' });
  assert.equal((await quote(maker, link)).status, 201);
});

test('a gone RFQ takes no quote, and a dust price is refused', async () => {
  const { rfqId } = await negotiation();
  refused(await quote(maker, rfqId, '545'), 400, 'amount_too_small');
  await taker.post(`/v1/rfqs/${rfqId}/cancel`);
  refused(await quote(maker, rfqId), 409, 'rfq_gone', /cancelled/);
  refused(await quote(stranger, rfqId), 409, 'rfq_gone');
});

test('of a closed asset that is said, whatever the price', async () => {
  const { rfqId, threadId } = await negotiation();
  const { id } = market.assets.btc;
  const set = (closings: string) =>
    market.db.rows({
      name: '',
      text: `update assets set closings = '${closings}' where id = '${id}'`,
      values: [],
    });
  await set('{"operator": {"reasons": ["x"], "at": ""}}');
  try {
    refused(await quote(maker, rfqId, '545'), 409, 'asset_closed');
    refused(await propose(taker, threadId, '545'), 409, 'asset_closed');
  } finally {
    await set('{}');
  }
  refused(await quote(maker, rfqId, '545'), 400, 'amount_too_small');
});

test('a node that hangs is 504 at quoting and proposing, with nothing moved', async () => {
  let hangs = false;
  const hanging = stubAdapter('evm-dev', 'evm', {
    checkAmount: () => (hangs ? new Promise(() => {}) : Promise.resolve()),
  });
  const slow = await testMarket({
    settings: { chainTimeoutMs: 150 },
    adapters: [hanging, stubAdapter('bitcoin', 'bitcoin')],
  });
  try {
    const [buyer, seller] = [await slow.trader(), await slow.trader()];
    const { body } = await buyer.post('/v1/rfqs', {
      direction: 'sell_base',
      baseAssetId: slow.assets.btc.id,
      baseAmount: '100000',
      quoteAssetId: slow.assets.usd.id,
      ttlSeconds: 600,
    });
    const { thread } = (await quote(seller, body.rfq.id)).body;
    hangs = true;
    refused(await quote(seller, body.rfq.id, '1000'), 504, 'chain_timeout');
    refused(await propose(buyer, thread.id, '1000'), 504, 'chain_timeout');
    assert.deepEqual((await seller.get(`/v1/threads/${thread.id}`)).body, thread);
  } finally {
    await slow.close();
  }
});

test('a thread is readable by its parties; to a stranger it does not exist', async () => {
  const { threadId } = await negotiation();
  assert.equal((await taker.get(`/v1/threads/${threadId}`)).status, 200);
  assert.equal((await maker.get(`/v1/threads/${threadId}`)).status, 200);
  const absent = '01a1fb07-751f-7744-b69c-bc76bd408690';
  for (const [by, id] of [
    [stranger, threadId],
    [taker, absent],
    [taker, 'abc'],
  ] as const) {
    refused(await by.get(`/v1/threads/${id}`), 404, 'unknown_thread');
    refused(await propose(by, id, price), 404, 'unknown_thread');
    refused(await accept(by, id), 404, 'unknown_thread');
  }
});

test('the creator lists every thread, a maker its own, a stranger none; newest activity first', async () => {
  const { rfqId, threadId } = await negotiation();
  const second = await quote(stranger, rfqId);
  const ids = async (by: Trader, query = '') => {
    const { body } = await by.get(`/v1/rfqs/${rfqId}/threads${query}`);
    return body.threads.map((each: { id: string }) => each.id);
  };
  const other = second.body.thread.id;
  assert.deepEqual(await ids(taker), [other, threadId]);
  assert.deepEqual(await ids(maker), [threadId]);
  assert.deepEqual(await ids(await market.trader()), []);
  await new Promise((resolve) => setTimeout(resolve, 2));
  await quote(maker, rfqId, '66000000');
  assert.deepEqual(await ids(taker), [threadId, other]);
  const page = await taker.get(`/v1/rfqs/${rfqId}/threads?limit=1`);
  const { nextCursor } = page.body;
  assert.deepEqual(await ids(taker, `?limit=1&cursor=${nextCursor}`), [other]);
  const foreign = await maker.get(`/v1/rfqs/${rfqId}/threads?cursor=${nextCursor}`);
  refused(foreign, 400, 'bad_cursor');
  refused(await taker.get(`/v1/rfqs/${rfqId}/threads?limit=0`), 400, 'bad_field');
});

test('both accept the current price: a swap, an agreed RFQ, closed threads, an event each', async () => {
  const { rfqId, threadId } = await negotiation();
  const loser = (await quote(stranger, rfqId)).body.thread.id;
  const lock = hashlock();
  const half = await accept(maker, threadId);
  assert.deepEqual([half.status, half.body.swap], [200, undefined]);
  assert.deepEqual([half.body.thread.makerAccepted, half.body.thread.takerAccepted], [true, false]);
  const { status, body } = await accept(taker, threadId, price, `0x${lock}`);
  assert.equal(status, 200);
  assert.deepEqual([body.thread.status, body.thread.swapId], ['agreed', body.swap.id]);
  assert.deepEqual([body.thread.makerAccepted, body.thread.takerAccepted], [true, true]);
  assert.deepEqual([body.swap.hashlock, body.swap.status], [lock, 'agreed']);
  assert.deepEqual([body.swap.role, body.thread.rfq.status], ['initiator', 'agreed']);
  assert.equal((await taker.get(`/v1/rfqs/${rfqId}`)).body.status, 'agreed');
  assert.equal((await stranger.get(`/v1/threads/${loser}`)).body.status, 'closed');
  const told = { swapId: body.swap.id, threadId };
  assert.deepEqual(await events('swap.agreed', 'threadId', threadId), [
    { to: maker.accountId, ...told },
    { to: taker.accountId, ...told },
  ]);
  const book = (await maker.get('/v1/rfqs?limit=100')).body.rfqs;
  assert.ok(!book.some((each: { id: string }) => each.id === rfqId));
  // Again with the same words: the same 200.
  const again = await accept(taker, threadId, price, lock);
  assert.deepEqual([again.status, again.body.swap.id], [200, body.swap.id]);
  const other = await accept(maker, threadId);
  assert.deepEqual([other.status, other.body.swap.role], [200, 'counterparty']);
  refused(await accept(taker, threadId, price, hashlock()), 409, 'hashlock_differs');
  refused(await accept(taker, threadId, '1000', lock), 409, 'terms_moved');
  refused(await propose(taker, threadId, '1000'), 409, 'thread_closed');
  refused(await quote(maker, rfqId), 409, 'rfq_gone', /agreed/);
  refused(await accept(stranger, loser), 409, 'rfq_gone', /agreed/);
  refused(await taker.post(`/v1/rfqs/${rfqId}/cancel`), 409, 'rfq_gone', /agreed/);
});

test('accepting a price that is not current is 409, and the sentence names the current one', async () => {
  const { threadId } = await negotiation();
  await propose(taker, threadId, '60000000');
  refused(await accept(maker, threadId, price), 409, 'terms_moved', /60000000/);
  assert.equal((await accept(maker, threadId, '60000000')).status, 200);
});

test('a proposal becomes the current price and ends the other side’s acceptance', async () => {
  const { threadId } = await negotiation();
  const lock = hashlock();
  await accept(taker, threadId, price, lock);
  const moved = await propose(maker, threadId, '64000000');
  const { thread } = moved.body;
  assert.deepEqual([thread.quoteAmount, thread.proposedBy], ['64000000', 'maker']);
  assert.deepEqual([thread.takerAccepted, thread.acceptanceExpiresAt], [false, null]);
  assert.deepEqual((await events('quote.created', 'threadId', threadId)).length, 2);
  // Nobody is bound: the taker may move it too, and offer its hashlock again here.
  assert.equal((await propose(taker, threadId, '64500000')).status, 200);
  assert.equal((await accept(taker, threadId, '64500000', lock)).status, 200);
});

test('while its acceptance stands a side can neither propose, re-quote nor cancel', async () => {
  const { rfqId, threadId } = await negotiation();
  await accept(maker, threadId);
  refused(await propose(maker, threadId, '66000000'), 409, 'committed');
  refused(await quote(maker, rfqId, '66000000'), 409, 'committed');
  const other = await negotiation();
  await accept(taker, other.threadId, price, hashlock());
  refused(await propose(taker, other.threadId, '60000000'), 409, 'committed');
  refused(await taker.post(`/v1/rfqs/${other.rfqId}/cancel`), 409, 'committed');
  // The maker's acceptance does not bind the taker.
  assert.equal((await taker.post(`/v1/rfqs/${rfqId}/cancel`)).status, 200);
});

test('an acceptance stands for ten minutes to the millisecond, and saying it again adds nothing', async () => {
  market.deps.freeze();
  const { rfqId, threadId } = await negotiation();
  const lock = hashlock();
  const first = await accept(taker, threadId, price, lock);
  const until = first.body.thread.acceptanceExpiresAt;
  assert.equal(Date.parse(until), market.deps.now() + 600_000);
  market.deps.advance(599_999);
  const again = await accept(taker, threadId, price, lock);
  assert.equal(again.body.thread.acceptanceExpiresAt, until);
  refused(await accept(taker, threadId, price, hashlock()), 409, 'hashlock_differs');
  refused(await propose(taker, threadId, '60000000'), 409, 'committed');
  market.deps.advance(1);
  const { body } = await taker.get(`/v1/threads/${threadId}`);
  assert.deepEqual([body.takerAccepted, body.acceptanceExpiresAt], [false, null]);
  // The maker alone does not make a swap of a lapsed acceptance.
  const alone = await accept(maker, threadId);
  assert.deepEqual([alone.status, alone.body.swap], [200, undefined]);
  assert.equal((await accept(taker, threadId, price, lock)).body.thread.status, 'agreed');
  assert.equal((await taker.get(`/v1/rfqs/${rfqId}`)).body.status, 'agreed');
});

test('a hashlock serves one thread of one account for ever', async () => {
  const lock = hashlock();
  const one = await negotiation();
  const two = await negotiation();
  await accept(taker, one.threadId, price, lock);
  refused(await accept(taker, two.threadId, price, lock), 409, 'hashlock_used');
  refused(
    await accept(taker, two.threadId, price, `0x${lock.toUpperCase()}`),
    409,
    'hashlock_used',
  );
  await propose(maker, one.threadId, '64000000');
  refused(await accept(taker, two.threadId, price, lock), 409, 'hashlock_used');
  const mine = await negotiation(maker, { direction: 'buy_base' });
  refused(await accept(maker, mine.threadId, price, lock), 409, 'hashlock_used');
  await accept(taker, one.threadId, '64000000', lock);
  await accept(maker, one.threadId, '64000000');
  refused(await accept(taker, two.threadId, price, lock), 409, 'hashlock_used');
  assert.equal((await accept(taker, two.threadId, price, hashlock())).status, 200);
});

test('an expired RFQ closes its threads and ends every commitment', async () => {
  market.deps.freeze();
  const { rfqId, threadId } = await negotiation(maker, { ttlSeconds: 30 });
  await accept(taker, threadId, price, hashlock());
  market.deps.advance(30_000);
  const { body } = await maker.get(`/v1/threads/${threadId}`);
  assert.deepEqual(
    [body.status, body.takerAccepted, body.rfq.status],
    ['closed', false, 'expired'],
  );
  refused(await accept(maker, threadId), 409, 'rfq_gone', /expired/);
  refused(await propose(maker, threadId, price), 409, 'rfq_gone');
  refused(await quote(maker, rfqId), 409, 'rfq_gone');
});

test('a closed asset refuses proposals and acceptances until it is open again', async () => {
  const { threadId } = await negotiation();
  const enable = (enabled: boolean) =>
    market.db.rows({
      name: 'test_enable',
      text: 'update assets set closings = $2 where id = $1',
      values: [market.assets.usd.id, enabled ? {} : { operator: { reasons: [], at: '' } }],
    });
  await enable(false);
  refused(await propose(taker, threadId, '60000000'), 409, 'asset_closed');
  refused(await accept(maker, threadId), 409, 'asset_closed');
  await enable(true);
  assert.equal((await accept(maker, threadId)).status, 200);
});

test('a thread remembers its latest prices, oldest forgotten first', async () => {
  const { rfqId, threadId } = await negotiation();
  for (let i = 1; i < mostMessages; i += 1) await quote(maker, rfqId, String(1_000_000 + i));
  const full = (await taker.get(`/v1/threads/${threadId}`)).body.messages;
  assert.deepEqual([full.length, full[0].quoteAmount], [mostMessages, price]);
  await quote(maker, rfqId, '2000000');
  const moved = (await taker.get(`/v1/threads/${threadId}`)).body.messages;
  assert.deepEqual([moved.length, moved[0].quoteAmount], [mostMessages, '1000001']);
  await propose(taker, threadId, '3000000');
  const { messages } = (await taker.get(`/v1/threads/${threadId}`)).body;
  assert.deepEqual([messages.length, messages[0].quoteAmount], [mostMessages, '1000002']);
  assert.deepEqual(
    messages
      .slice(-2)
      .map((each: { by: string; quoteAmount: string }) => [each.by, each.quoteAmount]),
    [
      ['maker', '2000000'],
      ['taker', '3000000'],
    ],
  );
});

test('an RFQ takes its most makers and no more; those who quoted still may', async () => {
  const { rfqId } = await negotiation();
  await market.db.rows({
    name: 'test_crowd',
    text: `with crowd as (
        insert into accounts (id, kind, created_at)
        select gen_random_uuid(), 'wallet', now() from generate_series(1, $2) returning id)
      insert into threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
        messages, created_at, updated_at)
      select gen_random_uuid(), $1, id, $3, 'open', 1000, 'maker', '[]', now(), now() from crowd`,
    values: [rfqId, mostThreads - 2, taker.accountId],
  });
  const newcomers = [await market.trader(), await market.trader(), await market.trader()];
  const answers = await Promise.all(newcomers.map((each) => quote(each, rfqId)));
  assert.deepEqual(answers.map((each) => each.status).sort(), [201, 409, 409]);
  refused(answers.find((each) => each.status === 409)!, 409, 'too_many_open', /2000/);
  assert.equal((await quote(maker, rfqId, '66000000')).status, 200);
});

test('quotes that arrive at once are each answered for themselves, in one thread a maker', async () => {
  const rfqIds = [await posted(), await posted(), await posted()];
  const makers = [maker, stranger, await market.trader()];
  const cancelled = rfqIds[2]!;
  await taker.post(`/v1/rfqs/${cancelled}/cancel`);
  const asked = rfqIds.flatMap((rfqId) =>
    makers.flatMap((by) => ['1000', '2000'].map((amount) => ({ rfqId, by, amount }))),
  );
  const answers = await Promise.all(
    asked.map(({ rfqId, by, amount }, index) => {
      const headers = index % 3 === 0 ? { 'idempotency-key': `k${index}` } : {};
      return quote(by, rfqId, amount, headers);
    }),
  );
  for (const [index, { rfqId, by, amount }] of asked.entries()) {
    const { status, body } = answers[index]!;
    if (rfqId === cancelled) assert.equal(status, 409);
    else {
      assert.ok(status === 201 || status === 200, JSON.stringify(body));
      assert.deepEqual([body.thread.makerId, body.thread.quoteAmount], [by.accountId, amount]);
    }
  }
  for (const rfqId of rfqIds.slice(0, 2)) {
    const { threads } = (await taker.get(`/v1/rfqs/${rfqId}/threads`)).body;
    assert.equal(threads.length, 3);
    for (const each of threads) assert.equal(each.messages.length, 2);
    assert.equal((await events('quote.created', 'rfqId', rfqId)).length, 6);
  }
});

test('a quote with an Idempotency-Key happens once and is answered the same again', async () => {
  const rfqId = await posted();
  const headers = { 'idempotency-key': 'once' };
  const first = await quote(maker, rfqId, price, headers);
  const again = await quote(maker, rfqId, price, headers);
  assert.deepEqual([again.status, again.body], [201, first.body]);
  assert.equal((await events('quote.created', 'rfqId', rfqId)).length, 1);
  refused(await quote(maker, rfqId, '1000', headers), 422, 'key_reused');
});
