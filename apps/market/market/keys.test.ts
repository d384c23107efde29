// Keys in the database: how many live, what they are, how they end, and who is notified.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { insertAccount } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { findLiveKeys } from '../db/keys.ts';
import { uuidv7 } from '../ports/ids.ts';
import { base62, createKey, type MintedKey, mostBrowserKeys } from './keys.ts';
import { untilBlocked } from './testing/blocked.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase({ connections: 16 });
  deps = testDeps({ db: database.db });
  deps.freeze();
});
after(() => database.drop());

async function newAccount(kind: 'wallet' | 'browser'): Promise<string> {
  const id = uuidv7(deps.now(), deps.randomBytes);
  await insertAccount(database.db, { id, kind, createdAt: new Date(deps.now()) });
  return id;
}

const made = { madeBy: 'evm:0x00' };
const mint = (accountId: string, over: Partial<TestDeps['settings']> = {}): Promise<MintedKey> => {
  const settings = { ...deps.settings, ...over };
  return database.db.transaction((tx) =>
    createKey(
      tx,
      { ...deps, settings },
      { ...made, accountId, name: 'desk', scopes: ['read', 'maker'] },
    ),
  );
};

const live = async (key: string) => {
  const hash = createHash('sha256').update(key).digest();
  return (await findLiveKeys(database.db, [hash], new Date(deps.now())))[0] ?? null;
};

async function liveKeys(accountId: string): Promise<number> {
  const rows = await database.db.rows({
    name: 'test_live',
    text: 'select 1 as one from api_keys where account_id = $1 and revoked_at is null',
    values: [accountId],
  });
  return rows.length;
}

/** Runs `work` so that all of it waits for the account first, and then goes at once. */
async function atOnce<R>(accountId: string, works: readonly (() => Promise<R>)[]) {
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = database.db.transaction(async (tx: Tx) => {
    const text = 'select 1 as one from accounts where id = $1 for update';
    await tx.rows({ name: 'test_hold', text, values: [accountId] });
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const running = Promise.allSettled(works.map((work) => work()));
  await untilBlocked(database.db, works.length);
  release.resolve();
  await holding;
  return running;
}

test('a browser account that mints many keys at once gets its ten and no more', async () => {
  const accountId = await newAccount('browser');
  for (let count = 0; count < mostBrowserKeys - 3; count += 1) await mint(accountId);
  const outcomes = await atOnce(
    accountId,
    Array.from({ length: 9 }, () => () => mint(accountId)),
  );
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.deepEqual(
    refused.map(({ code }) => code),
    Array(6).fill('too_many_keys'),
  );
  assert.equal(await liveKeys(accountId), mostBrowserKeys);
});

test('a key lives 90 days to the millisecond; an expired one is neither counted nor replaced', async () => {
  const accountId = await newAccount('wallet');
  const { key, expiresAt } = await mint(accountId);
  assert.equal(expiresAt.getTime() - deps.now(), 90 * 86_400_000);
  deps.advance(90 * 86_400_000 - 1);
  assert.notEqual(await live(key), null);
  deps.advance(1);
  assert.equal(await live(key), null);
  assert.equal((await mint(accountId)).replaced, false);
});

test('a key is its deployment, its network and 32 random bytes in base62', async () => {
  const accountId = await newAccount('wallet');
  assert.match((await mint(accountId)).key, /^parley_test_[0-9A-Za-z]{43}$/);
  assert.match((await mint(accountId, { network: 'testnet' })).key, /^parley_test_/);
  const { key, prefix } = await mint(accountId, { network: 'mainnet', shortName: 'acme' });
  assert.match(key, /^acme_live_[0-9A-Za-z]{43}$/);
  assert.equal(prefix, key.slice(0, 'acme_live_'.length + 6));
  assert.equal(base62(new Uint8Array(32)), '0'.repeat(43));
  assert.equal(base62(new Uint8Array(32).fill(255)).length, 43);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const bytes = randomBytes(32);
  const value = [...base62(bytes)].reduce((sum, c) => sum * 62n + BigInt(digits.indexOf(c)), 0n);
  assert.equal(value, BigInt(`0x${bytes.toString('hex')}`));
});

async function announced(accountId: string): Promise<Record<string, unknown>[]> {
  const rows = await database.db.rows<{ topic: string; payload: Record<string, unknown> }>({
    name: 'test_announced',
    text: 'select topic, payload from outbox where account_id = $1 order by id',
    values: [accountId],
  });
  for (const { topic } of rows) assert.equal(topic, 'key.created');
  return rows.map(({ payload }) => payload);
}

test('a new key is announced in the transaction that makes it, and never shown', async () => {
  const accountId = await newAccount('browser');
  const { id: keyId, prefix, expiresAt, key } = await mint(accountId);
  const [told, ...more] = await announced(accountId);
  assert.deepEqual(more, []);
  assert.deepEqual(told, {
    keyId,
    prefix,
    name: 'desk',
    scopes: ['read', 'maker'],
    expiresAt: expiresAt.toISOString(),
  });
  assert.ok(!JSON.stringify(told).includes(key.slice(prefix.length)));
  const undone = database.db.transaction(async (tx) => {
    await createKey(tx, deps, { ...made, accountId, name: null, scopes: ['read'] });
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  assert.equal((await announced(accountId)).length, 1);
});
