// Where a stored reply is kept, and how much room an account's may take.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { upsertReply } from '../db/idempotency.ts';
import { insertAccount } from '../settle/testing/account.ts';
import { mostKeptRefusals, mostReplyBytes } from './bounds.ts';
import { findReply, type Slot, storeReply } from './idempotency.ts';

let database: TestDatabase;
let deps: TestDeps;
let accountId: string;
before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  ({ accountId } = await insertAccount(deps, []));
});
after(() => database.drop());

const slotAt = (path: string, key = 'k'): Slot => ({
  accountId,
  method: 'POST',
  path,
  key,
  bodyHash: Buffer.alloc(32),
});

const store = (slot: Slot, status: number, body: unknown = { run: 1 }) =>
  database.db.transaction((tx) => storeReply(deps, tx, slot, { status, body, code: null }, false));
const found = (slot: Slot) => findReply(deps, database.db, slot);

test('a slot takes little room however long its path and key are, and is no other', async () => {
  for (const length of [1, 200, 100_000]) {
    const path = `/v1/${'x'.repeat(length)}`;
    const key = 'y'.repeat(255);
    await store(slotAt(path, key), 201);
    assert.deepEqual(await found(slotAt(path, key)), { status: 201, body: { run: 1 }, code: null });
    assert.equal(await found(slotAt(`${path.slice(0, -1)}y`, key)), null);
    assert.equal(await found(slotAt(path, key.slice(1))), null);
    assert.equal(await found({ ...slotAt(path, key), method: 'DELETE' }), null);
  }
  const text = 'select max(length(method || path || key)) as longest from idempotency';
  assert.deepEqual(await database.db.rows({ name: 'test_longest', text, values: [] }), [
    { longest: 43 },
  ]);
});

test('what the version before stored is found, its long paths too', async () => {
  const long = `/v1/${'z'.repeat(300)}`;
  const hashed = `sha256:${createHash('sha256').update(long).digest('hex')}`;
  for (const [path, stored] of [
    ['/v1/former', '/v1/former'],
    [long, hashed],
  ] as const) {
    const former = { accountId, method: 'POST', path: stored, key: 'raw' };
    const reply = Buffer.from(JSON.stringify({ body: { former: true }, code: null }));
    const row = { bodyHash: Buffer.alloc(32), status: 200, reply, keyVersion: null };
    await upsertReply(database.db, former, row, new Date(deps.now()));
    const read = await found(slotAt(path, 'raw'));
    assert.deepEqual(read, { status: 200, body: { former: true }, code: null });
  }
});

test('a reply above 32 KiB is not kept: it is a build, which is made anew', async () => {
  const body = (bytes: number) =>
    'x'.repeat(bytes - JSON.stringify({ code: null, body: '' }).length);
  await store(slotAt('/v1/largest'), 200, body(mostReplyBytes));
  assert.notEqual(await found(slotAt('/v1/largest')), null);
  await store(slotAt('/v1/larger'), 200, body(mostReplyBytes + 1));
  assert.equal(await found(slotAt('/v1/larger')), null);
});

test('refusals of an account are kept up to a number a day, and what succeeded always', async () => {
  deps.freeze(Date.UTC(2030, 0, 1, 23));
  await database.db.rows({
    name: 'test_count',
    text: `insert into kept_refusals values ($1, '2030-01-01', $2)`,
    values: [accountId, mostKeptRefusals - 1],
  });
  for (const [path, status, kept] of [
    ['/v1/last', 400, true],
    ['/v1/beyond', 400, false],
    ['/v1/fault', 500, false],
    ['/v1/success', 201, true],
  ] as const) {
    await store(slotAt(path), status);
    assert.equal((await found(slotAt(path))) !== null, kept, path);
  }
  deps.advance(3_600_000);
  await store(slotAt('/v1/beyond'), 400);
  assert.notEqual(await found(slotAt('/v1/beyond')), null);
});
