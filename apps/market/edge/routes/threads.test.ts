// Quotes and negotiation over HTTP. Shapes of bodies are in every-operation.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someAddress, type Trader } from '@parley/verify/test/support/trading.ts';
import { refused } from '../testing/edge.ts';
import { negotiating, price, secretLock } from '../testing/negotiating.ts';

const market = await negotiating();
const { taker, maker, rfq, quote, propose, accept, negotiation, events } = market;
const stranger = await market.trader();
const cancel = (rfqId: string) => taker.post(`/v1/rfqs/${rfqId}/cancel`);
const read = async (by: Trader, threadId: string) => (await by.get(`/v1/threads/${threadId}`)).body;
const pricesOf = async (threadId: string): Promise<string[]> =>
  (await read(taker, threadId)).messages.map(
    ({ by, quoteAmount }: Record<string, string>) => `${by} ${quoteAmount}`,
  );

test('a first quote is 201, the next of the same maker 200 on the same thread', async () => {
  const { id: rfqId } = await rfq();
  const first = await quote(maker, rfqId);
  const { thread } = first.body;
  assert.equal(first.status, 201);
  const { id: threadId, legs, messages, rules, createdAt, updatedAt, rfq: shown, ...more } = thread;
  const { makerStanding, ...rest } = more;
  assert.equal(makerStanding.settled, 0);
  const { a, b } = legs;
  assert.deepEqual([a.chain, a.amount, a.long], ['evm-dev', price, false]);
  assert.deepEqual([b.chain, b.amount, b.long], ['bitcoin', '100000', true]);
  assert.ok(b.timelockSeconds > a.timelockSeconds);
  assert.deepEqual(rest, {
    rfqId,
    makerId: maker.accountId,
    takerId: taker.accountId,
    status: 'open',
    quoteAmount: price,
    proposedBy: 'maker',
    makerAccepted: false,
    takerAccepted: false,
    currentQuoteAmount: price,
    pendingAmount: price,
    pendingBy: 'maker',
    swapId: null,
    initiator: 'taker',
    acceptanceExpiresAt: null,
    quoteExpiresAt: null,
    withdrawnAt: null,
  });
  assert.equal(shown.status, 'negotiating');
  const second = await quote(maker, rfqId, '66000000');
  assert.deepEqual([second.status, second.body.thread.id], [200, threadId]);
  assert.deepEqual(await pricesOf(threadId), [`maker ${price}`, 'maker 66000000']);
  assert.deepEqual(await read(taker, threadId), second.body.thread);
  // A maker's price is a quote, however it was sent; the taker's own is none.
  await propose(maker, threadId, '67000000');
  await propose(taker, threadId, '60000000');
  const event = { to: taker.accountId, rfqId, threadId };
  assert.deepEqual(await events('quote.created', 'threadId', threadId), [
    { ...event, quoteAmount: price },
    { ...event, quoteAmount: '66000000' },
    { ...event, quoteAmount: '67000000' },
  ]);
});

test('a maker may quote: not oneself, with a wallet there, and addressed where it is', async () => {
  const { id } = await rfq();
  refused(await quote(taker, id), '403 own_rfq');
  const wallet = (family: 'bitcoin' | 'evm') => ({ family, address: someAddress(family) });
  const evm = wallet('evm');
  const bitcoin = wallet('bitcoin');
  const onEvm = await market.trader({ wallets: [evm] });
  const onBitcoin = await market.trader({ wallets: [bitcoin] });
  refused(await quote(onBitcoin, id), '403 no_wallet', /giving USD needs a wallet on .*evm/);
  assert.equal((await quote(onEvm, id)).status, 201);
  const { id: buying } = await rfq({ direction: 'buy_base' });
  refused(await quote(onEvm, buying), '403 no_wallet', /giving BTC needs a wallet on .*bitcoin/);
  assert.equal((await quote(onBitcoin, buying)).status, 201);
  const { id: addressed } = await rfq({ visibility: 'private', targetAddress: evm.address });
  refused(await quote(maker, addressed), '403 not_addressed');
  assert.equal((await quote(onEvm, addressed)).status, 201);
  const { id: link } = await rfq({ visibility: 'private' });
  assert.equal((await quote(maker, link)).status, 201);
});

