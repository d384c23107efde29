// Agreement under concurrency, with forced interleavings: an RFQ has one swap, a hashlock one
// thread, and nobody waits for ever.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { evmChains } from '../../chains/evm/policy.ts';
import { solanaChains } from '../../chains/solana/policy.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import { type TestMarket, type Trader, testMarket } from '../../test/support/trading.ts';
import type { Tx } from '../db/database.ts';
import { useHashlocks } from '../db/gaps.ts';
import { accept } from './agreement.ts';
import { mostLiveRfqs } from './bounds.ts';
import { quote } from './quotes.ts';
import { cancelRfq, type NewRfq, postRfq } from './rfqs.ts';
import { propose, readThread } from './threads.ts';
import { threadView } from './views.ts';

let market: TestMarket;
let taker: Trader;
let makers: Trader[];

before(async () => {
  market = await testMarket({ connections: 12 });
  taker = await market.trader();
  makers = [await market.trader(), await market.trader(), await market.trader()];
});
after(() => market.close());

const price = 65_000_000n;

async function rfqWithThreads(): Promise<{ rfqId: string; threadIds: string[] }> {
  const { btc, usd } = market.assets;
  const { body } = await taker.post('/v1/rfqs', {
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    ttlSeconds: 600,
  });
  const rfqId: string = body.rfq.id;
  const threadIds: string[] = [];
  for (const maker of makers) {
    const quoted = await maker.post(`/v1/rfqs/${rfqId}/quotes`, { quoteAmount: `${price}` });
    threadIds.push(quoted.body.thread.id);
  }
  return { rfqId, threadIds };
}

const lock = () => randomBytes(32).toString('hex');

/** `work` in a transaction that ends when `release` is called; `done` says how it went. */
async function held<T>(work: (tx: Tx) => Promise<T>) {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const done = market.db.transaction(async (tx) => {
    const result = await work(tx);
    reached.resolve();
    await gate.promise;
    return result;
  });
  done.catch(reached.resolve);
  await reached.promise;
  return { release: gate.resolve, done };
}

