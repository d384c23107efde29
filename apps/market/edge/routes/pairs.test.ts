// The facts before a trade: its meaning and costs, what others traded at, and whether the market
// works.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deadlines } from '@parley/core/deadlines.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import type { Desk } from '@parley/watchtower/port.ts';
import type { Tx } from '../../db/database.ts';
import { insertGap, lockHeartbeat } from '../../db/gaps.ts';
import { storeHeads } from '../../db/heads.ts';
import { historyPoints } from '../../market/bounds.ts';
import { haltAsset, haltChain, resumeAsset, resumeChain } from '../../market/halts.ts';
import { spanOf } from '../../market/price-history.ts';
import { readPrices } from '../../market/prices.ts';
import { timeOf } from '../../restore/gate.ts';
import { refused } from '../testing/edge.ts';
import { negotiating, price, secretLock } from '../testing/negotiating.ts';

const cost = (usual: bigint) => ({ usual, most: 2n * usual });
const costs = { fund: cost(3n), claim: cost(5n), refund: cost(7n), settlesFromAmount: false };
const bitcoin = stubAdapter('bitcoin', 'bitcoin', {
  blockSeconds: 600,
  costs: async () => ({
    ...costs,
    settlesFromAmount: true,
    deposit: null,
    leastAmount: 546n,
  }),
});
const evm = stubAdapter('evm-dev', 'evm', {
  blockSeconds: 12,
  costs: async (token) => {
    const deposit = { locked: token === null ? 9n : 11n, keptByClaim: 1n };
    return { ...costs, deposit, leastAmount: 1n };
  },
});
const watchtower: Desk = {
  claim: () => Promise.reject(new Error('not asked here')),
  fund: () => Promise.reject(new Error('not asked here')),
  fundsBySignature: async () => () => false,
  claimsOn: async () => new Set(['evm-dev']),
};
const market = await negotiating({ adapters: [bitcoin, evm], watchtower });
const { taker, maker, deps, sql } = market;
const { btc, eth, usd } = market.assets;
const dayMs = 86_400_000;
const pairPath = (more = '') =>
  `/v1/pairs?direction=sell_base&baseAssetId=${btc.id}&quoteAssetId=${usd.id}${more}`;
const pricePath = (base: { id: string }, quote: { id: string }) =>
  `/v1/pairs/price?baseAssetId=${base.id}&quoteAssetId=${quote.id}`;

test('each side lists its threads by where they stand, page by page', async () => {
  const asks = await market.trader();
  const quotes = await market.trader();
  const open: string[] = [];
  const closed: string[] = [];
  const agreed: string[] = [];
  for (const list of [agreed, closed, open, agreed, closed, open]) {
    const { id: rfqId } = await market.rfq({}, asks);
    const { id } = (await market.quote(quotes, rfqId)).body.thread;
    list.unshift(id);
    if (list === closed) await asks.post(`/v1/rfqs/${rfqId}/cancel`);
    if (list !== agreed) continue;
    const words = { quoteAmount: price };
    await asks.post(`/v1/threads/${id}/accept`, { ...words, hashlock: secretLock() });
    await quotes.post(`/v1/threads/${id}/accept`, words);
  }
  for (const [status, wanted] of Object.entries({ open, closed, agreed })) {
    for (const [role, by] of Object.entries({ taker: asks, maker: quotes })) {
      const query = `/v1/threads?role=${role}&status=${status}`;
      const first = (await by.get(`${query}&limit=1`)).body;
      const second = (await by.get(`${query}&cursor=${first.nextCursor}`)).body;
      const found = [...first.threads, ...second.threads];
      assert.deepEqual([found.map(({ id }) => id), second.nextCursor], [wanted, null]);
      assert.ok(found.every((each) => each.status === status));
      const other = role === 'taker' ? 'maker' : 'taker';
      const elsewhere = `/v1/threads?role=${other}&status=${status}`;
      assert.deepEqual((await by.get(elsewhere)).body.threads, []);
      refused(await by.get(`${elsewhere}&cursor=${first.nextCursor}`), '400 bad_cursor');
      const [{ id, rfqId }] = found;
      const { threads } = (await by.get(`${query}&rfqId=${rfqId.toUpperCase()}`)).body;
      assert.deepEqual(
        threads.map((each: { id: string }) => each.id),
        [id],
      );
    }
  }
  const standing = async () => (await quotes.get('/v1/threads')).body.threads.length;
  assert.equal(await standing(), open.length);
  deps.advance(3_600_000);
  assert.equal(await standing(), 0, 'their RFQs have expired');
});