test('a gone RFQ takes no quote, a dust price is refused, and a closed asset before both', async () => {
  const { rfqId, threadId } = await negotiation();
  const close = (asset: 'btc' | 'usd', isClosed = true) =>
    market.sql(
      'update assets set closings = $2 where id = $1',
      market.assets[asset].id,
      isClosed ? { operator: { reasons: ['x'], at: '' } } : {},
    );
  refused(await quote(maker, rfqId, '545'), '400 amount_too_small');
  for (const asset of ['btc', 'usd'] as const) {
    await close(asset);
    refused(await quote(maker, rfqId, '545'), '409 asset_closed');
    refused(await propose(taker, threadId, '545'), '409 asset_closed');
    refused(await accept(maker, threadId), '409 asset_closed');
    await close(asset, false);
  }
  assert.equal((await accept(maker, threadId)).status, 200);
  await cancel(rfqId);
  refused(await quote(maker, rfqId), '409 rfq_gone', /cancelled/);
  refused(await quote(stranger, rfqId), '409 rfq_gone');
});

test('a thread is readable by its parties; to a stranger it does not exist', async () => {
  const { threadId } = await negotiation();
  for (const by of [taker, maker]) assert.equal((await read(by, threadId)).id, threadId);
  refused(await stranger.get(`/v1/threads/${threadId}`), '404 unknown_thread');
  refused(await propose(stranger, threadId, price), '404 unknown_thread');
  refused(await accept(stranger, threadId), '404 unknown_thread');
});

test('the creator lists every thread, a maker its own, a stranger none; newest activity first', async () => {
  const { rfqId, threadId } = await negotiation();
  const other = (await quote(stranger, rfqId)).body.thread.id;
  const list = (by: Trader, query = '') => by.get(`/v1/rfqs/${rfqId}/threads${query}`);
  const ids = async (by: Trader, query = '') =>
    (await list(by, query)).body.threads.map((each: { id: string }) => each.id);
  assert.deepEqual(await ids(taker), [other, threadId]);
  assert.deepEqual(await ids(maker), [threadId]);
  assert.deepEqual(await ids(await market.trader()), []);
  await new Promise((resolve) => setTimeout(resolve, 2));
  await quote(maker, rfqId, '66000000');
  assert.deepEqual(await ids(taker), [threadId, other]);
  const { nextCursor } = (await list(taker, '?limit=1')).body;
  assert.deepEqual(await ids(taker, `?limit=1&cursor=${nextCursor}`), [other]);
  refused(await list(maker, `?cursor=${nextCursor}`), '400 bad_cursor');
  refused(await list(taker, '?limit=0'), '400 bad_field');
});

