// Secrets of webhooks: encrypted, and sealed anew when the server's key is replaced.

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testDeps } from '../../test/support/deps.ts';
import { keyringFrom } from '../ports/keyring.ts';
import { resealBatch, resealSecrets } from './register.ts';
import { webhookMarket } from './testing/market.ts';

const { at, rows, account, owner, agreed, delivering } = webhookMarket();
const aKey = () => randomBytes(32).toString('hex');
const under = (encryptionKey: string) =>
  testDeps({ db: at.deps.db, settings: { ...at.deps.settings, encryptionKey } });
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** So many secrets under a key, each its own number, behind those that are there. */
async function keepMany(accountId: string, key: string, wanted: number[]) {
  const keyring = keyringFrom(key);
  const sealed = wanted.map((each) => keyring.encrypt(Buffer.from(`${each}`)));
  await rows(
    `insert into webhooks (id, account_id, url, events, secret, secret_version, enabled, created_at)
      select lpad(at::text, 32, '0')::uuid, $1, '', '{}', secret, $4, true, now()
      from unnest($2::int[], $3::bytea[]) as each (at, secret)`,
    accountId,
    wanted,
    sealed.map((each) => each.sealed),
    sealed[0]?.version,
  );
}

/** What a server with this key alone can open. */
async function openedBy(key: string): Promise<number[]> {
  const keyring = keyringFrom(key);
  const kept = await rows<{ secret: Buffer; version: number }>(
    'select secret, secret_version as version from webhooks order by id',
  );
  return kept.flatMap(({ version, secret }) => {
    const plain = keyring.decrypt(version, secret);
    return plain === null ? [] : [Number(plain.toString())];
  });
}

test('however many secrets no key opens, those behind them are sealed anew', async () => {
  const [lost, old, fresh] = [aKey(), aKey(), aKey()];
  const accountId = await account();
  const [first, last] = [resealBatch + 1, 2 * resealBatch + 2];
  await keepMany(accountId, lost, numbers(1, first));
  await keepMany(accountId, old, numbers(first, last));
  const warned: unknown[] = [];
  const deps = under(`${fresh},${old}`);
  const warn = (facts: unknown) => void warned.push(facts);
  await resealSecrets({ ...deps, log: { ...deps.log, warn } as typeof deps.log });
  assert.deepEqual(await openedBy(fresh), numbers(first, last));
  assert.deepEqual(await openedBy(old), []);
  assert.deepEqual(await openedBy(lost), numbers(1, first), 'left as they were');
  assert.deepEqual(warned, [{ webhooks: resealBatch }]);
});

test('a secret is encrypted, and signs as before once the server’s key was replaced, whoever held its row', async () => {
  const [old, fresh] = [aKey(), aKey()];
  at.deps = under(old);
  const { accountId, secret } = await owner();
  const [kept] = await rows<{ secret: Buffer }>('select secret from webhooks');
  assert.ok(kept && !kept.secret.includes(secret.slice(6, 20)));
  let resealing: Promise<void> | undefined;
  await at.deps.db.transaction(async (tx) => {
    await tx.rows({ name: 'test_hold', text: 'select id from webhooks for update', values: [] });
    // Waits until this one, which holds the row, lets go.
    resealing = resealSecrets(under(`${fresh},${old}`));
    await Promise.race([resealing, sleep(300)]);
  });
  await resealing;
  at.deps = under(fresh);
  await agreed(accountId);
  const { sent, pass } = delivering();
  await pass();
  const { headers, body } = sent[0] ?? { headers: {}, body: '' };
  const text = `${(headers as Record<string, string>)['x-parley-timestamp']}.${body}`;
  const mac = createHmac('sha256', secret).update(text).digest('hex');
  assert.equal((headers as Record<string, string>)['x-parley-signature'], `sha256=${mac}`);
});
