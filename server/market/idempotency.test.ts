// Where a stored reply is kept.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { insertAccount } from '../settle/testing/account.ts';
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

const slotAt = (path: string): Slot => ({
  accountId,
  method: 'POST',
  path,
  key: 'k',
  bodyHash: Buffer.alloc(32),
});

async function storedPath(): Promise<string> {
  const text = 'select path from idempotency';
  const [row] = await database.db.rows<{ path: string }>({ name: 'test_path', text, values: [] });
  return row?.path ?? '';
}

test('a path of 200 characters is stored as it is, a longer one by its digest, and found again', async () => {
  const body = { run: 1 };
  for (const [length, stored] of [
    [200, /^\/v1\/x{196}$/],
    [201, /^sha256:[0-9a-f]{64}$/],
    [100_000, /^sha256:[0-9a-f]{64}$/],
  ] as const) {
    await database.db.rows({ name: 'test_clear', text: 'delete from idempotency', values: [] });
    const path = `/v1/${'x'.repeat(length - 4)}`;
    const reply = { status: 201, body, code: null };
    await database.db.transaction((tx) => storeReply(deps, tx, slotAt(path), reply, false));
    assert.match(await storedPath(), stored);
    assert.deepEqual(await findReply(deps, database.db, slotAt(path)), reply);
    const other = slotAt(`${path.slice(0, -1)}y`);
    assert.equal(await findReply(deps, database.db, other), null);
  }
});
