// Quotes that commit together: each is answered for itself, and none takes the others with it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import type { Database, PipelinedTx } from '../db/database.ts';
import { findRfq } from '../db/rfqs.ts';
import { negotiating } from '../edge/testing/negotiating.ts';
import { workOf } from '../ports/work.ts';
import { mostThreads } from './bounds.ts';
import { createGroupedQuotes } from './grouped-quotes.ts';
import { createPrepareQuotes } from './quote-amounts.ts';

const market = await negotiating();
const { taker, sql } = market;
const makers = [market.maker, await market.trader(), await market.trader()] as const;
const posted = async (): Promise<string> => (await market.rfq()).id;

/** The market's database, counting transactions and how many run at once. */
function counting() {
  const seen = { transactions: 0, most: 0 };
  let running = 0;
  const db: Database = {
    ...market.db,
    pipelined: async <R>(work: (tx: PipelinedTx) => Promise<R>) => {
      seen.transactions += 1;
      running += 1;
      seen.most = Math.max(seen.most, running);
      try {
        return await market.db.pipelined(work);
      } finally {
        running -= 1;
      }
    },
  };
  return { db, seen };
}

const plain = { expiresAt: null, unlessAccepted: false };
const quoteBy = (by: Trader, rfqId: string, quoteAmount: bigint) => ({
  makerId: by.accountId,
  rfqId,
  quoteAmount,
  ...plain,
});

test('first quotes that come together ask once for what all of them need', async () => {
  const rfqIds = await Promise.all(Array.from({ length: 20 }, posted));
  const asked: string[] = [];
  const rows: Database['rows'] = (statement) => {
    asked.push(statement.name);
    return market.db.rows(statement);
  };
  const prepare = createPrepareQuotes({ ...market.deps, db: { ...market.db, rows } });
  const { signal } = new AbortController();
  const [by] = makers;
  const all = () =>
    Promise.all(
      rfqIds.map((rfqId) => prepare(by.accountId, [{ rfqId, quoteAmount: 1_000n }], signal)),
    );
  assert.deepEqual(new Set((await all()).flat()), new Set([null]));
  assert.deepEqual(asked, ['standings_count', 'rfqs_follow_settled', 'quotes_assets']);
  await all();
  assert.equal(asked.length, 3);
});

test('a group rings for webhooks when it has committed, and writes no row of its RFQ', async () => {
  const rfqId = await posted();
  const versionOf = () =>
    sql('select ctid::text as version, status from rfqs where id = $1', rfqId);
  const before = await versionOf();
  const db = { ...market.db, listen: () => Promise.reject(new Error('nothing is heard')) };
  let rings = 0;
  const leave = workOf(db).on(['webhooks'], () => {
    rings += 1;
  });
  const quotes = createGroupedQuotes({ ...market.deps, db });
  for (const amount of [1_000n, 2_000n]) {
    await Promise.all(makers.map((by) => quotes(quoteBy(by, rfqId, amount))));
  }
  leave();
  assert.equal(rings, 2);
  assert.deepEqual(await versionOf(), before);
  assert.equal((await findRfq(market.db, rfqId))?.status, 'negotiating');
});

/** Threads of as many other makers, as another process would store them. */
const crowd = (rfqId: string, count: number) =>
  sql(
    `with crowd as (
        insert into accounts (id, kind, created_at)
        select gen_random_uuid(), 'wallet', now() from generate_series(1, $2) returning id)
      insert into threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
        messages, created_at, updated_at)
      select gen_random_uuid(), $1, id, $3, 'open', 1000, 'maker', '[]', now(), now() from crowd`,
    rfqId,
    count,
    taker.accountId,
  );

