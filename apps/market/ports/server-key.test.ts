// The key that the processes of one database share.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import type { Tx } from '../db/database.ts';
import { mustHoldServerKey } from './server-key.ts';

const old = randomBytes(32).toString('hex');
const fresh = randomBytes(32).toString('hex');
let database: TestDatabase;

beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

const start = (encryptionKey: string, db: Tx = database.db) =>
  mustHoldServerKey({ db, settings: { home: '', encryptionKey } });
const refused = (encryptionKey: string) =>
  assert.rejects(start(encryptionKey), /^Error: PARLEY_ENCRYPTION_KEY: .* sealed with another key/);

test('a process with another key than the others is refused, and changes nothing', async () => {
  await start(old);
  await refused(fresh);
  await refused(fresh);
  await start(Buffer.from(old, 'hex').toString('base64'));
});

test('a key is replaced step by step, and each process holds the key of the last start', async () => {
  await start(old);
  await start(`${old},${fresh}`);
  await start(old);
  // The others still seal with the old key.
  await refused(fresh);
  await start(`${fresh},${old}`);
  await refused(old);
  await start(`${old},${fresh}`);
  await start(`${fresh},${old}`);
  await start(fresh);
  await start(fresh);
  await refused(old);
});

test('one of two first starts at once with two keys is refused', async () => {
  const text = 'select 1 from pg_locks where not granted';
  let later = Promise.resolve();
  await database.db.transaction(async (tx) => {
    await start(old, tx);
    later = refused(fresh);
    await waitUntil(async () => (await tx.rows({ name: '', text, values: [] })).length > 0);
  });
  await later;
});

test('the database has neither the key nor its name in sealed rows', async () => {
  await start(old);
  const text = 'select * from server_key';
  const [row] = await database.db.rows({ name: '', text, values: [] });
  assert.deepEqual(Object.keys(row as object), ['one', 'digest']);
  assert.match(String((row as { digest: string }).digest), /^[0-9a-f]{64}$/);
  assert.ok(!JSON.stringify(row).includes(old));
});
