// Waits that end while several processes look for them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { insertAccount } from '../db/accounts.ts';
import { insertPayout, takeCounted } from '../db/payouts.ts';
import { passHolds } from './passing.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

const sql = (text: string, ...values: unknown[]) => database.db.rows({ name: '', text, values });

test('the end of a wait is told once, by whoever takes the choice that it ends with', async () => {
  const { db } = database;
  const deps = testDeps({ db });
  deps.freeze();
  const at = new Date(deps.now());
  const id = randomUUID();
  const accountId = randomUUID();
  const address = '0xd0';
  await insertAccount(db, { id: accountId, kind: 'browser', createdAt: at });
  await sql(
    `insert into wallets (account_id, family, address, standing, web, proven_at, waits_until)
      values ($1, 'evm', $2, 'proven', true, $3, $3)`,
    accountId,
    address,
    at,
  );
  const choice = { id, accountId, family: 'evm', address, askedAt: at, fromAt: at } as const;
  await insertPayout(db, { ...choice, told: false });
  const first = db.transaction(async (tx) => {
    assert.equal((await takeCounted(tx, at, 10)).length, 1);
    assert.equal(await passHolds(deps), 0, 'another process leaves its wallet alone');
    throw new Error('it ends here');
  });
  await assert.rejects(first, /ends here/);
  assert.equal(await passHolds(deps), 1);
  assert.equal(await passHolds(deps), 0);
  const told = await sql(`select payload->>'paid' as paid from outbox`);
  assert.deepEqual(told, [{ paid: 'true' }]);
});