test('quotes of one turn share a transaction, and the most makers of an RFQ hold within it', async () => {
  const rfqId = await posted();
  await crowd(rfqId, mostThreads - 1);
  const { db, seen } = counting();
  const quotes = createGroupedQuotes({ ...market.deps, db });
  const ends = await Promise.allSettled(makers.map((by) => quotes(quoteBy(by, rfqId, 1_000n))));
  assert.deepEqual(
    ends.map((each) => each.status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  assert.equal(seen.transactions, 1);
});

test('close to the most makers of an RFQ they are counted for each that comes', async () => {
  const rfqId = await posted();
  await crowd(rfqId, mostThreads - 10);
  const quotes = createGroupedQuotes(market.deps);
  await quotes(quoteBy(makers[0], rfqId, 1_000n));
  await crowd(rfqId, 9);
  await assert.rejects(quotes(quoteBy(makers[1], rfqId, 1_000n)), { code: 'too_many_open' });
});

test('the makers of an RFQ are counted anew after five minutes, and not for a price that moves', async () => {
  const rfqId = await posted();
  let now = market.deps.now();
  const quotes = createGroupedQuotes({ ...market.deps, now: () => now });
  const [first, second, third] = makers;
  await quotes(quoteBy(first, rfqId, 1_000n));
  await crowd(rfqId, mostThreads - 2);
  await quotes(quoteBy(first, rfqId, 2_000n));
  assert.equal((await quotes(quoteBy(second, rfqId, 1_000n))).created, true);
  now += 300_000;
  await assert.rejects(quotes(quoteBy(third, rfqId, 1_000n)), {
    code: 'too_many_open',
    message: `${mostThreads} makers have quoted this RFQ, the most there may be`,
  });
});

test('a group has 128 quotes, two groups are under way, and the rest has its turn after them', async () => {
  const { db, seen } = counting();
  const quotes = createGroupedQuotes({ ...market.deps, db });
  const absent = Array.from({ length: 300 }, () => randomUUID());
  const ends = await Promise.allSettled(absent.map((id) => quotes(quoteBy(makers[0], id, 1_000n))));
  const told = ends.map((each) => each.status === 'rejected' && each.reason.message);
  for (const [at, id] of absent.entries()) assert.match(String(told[at]), new RegExp(id));
  assert.deepEqual(seen, { transactions: 3, most: 2 });
});

test('two prices of one maker on one RFQ keep their order, in transactions of their own', async () => {
  const rfqId = await posted();
  const { db, seen } = counting();
  const quotes = createGroupedQuotes({ ...market.deps, db });
  const by = makers[0];
  const [first, second] = await Promise.all([
    quotes(quoteBy(by, rfqId, 1_000n)),
    quotes(quoteBy(by, rfqId, 2_000n)),
  ]);
  assert.deepEqual([first.created, second.created], [true, false]);
  assert.equal(first.thread.id, second.thread.id);
  const { body } = await by.get(`/v1/threads/${first.thread.id}`);
  assert.equal(body.quoteAmount, '2000');
  assert.deepEqual([seen.transactions, seen.most], [2, 1]);
});

test('a quote that the database refuses fails alone', async () => {
  const one = await posted();
  const two = await posted();
  const ghost = '01a1fb07-751f-7744-b69c-bc76bd408690';
  await sql('alter table wallets disable trigger all');
  await sql(`alter table threads add constraint no_ghost check (maker_id <> '${ghost}')`);
  await sql(
    `insert into wallets (account_id, family, address, standing, proven_at)
      values ($1, 'evm', '0xghost', 'login', now())`,
    ghost,
  );
  const quotes = createGroupedQuotes(market.deps);
  const ends = await Promise.allSettled([
    quotes(quoteBy(makers[0], one, 1_000n)),
    quotes({ ...plain, makerId: ghost, rfqId: one, quoteAmount: 1_000n }),
    quotes(quoteBy(makers[1], two, 1_000n)),
    quotes(quoteBy(makers[2], ghost, 1_000n)),
  ]);
  assert.deepEqual(
    ends.map((each) => each.status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
  );
  const [, refusedByDatabase, , unknown] = ends.map((each) =>
    each.status === 'rejected' ? each.reason : null,
  );
  assert.equal(refusedByDatabase.code, '23514');
  assert.ok(unknown instanceof ParleyError && unknown.code === 'unknown_rfq');
});

const failed = (code: string) => Object.assign(new Error(`SQLSTATE ${code}`), { code });

for (const code of ['08006', '57P01', '57014', 'EPIPE']) {
  test(`a group that may be stored is not stored a second time: ${code}`, async () => {
    const rfqId = await posted();
    const db: Database = {
      ...market.db,
      pipelined: async (work) => {
        await market.db.pipelined(work);
        throw failed(code);
      },
    };
    const quotes = createGroupedQuotes({ ...market.deps, db });
    const [one, two] = makers;
    const ends = await Promise.allSettled(
      [one, two].map((by) => quotes(quoteBy(by, rfqId, 1_000n))),
    );
    for (const each of ends) assert.equal(each.status === 'rejected' && each.reason.code, code);
    const { threads } = (await taker.get(`/v1/rfqs/${rfqId}/threads`)).body;
    assert.deepEqual(
      threads.map(({ messages }: { messages: unknown[] }) => messages.length),
      [1, 1],
    );
  });
}

test('a later price waits for the one that is stored alone, and other RFQs do not', async () => {
  const rfqId = await posted();
  const other = await posted();
  const gate = Promise.withResolvers<void>();
  const alone = Promise.withResolvers<void>();
  let groups = 0;
  const db: Database = {
    ...market.db,
    pipelined: async (work) => {
      groups += 1;
      if (groups === 1) throw failed('40001');
      return market.db.pipelined(work);
    },
    transaction: async (work) => {
      alone.resolve();
      await gate.promise;
      return market.db.transaction(work);
    },
  };
  const quotes = createGroupedQuotes({ ...market.deps, db });
  const [by, second] = makers;
  const first = [by, second].map((maker) => quotes(quoteBy(maker, rfqId, 1_000n)));
  const later = quotes(quoteBy(by, rfqId, 2_000n));
  await alone.promise;
  await quotes(quoteBy(by, other, 1_000n));
  assert.equal(groups, 2);
  gate.resolve();
  const [{ thread }] = await Promise.all([first[0]!, later, ...first]);
  const { body } = await by.get(`/v1/threads/${thread.id}`);
  assert.deepEqual([body.quoteAmount, body.messages.length, groups], ['2000', 2, 3]);
});
