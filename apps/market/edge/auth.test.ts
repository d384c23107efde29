// Remembered keys. The database is wrapped to force the order of a look-up and a revocation.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Tx } from '../db/database.ts';
import { createKeys, keyOf } from './auth.ts';
import { testEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

const edge = await testEdge();

const madeUp = (at: number) => `parley_test_${String(at).padStart(43, 'u')}`;

/** Keys whose next look-up waits, with its answer read, until `release`. */
function held(isListening: () => boolean = () => true) {
  const { db } = edge.deps;
  const read = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let lookUps = 0;
  const rows: Tx['rows'] = async (statement) => {
    lookUps += 1;
    const found = await db.rows(statement);
    read.resolve();
    await gate.promise;
    return found as never;
  };
  const keys = createKeys({ ...edge.deps, db: { ...db, rows } }, isListening);
  return { keys, read: read.promise, release: gate.resolve, lookUps: () => lookUps };
}

test('a key looked up is remembered, and forgotten with its account', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, release } = held();
  release();
  assert.equal(keys.known(body.key), undefined);
  const caller = await keys.find(body.key);
  assert.deepEqual(caller?.scopes, ['read', 'taker', 'maker']);
  assert.deepEqual(keys.known(body.key), caller);
  keys.forget(caller?.accountId ?? '');
  assert.equal(keys.known(body.key), undefined);
});

test('a look-up before a revocation is not remembered after it, nor that a key is none', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, read, release } = held();
  const asked = [body.key, madeUp(0)].map((each) => keys.find(each));
  await read;
  keys.forget('anyone');
  release();
  await Promise.all(asked);
  for (const each of [body.key, madeUp(0)]) {
    assert.equal(keys.known(each), undefined);
    await keys.find(each);
    assert.notEqual(keys.known(each), undefined);
  }
  // Any revocation has the keys that were none looked up again.
  keys.forget('anyone');
  assert.equal(keys.known(madeUp(0)), undefined);
});

test('no look-up is remembered while revocations are not heard of, nor those asked before', async () => {
  const { body } = await edge.mint(evmWallet());
  let listening = false;
  const { keys, release } = held(() => listening);
  release();
  assert.notEqual(await keys.find(body.key), null);
  await keys.find(madeUp(0));
  for (const each of [body.key, madeUp(0)]) assert.equal(keys.known(each), undefined);
  const asking = keys.find(body.key);
  listening = true;
  await asking;
  assert.equal(keys.known(body.key), undefined);
  await keys.find(body.key);
  assert.notEqual(keys.known(body.key), undefined);
  keys.forget(null);
  assert.equal(keys.known(body.key), undefined);
});

test('many requests of one key at once make one look-up', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, release, lookUps } = held();
  const all = Array.from({ length: 50 }, () => keys.find(body.key));
  release();
  assert.equal(new Set((await Promise.all(all)).map((each) => each?.keyId)).size, 1);
  assert.equal(lookUps(), 1);
});

test('a malformed key is refused without a look-up', () => {
  const { keys } = held();
  const strange = [`parley_live_${'a'.repeat(43)}`, `parley_test_${'_'.repeat(43)}`];
  for (const text of ['', 'x', `parley_test_${'a'.repeat(42)}`, ...strange]) {
    assert.equal(keys.known(text), null);
  }
});

test('a key, or that it is none, is remembered for a second, and looked up once more after it', async (context) => {
  const { body } = await edge.mint(evmWallet());
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const { keys, release } = held();
  release();
  for (const each of [body.key, madeUp(0)]) {
    now = 0;
    const found = await keys.find(each);
    now = 1_000;
    assert.deepEqual(keys.known(each), found);
    now = 1_001;
    assert.equal(keys.known(each), undefined);
  }
});

test('a thousand made-up keys at once are four queries and, after those, two', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, read, release, lookUps } = held();
  const all = Array.from({ length: 999 }, (_, at) => keys.find(madeUp(at)));
  const real = keys.find(body.key);
  await read;
  assert.equal(lookUps(), 4);
  release();
  assert.ok((await Promise.all(all)).every((each) => each === null));
  assert.notEqual(await real, null);
  assert.equal(lookUps(), 6);
});

test('a look-up that fails fails who waited for it, and nobody after them', async () => {
  const { body } = await edge.mint(evmWallet());
  const { db } = edge.deps;
  let fails = true;
  const rows: Tx['rows'] = (statement) =>
    fails ? Promise.reject(new Error('gone')) : db.rows(statement);
  const keys = createKeys({ ...edge.deps, db: { ...db, rows } }, () => true);
  const failed = Array.from({ length: 600 }, (_, at) => keys.find(madeUp(at)));
  for (const each of await Promise.allSettled(failed)) assert.equal(each.status, 'rejected');
  fails = false;
  assert.notEqual(await keys.find(body.key), null);
});

test('a bearer wins over X-Api-Key; another scheme does not', () => {
  assert.equal(keyOf({ authorization: 'Bearer a', 'x-api-key': 'b' }), 'a');
  assert.equal(keyOf({ authorization: 'Basic a', 'x-api-key': 'b' }), 'b');
  assert.equal(keyOf({}), null);
});

const most = 20_000;

/** Keys of a market where all those that begin like `keyOf` are live, and no others. */
function live() {
  const liveKeyOf = (at: number) => `parley_test_${String(at).padStart(43, 'k')}`;
  const wrongKeyOf = (at: number) => `parley_test_${String(at).padStart(43, 'w')}`;
  const hashes = new Set(
    Array.from({ length: most + 1 }, (_, at) => hash('sha256', liveKeyOf(at), 'hex')),
  );
  const row = {
    id: '0193f0a0-0000-7000-8000-000000000001',
    accountId: '0193f0a0-0000-7000-8000-000000000002',
    scopes: ['read'],
    expiresAt: new Date('2100-01-01'),
  };
  const rows: Tx['rows'] = async ({ values: [asked] }) =>
    (asked as Buffer[])
      .filter((each) => hashes.has(each.toString('hex')))
      .map((each) => ({ ...row, hash: each })) as never;
  const keys = createKeys({ ...edge.deps, db: { ...edge.deps.db, rows } }, () => true);
  return { keys, liveKeyOf, wrongKeyOf };
}

test('twenty thousand keys are remembered; one more, and the others are forgotten', async (context) => {
  // The clock stands still, so that a remembered key never gets too old.
  context.mock.method(performance, 'now', () => 0);
  const { keys, liveKeyOf } = live();
  for (let at = 0; at < most; at += 1) await keys.find(liveKeyOf(at));
  assert.ok(keys.known(liveKeyOf(0)) && keys.known(liveKeyOf(most - 1)));
  await keys.find(liveKeyOf(most));
  assert.ok(keys.known(liveKeyOf(most)));
  assert.equal(keys.known(liveKeyOf(0)), undefined);
});

test('as many wrong ones are remembered, and drive out no key', async (context) => {
  context.mock.method(performance, 'now', () => 0);
  const { keys, liveKeyOf, wrongKeyOf } = live();
  await keys.find(liveKeyOf(0));
  for (let at = 0; at < most; at += 1) await keys.find(wrongKeyOf(at));
  assert.deepEqual([keys.known(wrongKeyOf(0)), keys.known(wrongKeyOf(most - 1))], [null, null]);
  await keys.find(wrongKeyOf(most));
  assert.equal(keys.known(wrongKeyOf(most)), null);
  assert.equal(keys.known(wrongKeyOf(0)), undefined);
  assert.ok(keys.known(liveKeyOf(0)));
});