/** Waits until `count` sessions of the database wait for a lock. */
async function untilBlocked(count: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const [row] = await market.db.rows<{ waiting: number }>({
      name: 'test_waiting',
      text: `select count(*) as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      values: [],
    });
    if (row!.waiting >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`nobody waits for a lock`);
}

const acceptAs =
  (by: Trader, threadId: string, hashlock: string | null = null) =>
  (tx: Tx) =>
    accept(tx, market.deps, by.accountId, threadId, { quoteAmount: price, hashlock });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (failure: unknown) => failure,
  );
  return error instanceof ParleyError ? error.code : String(error);
}

async function swapsOf(rfqId: string): Promise<number> {
  const rows = await market.db.rows({
    name: 'test_swaps',
    text: 'select id from swaps where rfq_id = $1',
    values: [rfqId],
  });
  return rows.length;
}

test('two makers race for one RFQ: the second waits for the first and finds it gone', async () => {
  const { rfqId, threadIds } = await rfqWithThreads();
  for (const id of threadIds) await market.db.transaction(acceptAs(taker, id, lock()));
  const first = await held(acceptAs(makers[0]!, threadIds[0]!));
  const second = codeOf(market.db.transaction(acceptAs(makers[1]!, threadIds[1]!)));
  await untilBlocked(1);
  first.release();
  assert.notEqual((await first.done).swapId, null);
  assert.equal(await second, 'rfq_gone');
  assert.equal(await swapsOf(rfqId), 1);
});

test('when the first of two racing makers fails to commit, the second has the swap', async () => {
  const { rfqId, threadIds } = await rfqWithThreads();
  for (const id of threadIds) await market.db.transaction(acceptAs(taker, id, lock()));
  const lost = Promise.withResolvers<never>();
  const reached = Promise.withResolvers<void>();
  const first = codeOf(
    market.db.transaction(async (tx) => {
      await acceptAs(makers[0]!, threadIds[0]!)(tx);
      reached.resolve();
      await lost.promise;
    }),
  );
  await reached.promise;
  const second = market.db.transaction(acceptAs(makers[1]!, threadIds[1]!));
  await untilBlocked(1);
  lost.reject(new Error('the connection was lost'));
  assert.match(await first, /connection was lost/);
  assert.equal((await second).status, 'agreed');
  assert.equal(await swapsOf(rfqId), 1);
});

test('maker and taker accept at once: one swap, whoever is first', async () => {
  for (const takerFirst of [true, false]) {
    const { rfqId, threadIds } = await rfqWithThreads();
    const steps = [acceptAs(taker, threadIds[0]!, lock()), acceptAs(makers[0]!, threadIds[0]!)];
    const [one, two] = takerFirst ? steps : steps.reverse();
    const first = await held(one!);
    const second = market.db.transaction(two!);
    await untilBlocked(1);
    first.release();
    assert.equal((await first.done).status, 'open');
    assert.equal((await second).status, 'agreed');
    assert.equal(await swapsOf(rfqId), 1);
  }
});

test('who has accepted in a role that is not its own any more accepts anew', async () => {
  const { adapters } = market.deps;
  const evm = adapters.get(market.assets.usd.chain)!;
  const policy = { ...evm.policy, floorSeconds: 2 * 86_400 };
  // As after a change of the policies: the maker gives the long leg now.
  const turned = {
    ...market.deps,
    adapters: new Map(adapters).set(evm.chain, { ...evm, policy }),
  };
  const maker = makers[0]!;
  for (const offered of [lock(), null]) {
    const { threadIds } = await rfqWithThreads();
    const id = threadIds[0]!;
    const first = offered === null ? maker : taker;
    const [mine, others] = [lock(), lock()];
    const by = (trader: Trader, hashlock: string | null) =>
      market.db.transaction((tx) =>
        accept(tx, turned, trader.accountId, id, { quoteAmount: price, hashlock }),
      );
    await market.db.transaction(acceptAs(first, id, offered));
    const before = threadView(turned, await by(maker, mine), market.deps.now());
    assert.deepEqual(
      [before.status, before.initiator, before.makerAccepted, before.takerAccepted],
      ['open', 'maker', true, false],
    );
    assert.equal(await codeOf(by(maker, others)), 'hashlock_differs');
    const after = threadView(market.deps, await by(taker, null), market.deps.now());
    assert.equal(after.status, 'agreed');
    const stored = await market.db.transaction((tx) => readThread(tx, maker.accountId, id));
    const { initiator, legs } = threadView(market.deps, stored, market.deps.now());
    assert.deepEqual([initiator, legs.a.long, legs.b.long], ['maker', true, false]);
    // The same words again are the same answer, by the policies of then.
    const again = await market.db.transaction(acceptAs(maker, id, mine));
    assert.equal(again.swapId, stored.swapId);
  }
});

test('also where no rule has changed, but from which amount on a value is high', async () => {
  const { btc, usd } = market.assets;
  const highFrom = (amount: number | null) =>
    market.db.rows({
      name: 'test_high_from',
      text: 'update assets set high_value_from = $2 where id = $1',
      values: [btc.id, amount],
    });
  const adapters = new Map(market.deps.adapters);
  const of = (chain: string, policy: ChainPolicy) =>
    adapters.set(chain, { ...adapters.get(chain)!, policy });
  of(usd.chain, evmChains.base.policy);
  of(btc.chain, solanaChains.solana.policy);
  const deps = { ...market.deps, adapters };
  const { threadIds } = await rfqWithThreads();
  const id = threadIds[0]!;
  const by = (trader: Trader, hashlock: string | null) =>
    market.db.transaction(async (tx) => {
      const said = { quoteAmount: price, hashlock };
      const thread = await accept(tx, deps, trader.accountId, id, said);
      const { initiator, status, makerAccepted, takerAccepted } = threadView(
        deps,
        thread,
        market.deps.now(),
      );
      return [initiator, status, makerAccepted, takerAccepted];
    });
  try {
    assert.deepEqual(await by(makers[0]!, lock()), ['maker', 'open', true, false]);
    await highFrom(100_000);
    assert.deepEqual(await by(taker, lock()), ['taker', 'open', false, true]);
    assert.deepEqual(await by(makers[0]!, null), ['taker', 'agreed', true, true]);
  } finally {
    await highFrom(null);
  }
});

test('a price that moves while the other side accepts it: the acceptance is refused', async () => {
  const { threadIds } = await rfqWithThreads();
  const id = threadIds[0]!;
  const moving = await held((tx) => propose(tx, market.deps, makers[0]!.accountId, id, price + 1n));
  const accepting = codeOf(market.db.transaction(acceptAs(taker, id, lock())));
  await untilBlocked(1);
  moving.release();
  await moving.done;
  assert.equal(await accepting, 'terms_moved');
});

test('cancelling and the last acceptance at once: one of them wins, never both', async () => {
  const one = await rfqWithThreads();
  await market.db.transaction(acceptAs(makers[0]!, one.threadIds[0]!));
  const cancel = (rfqId: string) => (tx: Tx) => cancelRfq(tx, market.deps, taker.accountId, rfqId);
  const cancelling = await held(cancel(one.rfqId));
  const late = codeOf(market.db.transaction(acceptAs(taker, one.threadIds[0]!, lock())));
  await untilBlocked(1);
  cancelling.release();
  assert.equal((await cancelling.done).status, 'cancelled');
  assert.equal(await late, 'rfq_gone');
  const two = await rfqWithThreads();
  await market.db.transaction(acceptAs(makers[0]!, two.threadIds[0]!));
  const agreeing = await held(acceptAs(taker, two.threadIds[0]!, lock()));
  const tooLate = codeOf(market.db.transaction(cancel(two.rfqId)));
  await untilBlocked(1);
  agreeing.release();
  assert.equal((await agreeing.done).status, 'agreed');
  assert.equal(await tooLate, 'rfq_gone');
});

test('one hashlock on two RFQs at once: one has it, the other is refused', async () => {
  const [one, two] = [await rfqWithThreads(), await rfqWithThreads()];
  const shared = lock();
  const first = await held(acceptAs(taker, one.threadIds[0]!, shared));
  const second = codeOf(market.db.transaction(acceptAs(taker, two.threadIds[0]!, shared)));
  await untilBlocked(1);
  first.release();
  assert.equal((await first.done).status, 'open');
  assert.equal(await second, 'hashlock_used');
  // One that was rolled back was never offered.
  const crossed = lock();
  const failing = market.db.transaction(async (tx) => {
    await acceptAs(taker, two.threadIds[1]!, crossed)(tx);
    throw new Error('the connection was lost');
  });
  await assert.rejects(failing);
  const after = await market.db.transaction(acceptAs(taker, one.threadIds[1]!, crossed));
  assert.equal(after.price.hashlock, crossed);
});

test('a hashlock that a chain shows between the two acceptances makes no swap', async () => {
  const { rfqId, threadIds } = await rfqWithThreads();
  const offered = lock();
  await market.db.transaction(acceptAs(taker, threadIds[0]!, offered));
  const { chain } = market.assets.usd;
  await market.db.transaction((tx) => useHashlocks(tx, [offered], chain, new Date()));
  const accepting = market.db.transaction(acceptAs(makers[0]!, threadIds[0]!));
  assert.equal(await codeOf(accepting), 'hashlock_used');
  assert.equal(await swapsOf(rfqId), 0);
});

test('a quote on an RFQ that somebody holds waits alone; other quotes are answered', async () => {
  const [busy, free] = [await rfqWithThreads(), await rfqWithThreads()];
  const holding = await held(acceptAs(makers[0]!, busy.threadIds[0]!));
  const path = (rfqId: string) => `/v1/rfqs/${rfqId}/quotes`;
  const newcomer = await market.trader();
  const waiting = newcomer.post(path(busy.rfqId), { quoteAmount: '1000' });
  const answered = await newcomer.post(path(free.rfqId), { quoteAmount: '1000' });
  assert.equal(answered.status, 201);
  await untilBlocked(1);
  holding.release();
  await holding.done;
  assert.equal((await waiting).status, 201);
});

test('posts of one account take turns, so that the last free place is given once', async () => {
  const poster = await market.trader();
  const { btc, usd } = market.assets;
  const wanted: NewRfq = {
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: 100_000n,
    quoteAssetId: usd.id,
    ttlSeconds: 600,
    visibility: 'private',
    askAmount: null,
    targetAddress: null,
  };
  const post = (tx: Tx) => postRfq(tx, market.deps, poster.accountId, wanted);
  await market.db.transaction(async (tx) => {
    for (let each = 1; each < mostLiveRfqs; each += 1) await post(tx);
  });
  const last = await held(post);
  const tooMany = codeOf(market.db.transaction(post));
  await untilBlocked(1);
  last.release();
  await last.done;
  assert.equal(await tooMany, 'too_many_open');
});

test('many quotes, proposals, acceptances and cancellations at once never deadlock', async () => {
  const trades = await Promise.all(Array.from({ length: 6 }, rfqWithThreads));
  const works = trades.flatMap(({ rfqId, threadIds }) =>
    threadIds.flatMap((id, at) => {
      const maker = makers[at]!;
      return [
        acceptAs(taker, id, lock()),
        acceptAs(maker, id),
        (tx: Tx) => propose(tx, market.deps, maker.accountId, id, price),
        (tx: Tx) => propose(tx, market.deps, taker.accountId, id, price),
        (tx: Tx) => quote(tx, market.deps, { makerId: maker.accountId, rfqId, quoteAmount: price }),
        (tx: Tx) => cancelRfq(tx, market.deps, taker.accountId, rfqId),
      ];
    }),
  );
  const shuffled = works
    .map((work, at) => ({ work, order: (at * 7_919) % works.length }))
    .sort((a, b) => a.order - b.order);
  const ends = await Promise.allSettled(
    shuffled.map(({ work }) => market.db.transaction<unknown>(work)),
  );
  for (const end of ends) {
    if (end.status === 'fulfilled') continue;
    assert.ok(end.reason instanceof ParleyError, String(end.reason));
  }
  for (const { rfqId } of trades) assert.ok((await swapsOf(rfqId)) <= 1);
});
