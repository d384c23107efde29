// The effect of age on stored rows, on both sides of each boundary.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { Statement } from '../db/database.ts';
import { findReplyRow, keepReply } from '../db/idempotency.ts';
import { insertOutbox } from '../db/outbox.ts';
import { agreedSwaps } from '../doctor/testing/agreed.ts';
import { createPruning, prune } from './prune.ts';
import { untilBlocked } from './testing/blocked.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  deps.freeze();
});
after(() => database.drop());

const day = 86_400_000;

const sql = <T extends object>(text: string, ...values: unknown[]) =>
  database.db.rows<T>({ name: '', text, values });

const outboxTopics = async () =>
  (await sql<{ topic: string }>('select distinct topic from outbox order by topic')).map(
    ({ topic }) => topic,
  );

test('a database that takes seconds a batch keeps no pass for longer than one may take', async () => {
  let ms = 0;
  const asked = new Map<string, number>();
  const rows = async <Row>({ name }: Statement) => {
    ms += 9_999;
    asked.set(name, (asked.get(name) ?? 0) + 1);
    return Array.from({ length: 500 }, () => ({})) as Row[];
  };
  await prune({ now: deps.now, db: { ...database.db, rows } }, () => ms);
  assert.ok(ms < 600_000, `${ms}`);
  assert.equal(asked.get('outbox_prune'), 2);
});

test('events are kept for seven days and dropped after, however many there are', async () => {
  const at = new Date(deps.now());
  const event = { accountId: null, payload: { some: 'thing' }, at };
  const old = Array.from({ length: 1_201 }, () => ({ ...event, topic: 'old' }));
  await insertOutbox(database.db, old);
  await insertOutbox(database.db, [{ ...event, topic: 'new', at: new Date(at.getTime() + 1) }]);
  deps.advance(7 * day);
  assert.equal((await prune(deps)).outbox, 0);
  deps.advance(1);
  assert.equal((await prune(deps)).outbox, 1_201);
  assert.deepEqual(await outboxTopics(), ['new']);
});

test('no events are no statement, and what was written is what is read', async () => {
  await insertOutbox(database.db, []);
  const payload = { text: 'quotes " and \\ and {braces}', deep: { list: [1, null] } };
  await insertOutbox(database.db, [
    { topic: 'exact', accountId: null, payload, at: new Date(deps.now()) },
  ]);
  const rows = await sql(`select payload, created_at from outbox where topic = 'exact'`);
  assert.deepEqual(rows, [{ payload, created_at: new Date(deps.now()) }]);
});

test('it is known for 30 days that a job was given up, and of one that waits for ever', async () => {
  const at = new Date(deps.now());
  for (const [id, gaveUpAt] of [
    ['given up', at],
    ['waits', null],
  ]) {
    await sql(
      `insert into jobs (id, kind, about, due_at, made_at, gave_up_at)
        values ($1, 'code', '{}', $2, $2, $3)`,
      id,
      at,
      gaveUpAt,
    );
  }
  deps.advance(30 * day);
  assert.equal((await prune(deps)).jobs, 0);
  deps.advance(1);
  assert.equal((await prune(deps)).jobs, 1);
  assert.deepEqual(await sql('delete from jobs returning id'), [{ id: 'waits' }]);
});

const slotNamed = (key: string) => ({
  accountId: '0193b5a0-0000-7000-8000-000000000000',
  method: 'POST',
  path: '/v1/any',
  key,
});
const someReply = {
  bodyHash: Buffer.alloc(32),
  status: 200,
  reply: Buffer.from('{}'),
  keyVersion: null,
};
const free = { day: '2030-01-01', refusals: 0, bytes: 0, most: { refusals: 0, bytes: 0 } };

test('stored replies go after 24 hours and a minute, however many there are', async () => {
  const { db } = database;
  await sql(
    `insert into idempotency (account_id, method, path, key, body_hash, status, reply,
        created_at)
      select '0193b5a0-0000-7000-8000-000000000000', 'POST', '/v1/any', 'old-' || n,
        decode(repeat('00', 32), 'hex'), 200, '{}', $1
      from generate_series(1, 10501) n`,
    new Date(deps.now()),
  );
  await keepReply(db, slotNamed('new'), someReply, new Date(deps.now() + 1), free);
  deps.advance(day + 60_000 - 1);
  assert.equal((await prune(deps)).replies, 0);
  deps.advance(1);
  // A pass is bounded; the rest waits for the next one.
  assert.equal((await prune(deps)).replies, 10_000);
  assert.equal((await prune(deps)).replies, 501);
  assert.deepEqual(await sql('select key from idempotency'), [{ key: 'new' }]);
});