test('a trade is told as a thread of it would be: initiator, legs, times and both chains’ fees', async () => {
  const { status, body } = await taker.get(pairPath());
  assert.equal(status, 200);
  const { threadId } = await market.negotiation();
  const thread = (await taker.get(`/v1/threads/${threadId}`)).body;
  assert.deepEqual([body.initiator, body.rules], [thread.initiator, thread.rules]);
  for (const leg of ['a', 'b'] as const) {
    const { chain, assetId, long, timelockSeconds } = body.legs[leg];
    const { amount: _, ...preview } = thread.legs[leg];
    assert.deepEqual({ chain, assetId, long, timelockSeconds }, preview);
  }
  const timing = ({ policy }: typeof evm) => ({ policy, depth: policy.normal });
  const times = deadlines(0, { a: timing(evm), b: timing(bitcoin) }, 'b');
  assert.equal(body.initiatorFundBySeconds, times.initiatorFundBy);
  assert.equal(body.counterpartyFundBySeconds, times.counterpartyFundBy);
  assert.equal(body.revealBySeconds, times.revealBy);
  // Three blocks of 600 s, twelve of 12 s, and the claim's block; the other claim's block after it.
  assert.deepEqual(body.expected, {
    initiator: { usualSeconds: 1_956, worstSeconds: times.refundAt.b + 112 * 60 },
    counterparty: { usualSeconds: 2_556, worstSeconds: times.refundAt.a + 300 },
  });
  assert.deepEqual(body.legs.b.costs, {
    fund: { usual: '3', most: '6' },
    claim: { usual: '5', most: '10' },
    refund: { usual: '7', most: '14' },
    settlesFromAmount: true,
    deposit: null,
  });
  assert.deepEqual(body.legs.a.costs.deposit, { locked: '11', keptByClaim: '1' });
  assert.deepEqual([body.legs.a.leastAmount, body.legs.b.leastAmount], ['1', '546']);
});

/** An agreement at this price, whose swap stands there. */
async function agreed(quoteAmount: string, status: string, fields: object = {}) {
  const { id } = await market.rfq(fields);
  const { thread } = (await market.quote(maker, id, quoteAmount)).body;
  const words = { quoteAmount };
  await market.accept(taker, thread.id, { ...words, hashlock: secretLock() });
  const { swap } = (await market.accept(maker, thread.id, words)).body;
  await sql('update swaps set status = $2 where id = $1', swap.id, status);
  return { threadId: thread.id as string, swapId: swap.id as string };
}

test('a price is the middle of public agreements that both sides funded, either way round', async () => {
  const turned = { direction: 'buy_base', baseAssetId: usd.id, quoteAssetId: btc.id };
  const began = Math.floor(deps.now() / 60_000) * 60_000;
  await agreed('99000000', 'agreed');
  await agreed('98000000', 'expired');
  await agreed('97000000', 'refunded');
  await agreed('96000000', 'counterparty_claimed', { visibility: 'private' });
  assert.deepEqual(await readPrices(market.db, ...pair()), { agreements: [], median: null });
  await agreed('60000000', 'counterparty_claimed');
  deps.advance(1_000);
  await agreed('70000000', 'counterparty_funded');
  const two = await readPrices(market.db, ...pair());
  assert.deepEqual([two.agreements.length, two.median], [2, null]);
  deps.advance(1_000);
  // 130000 for 80000000 is dearer than 100000 for 60000000, and cheaper than for 70000000.
  await agreed('130000', 'initiator_claimed', { ...turned, baseAmount: '80000000' });
  const { status, body } = await taker.get(pricePath(btc, usd));
  assert.equal(status, 200);
  const middle = { direction: 'sell_base', baseAmount: '130000', quoteAmount: '80000000' };
  const { agreedAt, ...median } = body.median;
  assert.deepEqual(median, middle);
  assert.equal(Date.parse(agreedAt) % 60_000, 0);
  assert.ok(Date.parse(agreedAt) >= began);
  const amounts = body.agreements.map((each: { quoteAmount: string }) => each.quoteAmount);
  assert.deepEqual(amounts, ['80000000', '70000000', '60000000']);
  const other = (await maker.get(pricePath(usd, btc))).body.median;
  assert.deepEqual([other.baseAmount, other.quoteAmount], ['80000000', '130000']);
  assert.equal(other.direction, 'buy_base');
  // The answer names no account.
  const text = JSON.stringify(body);
  for (const { accountId } of [taker, maker]) assert.ok(!text.includes(accountId));
  // Older than a day it counts no more.
  const tomorrow = deps.now() + dayMs;
  const [base, quote] = pair();
  assert.deepEqual((await readPrices(market.db, base, quote, tomorrow)).agreements, []);
});

