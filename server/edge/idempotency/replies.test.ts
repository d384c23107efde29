// Where a stored reply is kept, and how much room an account's may take.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../../test/support/deps.ts';
import { keepReply } from '../../db/idempotency.ts';
import { mostKeptRefusals, mostReplyBytes, replyRowBytes } from '../../market/bounds.ts';
import { insertAccount } from '../../settle/testing/account.ts';
import { findReply, mostKeptBytes, type Slot, storeReply } from './replies.ts';

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

const store = (slot: Slot, status: number, body: unknown = { run: 1 }, always = false) => {
  const reply = { status, body, code: null };
  const how = { secret: false, always };
  return database.db.transaction((tx) => storeReply(deps, tx, slot, reply, how));
};
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
    const most = { refusals: 0, bytes: 0 };
    const charge = { day: '2020-01-01', refusals: 0, bytes: 0, most };
    await keepReply(database.db, former, row, new Date(deps.now()), charge);
    const read = await found(slotAt(path, 'raw'));
    assert.deepEqual(read, { status: 200, body: { former: true }, code: null });
  }
});

test('of two answers, one by the version before, the first is given', async () => {
  const most = { refusals: 0, bytes: 0 };
  const charge = { day: '2020-01-01', refusals: 0, bytes: 0, most };
  for (const [path, late] of [
    ['/v1/former-first', -1],
    ['/v1/former-last', 1],
  ] as const) {
    await store(slotAt(path), 201);
    const former = { accountId, method: 'POST', path, key: 'k' };
    const reply = Buffer.from(JSON.stringify({ body: { run: 1 }, code: null }));
    const row = { bodyHash: Buffer.alloc(32), status: 200, reply, keyVersion: null };
    await keepReply(database.db, former, row, new Date(deps.now() + late * 60_000), charge);
    const read = (await found(slotAt(path))) as { status: number };
    assert.equal(read.status, late < 0 ? 200 : 201);
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

test('refusals of an account are kept up to a number a day, whatever succeeds meanwhile', async () => {
  deps.freeze(Date.UTC(2030, 0, 1, 23));
  await database.db.rows({
    name: 'test_count',
    text: `insert into kept_replies (account_id, day, refusals) values ($1, '2030-01-01', $2)`,
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

test('what succeeded is kept up to so many bytes a day, and what is kept always takes none', async () => {
  deps.freeze(Date.UTC(2030, 5, 1, 23));
  const body = { run: 2 };
  const each = JSON.stringify({ code: null, body }).length + replyRowBytes;
  const fill = (left: number) =>
    database.db.rows({
      name: 'test_fill',
      text: `insert into kept_replies (account_id, day, refusals, bytes)
        values ($1, '2030-06-01', 0, $2)
        on conflict (account_id, day) do update set bytes = excluded.bytes`,
      values: [accountId, mostKeptBytes(deps.settings) - left],
    });
  await fill(2 * each - 1);
  assert.equal(await store(slotAt('/v1/fits'), 201, body), true);
  assert.equal(await store(slotAt('/v1/fits-not'), 201, body), false);
  assert.equal(await found(slotAt('/v1/fits-not')), null);
  assert.equal(await store(slotAt('/v1/always'), 201, body, true), true);
  assert.notEqual(await found(slotAt('/v1/always')), null);
  assert.equal(await store(slotAt('/v1/no'), 400), true);
  assert.notEqual(await found(slotAt('/v1/no')), null);
  await fill(each);
  assert.equal(await store(slotAt('/v1/exactly'), 201, body), true);
  deps.advance(3_600_000);
  assert.equal(await store(slotAt('/v1/fits-not'), 201, body), true);
});

test('a long reply is packed: a thread of a hundred prices takes a third of its length', async () => {
  const messages = Array.from({ length: 100 }, (_, at) => ({
    by: at % 2 === 0 ? 'maker' : 'taker',
    quoteAmount: String(10 ** 9 + at * 7919),
    at: new Date(deps.now() + at * 61_037).toISOString(),
  }));
  await store(slotAt('/v1/long'), 200, { messages });
  const text = 'select max(length(reply)) as longest from idempotency where status = 200';
  const [row] = await database.db.rows<{ longest: number }>({
    name: 'test_packed',
    text,
    values: [],
  });
  assert.ok((row?.longest ?? 0) < JSON.stringify({ messages }).length / 3, `${row?.longest}`);
  assert.deepEqual(((await found(slotAt('/v1/long'))) as { body: unknown }).body, { messages });
});
