// Agreement under concurrency, with forced interleavings: an RFQ has one swap, a hashlock one
// thread, and nobody waits for ever.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import type { Tx } from '../db/database.ts';
import { lockRfqs } from '../db/rfqs.ts';
import { price as asked, secretLock as lock, negotiating } from '../edge/testing/negotiating.ts';
import type { Deps } from '../ports/deps.ts';
import { accept } from './agreement.ts';
import { quoteAll } from './quotes.ts';
import { cancelRfq } from './rfqs.ts';
import { untilBlocked } from './testing/blocked.ts';
import { propose, readThread } from './threads.ts';
import { type ThreadView, threadView } from './views.ts';
import { withdraw, withdrawSome } from './withdrawals.ts';

const market = await negotiating({ connections: 12 });
const { taker, deps } = market;
const makers = [market.maker, await market.trader(), await market.trader()] as const;
const price = BigInt(asked);
const offer = (quoteAmount: bigint) => ({ quoteAmount, expiresAt: null });
const blocked = () => untilBlocked(market.db, 1);

async function rfqWithThreads(): Promise<{ rfqId: string; threadIds: string[] }> {
  const { id: rfqId } = await market.rfq();
  const threadIds: string[] = [];
  for (const maker of makers) {
    threadIds.push((await market.quote(maker, rfqId)).body.thread.id);
  }
  return { rfqId, threadIds };
}

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
  return { release: gate.resolve, fail: gate.reject, done };
}

const acceptAs =
  (by: Trader, threadId: string, hashlock: string | null = null, on: Deps = deps) =>
  (tx: Tx) =>
    accept(tx, on, by.accountId, threadId, { quoteAmount: price, hashlock });

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ParleyError ? error.code : String(error)),
  );

const swapsOf = async (rfqId: string) =>
  (await market.sql('select id from swaps where rfq_id = $1', rfqId)).length;

/** The market with other policies of the chains of dollars and of bitcoin. */
function policed(policies: Record<'usd' | 'btc', ChainPolicy>): Deps {
  const adapters = new Map(deps.adapters);
  for (const [asset, policy] of Object.entries(policies)) {
    const { chain } = market.assets[asset as 'usd'];
    adapters.set(chain, { ...(adapters.get(chain) as ChainAdapter), policy });
  }
  return { ...deps, adapters };
}

for (const [what, fails] of [
  ['the second waits for the first and finds it gone', false],
  ['when the first fails to commit, the second has the swap', true],
] as const) {
  test(`two makers race for one RFQ: ${what}`, async () => {
    const { rfqId, threadIds } = await rfqWithThreads();
    for (const id of threadIds) await market.db.transaction(acceptAs(taker, id, lock()));
    const first = await held(acceptAs(makers[0], threadIds[0]!));
    const second = codeOf(market.db.transaction(acceptAs(makers[1], threadIds[1]!)));
    await blocked();
    if (fails) first.fail(new Error('the connection was lost'));
    else first.release();
    const ends = [await codeOf(first.done), await second];
    const lost = ['Error: the connection was lost', 'none'];
    assert.deepEqual(ends, fails ? lost : ['none', 'rfq_gone']);
    assert.equal(await swapsOf(rfqId), 1);
  });
}

test('maker and taker accept at once: one swap, whoever is first', async () => {
  for (const takerFirst of [true, false]) {
    const { rfqId, threadIds } = await rfqWithThreads();
    const steps = [acceptAs(taker, threadIds[0]!, lock()), acceptAs(makers[0], threadIds[0]!)];
    const [one, two] = takerFirst ? steps : steps.reverse();
    const first = await held(one!);
    const second = market.db.transaction(two!);
    await blocked();
    first.release();
    assert.deepEqual([(await first.done).status, (await second).status], ['open', 'agreed']);
    assert.equal(await swapsOf(rfqId), 1);
  }
});