const pair = () => [btc.id, usd.id, deps.now()] as const;

type Amounts = { readonly baseAmount: string; readonly quoteAmount: string };
const words = ({ baseAmount, quoteAmount }: Amounts) => `${baseAmount} ${quoteAmount}`;
type Pair = { readonly baseAssetId: string; readonly quoteAssetId: string; readonly bid?: unknown };
const pairIds = ({ baseAssetId, quoteAssetId }: Pair) => `${baseAssetId} ${quoteAssetId}`;
const hourMs = 3_600_000;
/** The clock, which runs on, stands in the first moments of a bucket of every history, from here. */
function startBucket(): number {
  deps.advance(4 * hourMs - (deps.now() % (4 * hourMs)));
  const now = deps.now();
  return now - (now % (4 * hourMs));
}

test('a history has the middle, lowest and highest of each bucket, of what a price is taken of', async () => {
  const path = (base: { id: string }, quote: { id: string }, more = '') =>
    `/pairs/history?baseAssetId=${base.id}&quoteAssetId=${quote.id}${more}`;
  const ofEther = { quoteAssetId: eth.id };
  const turned = { direction: 'buy_base', baseAssetId: eth.id, quoteAssetId: btc.id };
  const began = startBucket();
  await agreed('50000', 'counterparty_claimed', ofEther);
  deps.advance(2 * dayMs);
  await agreed('99000', 'counterparty_claimed', { ...ofEther, visibility: 'private' });
  await agreed('98000', 'refunded', ofEther);
  await agreed('97000', 'agreed', ofEther);
  await agreed('60000', 'counterparty_claimed', ofEther);
  await agreed('90000', 'counterparty_funded', ofEther);
  // 100000 for 75000, seen from the other side.
  await agreed('100000', 'initiator_claimed', { ...turned, baseAmount: '75000' });
  const { status, body } = await taker.get(`/v1${path(btc, eth)}`);
  assert.equal(status, 200);
  const at = (ms: number) => new Date(ms).toISOString();
  const same = { baseAmount: '100000', quoteAmount: '50000' };
  const now = {
    at: at(began + 2 * dayMs),
    baseAmount: '100000',
    quoteAmount: '75000',
    low: { baseAmount: '100000', quoteAmount: '60000' },
    high: { baseAmount: '100000', quoteAmount: '90000' },
    count: 3,
  };
  assert.deepEqual(body, {
    baseAssetId: btc.id,
    quoteAssetId: eth.id,
    days: 7,
    bucketSeconds: 3_600,
    points: [{ at: at(began), ...same, low: same, high: same, count: 1 }, now],
  });
  const open = (more: string) => market.app.inject(`/market${path(btc, eth, more)}`);
  const day = (await open('&days=1')).json();
  assert.deepEqual([day.bucketSeconds, day.points], [900, [now]]);
  const other = (await maker.get(`/v1${path(eth, btc)}`)).body.points.at(-1);
  assert.deepEqual([words(other.low), words(other.high)], ['90000 100000', '60000 100000']);
  for (const days of ['0', '31', '1.5', 'x']) {
    const answer = await open(`&days=${days}`);
    refused({ ...answer, status: answer.statusCode, body: answer.json() }, '400 bad_field', /days/);
  }
});

test('two of a bucket and next of it: a bucket ends before the next one begins, and 200 are the most', () => {
  for (const days of [1, 2, 3, 8, 9, 30]) {
    const { bucketSeconds, days: read } = spanOf(days);
    assert.ok(read >= days && (read * 86_400) / bucketSeconds + 1 <= historyPoints, `${days} days`);
    assert.equal(86_400 % bucketSeconds, 0);
  }
});