test('a reply stored while the expired one in its place is being swept stays', async () => {
  const { db } = database;
  const slot = slotNamed('again');
  await keepReply(db, slot, someReply, new Date(deps.now()), free);
  deps.advance(2 * day);
  const written = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const storing = db.transaction(async (tx) => {
    const other = { ...someReply, status: 201 };
    await keepReply(tx, slot, other, new Date(deps.now()), free);
    written.resolve();
    await release.promise;
  });
  await written.promise;
  const sweeping = prune(deps);
  await untilBlocked(db, 1);
  release.resolve();
  await storing;
  await sweeping;
  const kept = await findReplyRow(db, slot, slot, new Date(deps.now() - day));
  assert.equal(kept?.status, 201);
});

test('the sweep finds the oldest by an index, not by reading all', async () => {
  const [plan] = await sql(`explain (format json) select ctid from idempotency
    where created_at <= now() order by created_at limit 500`);
  assert.match(JSON.stringify(plan), /idempotency_by_age/);
});

test('pruning starts at once and stops when told to', async () => {
  deps.advance(8 * day);
  const pruning = createPruning(deps);
  pruning.start();
  for (let tries = 0; tries < 200 && (await outboxTopics()).length > 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(await outboxTopics(), []);
  await pruning.stop();
});

test('a swap that ended with nothing at stake goes after 30 days, and its hashlocks stay', async () => {
  const { db } = database;
  const [unfunded, funded, open, onBitcoin] = await agreedSwaps(db, 4);
  const at = new Date(deps.now());
  // The RFQ of the swap that goes ends later than the swap.
  await sql(
    `update rfqs r set expires_at = $1::timestamptz + case s.id when $2 then 60 else 0 end
        * interval '1 second' from swaps s where s.rfq_id = r.id`,
    at,
    unfunded,
  );
  await sql(
    `update swaps set done = true, status = 'expired', expires_at = $1 where id <> $2`,
    Math.floor(at.getTime() / 1_000),
    open,
  );
  await sql('update legs set timelock = $1', Math.floor(at.getTime() / 1_000));
  await sql(`update escrows set facts = facts || '{"balance":"1"}' where swap_id = $1`, funded);
  await sql(`update escrows set redeem_script = '51' where leg = 'a' and swap_id = $1`, onBitcoin);
  // One that nobody quoted, and one that was quoted and came to nothing.
  await sql(`insert into rfqs select gen_random_uuid(), creator_id, direction, base_asset_id,
      base_amount, quote_asset_id, visibility, ask_amount, target_address, ended, created_at,
      expires_at, updated_at
    from rfqs r, unnest(array['cancelled', 'expired']) ended where r.id =
      (select rfq_id from swaps where id = '${open}')`);
  await sql(`insert into threads select gen_random_uuid(), r.id, maker_id, taker_id, 'closed',
      quote_amount, proposed_by, null, null, null, messages, t.created_at, t.updated_at
    from rfqs r, threads t where r.status = 'expired' limit 1`);
  const count = async (table: string) => (await sql(`select 1 as id from ${table}`)).length;
  const all = async () => [await count('rfqs'), await count('threads'), await count('swaps')];
  assert.deepEqual(await all(), [6, 5, 4]);
  deps.freeze(at.getTime() + 30 * day);
  await prune(deps);
  assert.deepEqual(await all(), [6, 5, 4]);
  deps.advance(1_000);
  const pruned = async () => {
    const { rfqs, threads, swaps, swapsThatStay } = await prune(deps);
    return [rfqs, threads, swaps, swapsThatStay];
  };
  assert.deepEqual(await pruned(), [2, 1, 1, 2]);
  assert.deepEqual(await sql('select id from swaps where id = $1', unfunded), []);
  const left = await sql('select status as id from rfqs where swap_pruned');
  assert.deepEqual(left, [{ id: 'agreed' }]);
  deps.advance(60_000);
  assert.deepEqual(await pruned(), [1, 1, 0, 0]);
  assert.deepEqual(await all(), [3, 3, 3]);
  assert.equal(await count('hashlocks'), 4);
});

test('a pass walks no swap again that is never pruned', async (t) => {
  const { db, drop } = await testDatabase();
  t.after(drop);
  const ids = await agreedSwaps(db, 20);
  const at = Math.floor(deps.now() / 1_000) - 40 * 86_400;
  const update = (text: string) => db.rows({ name: '', text, values: [ids] });
  await update(
    `update swaps set done = true, status = 'expired', expires_at = ${at} where id = any($1)`,
  );
  await update(`update legs set timelock = ${at} where swap_id = any($1)`);
  await update(`update escrows set redeem_script = '51' where leg = 'a' and swap_id = any($1)`);
  const walked = async () => {
    const [plan] = await db.rows({
      name: 'test_walked',
      text: `explain (analyze, format json) select id from swaps
        where done and status = 'expired' and not stays and expires_at < $1`,
      values: [at + 1],
    });
    const text = JSON.stringify(plan);
    assert.match(text, /swaps_unfunded/);
    return Number(/"Actual Rows":(\d+)/.exec(text)?.[1]);
  };
  assert.equal(await walked(), 20);
  const { swaps, swapsThatStay } = await prune({ ...deps, db });
  assert.deepEqual([swaps, swapsThatStay], [0, 20]);
  assert.equal(await walked(), 0);
});