test('a party that has accepted in a role that is not its own any more accepts anew', async () => {
  const { btc, usd } = market.assets;
  const { policy } = deps.adapters.get(usd.chain)!;
  const long = { ...policy, floorSeconds: 2 * 86_400 };
  // As after a change of the policies: the maker gives the long leg now.
  const turned = policed({ usd: long, btc: deps.adapters.get(btc.chain)!.policy });
  const maker = makers[0];
  for (const offered of [lock(), null]) {
    const id = (await rfqWithThreads()).threadIds[0]!;
    const mine = lock();
    const others = lock();
    const by = (trader: Trader, hashlock: string | null) =>
      market.db.transaction(acceptAs(trader, id, hashlock, turned));
    await market.db.transaction(acceptAs(offered === null ? maker : taker, id, offered));
    const before = threadView(turned, await by(maker, mine), deps.now());
    assert.deepEqual(
      [before.status, before.initiator, before.makerAccepted, before.takerAccepted],
      ['open', 'maker', true, false],
    );
    const pendingOf = (view: ThreadView) => [
      view.currentQuoteAmount,
      view.pendingAmount,
      view.pendingBy,
    ];
    const { quoteAmount } = before;
    assert.deepEqual(pendingOf(before), [quoteAmount, quoteAmount, 'maker']);
    assert.equal(await codeOf(by(maker, others)), 'hashlock_differs');
    const agreed = threadView(deps, await by(taker, null), deps.now());
    assert.equal(agreed.status, 'agreed');
    assert.deepEqual(pendingOf(agreed), [quoteAmount, null, null]);
    const stored = await market.db.transaction((tx) => readThread(tx, maker.accountId, id));
    const { initiator, legs } = threadView(deps, stored, deps.now());
    assert.deepEqual([initiator, legs.a.long, legs.b.long], ['maker', true, false]);
    // The same words again are the same answer, by the policies of then.
    const again = await market.db.transaction(acceptAs(maker, id, mine));
    assert.equal(again.swapId, stored.swapId);
  }
});

test('also where no rule has changed, but from which amount on a value is high', async () => {
  const highFrom = (amount: number | null) =>
    market.sql(
      'update assets set high_value_from = $2 where id = $1',
      market.assets.btc.id,
      amount,
    );
  const on = policed({ usd: evmChains.base.policy, btc: solanaChains.solana.policy });
  const id = (await rfqWithThreads()).threadIds[0]!;
  const by = async (trader: Trader, hashlock: string | null) => {
    const thread = await market.db.transaction(acceptAs(trader, id, hashlock, on));
    const view = threadView(on, thread, deps.now());
    const { initiator, status, makerAccepted, takerAccepted } = view;
    // The price is the maker's: it no longer waits once the taker has said yes.
    if (takerAccepted) assert.equal(view.pendingBy, null);
    return [initiator, status, makerAccepted, takerAccepted];
  };
  try {
    assert.deepEqual(await by(makers[0], lock()), ['maker', 'open', true, false]);
    await highFrom(100_000);
    assert.deepEqual(await by(taker, lock()), ['taker', 'open', false, true]);
    assert.deepEqual(await by(makers[0], null), ['taker', 'agreed', true, true]);
  } finally {
    await highFrom(null);
  }
});

test('a price that moves while the other side accepts it: the acceptance is refused', async () => {
  const { threadIds } = await rfqWithThreads();
  const id = threadIds[0]!;
  const moving = await held((tx) => propose(tx, deps, makers[0].accountId, id, offer(price + 1n)));
  const accepting = codeOf(market.db.transaction(acceptAs(taker, id, lock())));
  await blocked();
  moving.release();
  await moving.done;
  assert.equal(await accepting, 'terms_moved');
});

test('cancelling and the last acceptance at once: one of them wins, never both', async () => {
  for (const [isCancelled, status] of [
    [true, 'cancelled'],
    [false, 'agreed'],
  ] as const) {
    const { rfqId, threadIds } = await rfqWithThreads();
    await market.db.transaction(acceptAs(makers[0], threadIds[0]!));
    const cancel = (tx: Tx) => cancelRfq(tx, deps, taker.accountId, rfqId);
    const agree = acceptAs(taker, threadIds[0]!, lock());
    const first = await held<{ status: string }>(isCancelled ? cancel : agree);
    const late = codeOf(market.db.transaction<unknown>(isCancelled ? agree : cancel));
    await blocked();
    first.release();
    assert.equal((await first.done).status, status);
    assert.equal(await late, 'rfq_gone');
  }
});

