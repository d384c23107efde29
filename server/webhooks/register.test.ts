// Secrets of webhooks, sealed anew when the server's key is replaced.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { keyringFrom } from '../ports/keyring.ts';
import { insertAccount } from '../settle/testing/account.ts';
import { resealBatch, resealSecrets } from './register.ts';

const aKey = () => randomBytes(32).toString('hex');

/** So many secrets under a key, each its own number, behind those that are there. */
async function keepMany(deps: TestDeps, accountId: string, key: string, from: number, to: number) {
  const keyring = keyringFrom(key);
  const numbers = Array.from({ length: to - from }, (_, at) => from + at);
  const sealed = numbers.map((at) => keyring.encrypt(Buffer.from(`${at}`)));
  await deps.db.rows({
    name: 'test_keep_many',
    text: `insert into webhooks
        (id, account_id, url, events, secret, secret_version, enabled, created_at)
      select lpad(at::text, 32, '0')::uuid, $1, '', '{}', secret, $4, true, now()
      from unnest($2::int[], $3::bytea[]) as each (at, secret)`,
    values: [accountId, numbers, sealed.map((each) => each.sealed), sealed[0]?.version],
  });
}

/** What a server with this key alone can open. */
async function openedBy(deps: TestDeps, key: string): Promise<number[]> {
  const keyring = keyringFrom(key);
  const rows = await deps.db.rows<{ secret: Buffer; version: number }>({
    name: 'test_kept',
    text: 'select secret, secret_version as version from webhooks order by id',
    values: [],
  });
  return rows.flatMap(({ version, secret }) => {
    const plain = keyring.decrypt(version, secret);
    return plain === null ? [] : [Number(plain.toString())];
  });
}

test('however many secrets no key opens, those behind them are sealed anew', async () => {
  const database = await testDatabase();
  try {
    const [lost, old, fresh] = [aKey(), aKey(), aKey()];
    const deps = testDeps({ db: database.db, settings: { encryptionKey: `${fresh},${old}` } });
    const { accountId } = await insertAccount(deps, []);
    const [first, last] = [resealBatch + 1, 2 * resealBatch + 2];
    await keepMany(deps, accountId, lost, 1, first);
    await keepMany(deps, accountId, old, first, last);
    const warned: unknown[] = [];
    const log = {
      ...deps.log,
      warn: (facts: unknown) => void warned.push(facts),
    } as typeof deps.log;
    await resealSecrets({ ...deps, log });
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => from + at);
    assert.deepEqual(await openedBy(deps, fresh), numbers(first, last));
    assert.deepEqual(await openedBy(deps, old), []);
    assert.deepEqual(await openedBy(deps, lost), numbers(1, first), 'left as they were');
    assert.deepEqual(warned, [{ webhooks: resealBatch }]);
  } finally {
    await database.drop();
  }
});