test('the traded pairs have their median, best levels and makers, once for both ways round', async () => {
  const level = (direction: string, baseAmount: string, quoteAmount: string) => ({
    direction,
    baseAmount,
    quoteAmount,
    validForSeconds: 600,
  });
  const publish = async (by: typeof maker, pair: readonly { id: string }[], levels: object[]) => {
    const [baseAssetId, quoteAssetId] = pair.map(({ id }) => id);
    assert.equal((await by.post('/v1/levels', { baseAssetId, quoteAssetId, levels })).status, 200);
  };
  const read = async () => {
    // Not what was kept of a moment ago.
    deps.advance(60_000);
    const { pairs } = (await market.app.inject('/market/pairs/list')).json();
    return new Map(pairs.map((each: Pair) => [pairIds(each), each])) as Map<string, Pair>;
  };
  const settled = ({ accountId }: typeof maker, count: number) =>
    sql(
      `update standings set counts = jsonb_set(counts, '{settled}', $2) where account_id = $1`,
      accountId,
      count,
    );
  deps.advance(2 * dayMs);
  assert.deepEqual([...(await read()).keys()], []);
  const turned = { direction: 'buy_base', baseAssetId: usd.id, quoteAssetId: btc.id };
  await agreed('60000', 'counterparty_funded');
  await agreed('62000', 'counterparty_funded');
  await agreed('100000', 'counterparty_funded', { ...turned, baseAmount: '61000' });
  await agreed('99000', 'counterparty_funded', { visibility: 'private' });
  await agreed('99000', 'expired');
  const liar = await market.trader();
  await publish(liar, [btc, usd], [level('sell_base', '100000', '99000')]);
  await publish(
    maker,
    [usd, btc],
    [level('buy_base', '59000', '100000'), level('sell_base', '63000', '100000')],
  );
  await publish(maker, [eth, btc], [level('sell_base', '5000', '100000')]);
  await settled(maker, 0);
  const found = await read();
  const ids = ([base, quote]: readonly { id: string }[]) => ({
    baseAssetId: base!.id,
    quoteAssetId: quote!.id,
  });
  const of = (quoteAmount: string) => ({ baseAmount: '100000', quoteAmount });
  const dollars = { ...ids([btc, usd]), median: of('61000'), agreements: 3, makers: 2 };
  assert.deepEqual(
    [...found.values()],
    [
      { ...dollars, bid: of('99000'), ask: of('63000') },
      { ...ids([btc, eth]), median: null, agreements: 0, bid: null, ask: of('5000'), makers: 1 },
    ],
  );
  // A maker that has settled swaps is believed before a better price of one that has not.
  await settled(maker, 2);
  assert.deepEqual((await read()).get(pairIds(dollars))?.bid, of('59000'));
  // A halted asset has no pair, and a level that has ended no maker.
  await haltAsset(market.db as Tx, eth.id, { reason: 'a test', at: new Date(deps.now()) });
  assert.deepEqual([...(await read()).keys()], [pairIds(dollars)]);
  await resumeAsset(market.db as Tx, eth.id, new Date(deps.now()));
  deps.advance(600_000);
  assert.deepEqual([...(await read()).values()], [{ ...dollars, bid: null, ask: null, makers: 0 }]);
});

test('anybody reads whether the market works: heads, halts without their reason, and what it waits for', async () => {
  const status = async () => {
    // Not what was kept of a moment ago.
    await sleep(1_050);
    const answer = await market.app.inject('/market/status');
    assert.equal(answer.statusCode, 200);
    return answer.json();
  };
  const at = new Date(deps.now());
  await storeHeads(
    market.db,
    'bitcoin',
    { height: 7, hash: '00', clock: 1_700_000_000, doneTo: null },
    at,
    null,
  );
  await haltChain(market.db as Tx, { chain: 'evm-dev', reason: 'a hole that we know of', at });
  deps.advance(61_000);
  const halted = await status();
  const { at: _, ...told } = halted;
  assert.deepEqual(told, {
    network: 'dev',
    agrees: true,
    waitsFor: [],
    chains: [
      {
        chain: 'bitcoin',
        height: 7,
        clock: 1_700_000_000,
        seenAt: at.toISOString(),
        blockSeconds: 600,
        isQuiet: false,
        haltedSince: null,
        sendsClaims: false,
        sendsFundings: false,
      },
      {
        chain: 'evm-dev',
        height: null,
        clock: null,
        seenAt: null,
        blockSeconds: 12,
        isQuiet: true,
        haltedSince: at.toISOString(),
        sendsClaims: true,
        sendsFundings: false,
      },
    ],
  });
  assert.ok(!JSON.stringify(halted).includes('hole'));
  await market.db.transaction((tx) => resumeChain(tx, 'evm-dev', at));
  const time = { beganAt: new Date(0), endedAt: new Date(1_000) };
  await lockHeartbeat(market.db as Tx, at);
  await insertGap(market.db as Tx, { why: 'silence', ...time, holds: true });
  deps.advance(4_200_000);
  const restored = await status();
  assert.deepEqual([restored.agrees, restored.waitsFor], [false, [timeOf(time)]]);
  assert.deepEqual(
    restored.chains.map((each: { isQuiet: boolean }) => each.isQuiet),
    [true, true],
  );
  assert.equal(restored.chains[1].haltedSince, null);
});