test('one hashlock on two RFQs at once: one has it, the other is refused', async () => {
  const one = await rfqWithThreads();
  const two = await rfqWithThreads();
  const shared = lock();
  const first = await held(acceptAs(taker, one.threadIds[0]!, shared));
  const second = codeOf(market.db.transaction(acceptAs(taker, two.threadIds[0]!, shared)));
  await blocked();
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

test('a quote on an RFQ that somebody holds waits alone; other quotes are answered', async () => {
  const busy = await rfqWithThreads();
  const free = await rfqWithThreads();
  const holding = await held(acceptAs(makers[0], busy.threadIds[0]!));
  const newcomer = await market.trader();
  const waiting = market.quote(newcomer, busy.rfqId);
  assert.equal((await market.quote(newcomer, free.rfqId)).status, 201);
  await blocked();
  holding.release();
  await holding.done;
  assert.equal((await waiting).status, 201);
});

test('a price that ends while its acceptance waits for a turn is refused, with its numbers', async () => {
  deps.freeze();
  const { rfqId } = await rfqWithThreads();
  const { body } = await makers[0].post(`/v1/rfqs/${rfqId}/quotes`, {
    quoteAmount: asked,
    validForSeconds: 30,
  });
  const { id, quoteExpiresAt } = body.thread;
  assert.equal(Date.parse(quoteExpiresAt), deps.now() + 30_000);
  deps.advance(29_999);
  assert.equal(
    (await makers[0].post(`/v1/threads/${id}/accept`, { quoteAmount: asked })).status,
    200,
  );
  const waiting = await held((tx) => lockRfqs(tx, [rfqId]));
  const accepting = market.db.transaction(acceptAs(taker, id, lock()));
  await blocked();
  deps.advance(1);
  waiting.release();
  await assert.rejects(accepting, (error: ParleyError) => {
    assert.equal(error.code, 'quote_expired');
    assert.match(error.message, new RegExp(`${asked} held until ${quoteExpiresAt}, 0 s ago`));
    return true;
  });
  // The maker is bound no longer either.
  assert.equal((await market.quote(makers[0], rfqId)).status, 200);
});

test('a withdrawal and the acceptance that would agree take turns: one of both counts', async () => {
  for (const first of ['withdrawal', 'acceptance'] as const) {
    const { threadIds } = await rfqWithThreads();
    const [id] = threadIds as [string];
    await market.db.transaction(acceptAs(taker, id, lock()));
    const accepts = acceptAs(makers[0], id);
    const takesBack = (tx: Tx) => withdraw(tx, deps, makers[0].accountId, id);
    const order = first === 'withdrawal' ? [takesBack, accepts] : [accepts, takesBack];
    const one = await held(order[0]!);
    const other = codeOf(market.db.transaction(order[1]!));
    await blocked();
    one.release();
    await one.done;
    assert.equal(await other, 'thread_closed');
    const thread = await readThread(market.db, taker.accountId, id);
    assert.equal(thread.status, first === 'withdrawal' ? 'closed' : 'agreed');
  }
});

test('all open quotes of a maker are withdrawn, but those that bind it; others’ stay', async () => {
  const maker = await market.trader();
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { rfqId } = await rfqWithThreads();
    ids.push((await market.quote(maker, rfqId)).body.thread.id);
    ids.push((await market.quote(makers[2], rfqId)).body.thread.id);
  }
  const [first, others, bound, , agreed] = ids as [string, string, string, string, string];
  await market.db.transaction(acceptAs(maker, bound));
  await market.db.transaction(acceptAs(taker, agreed, lock()));
  await market.db.transaction(acceptAs(maker, agreed));
  const some = (after: string | null) =>
    market.db.transaction((tx) =>
      withdrawSome(tx, deps, 'withdrawn', { makerId: maker.accountId, after, limit: 1 }),
    );
  assert.deepEqual(await some(null), { withdrawn: 1, committed: 0, next: first });
  assert.deepEqual(await some(first), { withdrawn: 0, committed: 1, next: bound });
  assert.deepEqual(await some(bound), { withdrawn: 0, committed: 0, next: null });
  assert.deepEqual(await some(null), { withdrawn: 0, committed: 1, next: bound });
  const statusOf = async (id: string) => (await readThread(market.db, taker.accountId, id)).status;
  assert.deepEqual(await Promise.all([first, others, bound, agreed].map(statusOf)), [
    'closed',
    'open',
    'open',
    'agreed',
  ]);
});

test('many quotes, proposals, acceptances and cancellations at once never deadlock', async () => {
  const trades = await Promise.all(Array.from({ length: 6 }, rfqWithThreads));
  const works = trades.flatMap(({ rfqId, threadIds }) =>
    threadIds.flatMap((id, at) => {
      const maker = makers[at]!;
      const { accountId: makerId } = maker;
      const everywhere = trades.map((each) => ({
        makerId,
        rfqId: each.rfqId,
        unlessAccepted: false,
        ...offer(price),
      }));
      return [
        acceptAs(taker, id, lock()),
        acceptAs(maker, id),
        (tx: Tx) => propose(tx, deps, makerId, id, offer(price)),
        (tx: Tx) => propose(tx, deps, taker.accountId, id, offer(price)),
        (tx: Tx) => quoteAll(tx, deps, everywhere),
        (tx: Tx) => withdraw(tx, deps, makerId, id),
        (tx: Tx) => withdrawSome(tx, deps, 'withdrawn', { makerId, after: null, limit: 9 }),
        (tx: Tx) => cancelRfq(tx, deps, taker.accountId, rfqId),
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