test('both accept the current price: a swap, an agreed RFQ, closed threads, an event each', async () => {
  const { rfqId, threadId } = await negotiation();
  const loser = (await quote(stranger, rfqId)).body.thread.id;
  await propose(taker, threadId, '60000000');
  refused(await accept(maker, threadId), '409 terms_moved', /60000000/);
  await propose(maker, threadId, price);
  const hashlock = secretLock();
  const half = await accept(maker, threadId);
  assert.deepEqual([half.body.swap, half.body.thread.makerAccepted], [undefined, true]);
  const { status, body } = await accept(taker, threadId, { hashlock: `0x${hashlock}` });
  assert.equal(status, 200);
  const { swap, thread } = body;
  assert.deepEqual([thread.status, thread.swapId], ['agreed', swap.id]);
  assert.deepEqual([thread.makerAccepted, thread.takerAccepted], [true, true]);
  assert.deepEqual([swap.hashlock, swap.status, swap.role], [hashlock, 'agreed', 'initiator']);
  assert.equal((await taker.get(`/v1/rfqs/${rfqId}`)).body.status, 'agreed');
  assert.equal((await read(stranger, loser)).status, 'closed');
  const event = { swapId: swap.id, threadId };
  assert.deepEqual(await events('swap.agreed', 'threadId', threadId), [
    { to: maker.accountId, ...event },
    { to: taker.accountId, ...event },
  ]);
  const book = (await maker.get('/v1/rfqs?limit=100')).body.rfqs;
  assert.ok(!book.some((each: { id: string }) => each.id === rfqId));
  // Again with the same words: the same 200.
  const again = await accept(taker, threadId, { hashlock });
  assert.deepEqual([again.status, again.body.swap.id], [200, swap.id]);
  assert.equal((await accept(maker, threadId)).body.swap.role, 'counterparty');
  for (const [answer, code] of [
    [await accept(taker, threadId, { hashlock: secretLock() }), 'hashlock_differs'],
    [await accept(taker, threadId, { hashlock, quoteAmount: '1000' }), 'terms_moved'],
    [await propose(taker, threadId, '1000'), 'thread_closed'],
    [await quote(maker, rfqId), 'rfq_gone'],
    [await accept(stranger, loser), 'rfq_gone'],
    [await cancel(rfqId), 'rfq_gone'],
  ] as const) {
    refused(answer, `409 ${code}`, code === 'rfq_gone' ? /agreed/ : undefined);
  }
});

test('an acceptance stands for ten minutes to the millisecond, and saying it again adds nothing', async () => {
  market.deps.freeze();
  const { rfqId, threadId } = await negotiation();
  const hashlock = secretLock();
  const first = await accept(taker, threadId, { hashlock });
  const until = first.body.thread.acceptanceExpiresAt;
  assert.equal(Date.parse(until), market.deps.now() + 600_000);
  market.deps.advance(599_999);
  const again = await accept(taker, threadId, { hashlock });
  assert.equal(again.body.thread.acceptanceExpiresAt, until);
  refused(await propose(taker, threadId, '60000000'), '409 committed');
  refused(await cancel(rfqId), '409 committed');
  market.deps.advance(1);
  const { takerAccepted, acceptanceExpiresAt } = await read(taker, threadId);
  assert.deepEqual([takerAccepted, acceptanceExpiresAt], [false, null]);
  // The maker alone does not make a swap of a lapsed acceptance.
  assert.equal((await accept(maker, threadId)).body.swap, undefined);
  assert.equal((await accept(taker, threadId, { hashlock })).body.thread.status, 'agreed');
});

test('a quote may be refused where the taker has accepted the price before it', async () => {
  market.deps.freeze();
  const { rfqId, threadId } = await negotiation();
  await accept(taker, threadId, { hashlock: secretLock() });
  const quoted = () =>
    maker.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount: '66000000', unlessAccepted: true });
  refused(await quoted(), '409 taker_accepted');
  assert.deepEqual(await pricesOf(threadId), [`maker ${price}`]);
  market.deps.advance(600_000);
  assert.equal((await quoted()).status, 200);
});

test('a hashlock serves one thread of one account for ever', async () => {
  const hashlock = secretLock();
  const one = await negotiation();
  const two = await negotiation();
  const mine = await negotiation({ direction: 'buy_base' });
  await accept(taker, one.threadId, { hashlock });
  const isUsed = async () => {
    for (const spelt of [hashlock, `0x${hashlock.toUpperCase()}`]) {
      refused(await accept(taker, two.threadId, { hashlock: spelt }), '409 hashlock_used');
      refused(await accept(maker, mine.threadId, { hashlock: spelt }), '409 hashlock_used');
    }
  };
  await isUsed();
  await propose(maker, one.threadId, '64000000');
  await isUsed();
  await accept(taker, one.threadId, { hashlock, quoteAmount: '64000000' });
  await accept(maker, one.threadId, { quoteAmount: '64000000' });
  await isUsed();
  assert.equal((await accept(taker, two.threadId, { hashlock: secretLock() })).status, 200);
});
