// The effect of age on stored rows, on both sides of each boundary.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { Statement } from '../db/database.ts';
import { findReplyRow, keepReply } from '../db/idempotency.ts';
import { agreedSwaps } from '../doctor/testing/agreed.ts';
import { prune } from './prune.ts';
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

const slotNamed = (key: string) => ({ accountId: '0193b5a0-0000-7000-8000-000000000000', key });
const someReply = {
  bodyHash: Buffer.alloc(32),
  status: 200,
  reply: Buffer.from('{}'),
  keyVersion: null,
};
const free = { day: '2030-01-01', refusals: 0, bytes: 0, most: { refusals: 0, bytes: 0 } };

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
  const kept = await findReplyRow(db, slot, new Date(deps.now() - day));
  assert.equal(kept?.status, 201);
});

test('what ended with nothing at stake goes after 30 days, and its hashlocks stay', async () => {
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
