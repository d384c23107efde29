// Remembered keys. The database is wrapped to force the order of a look-up and a revocation.

import assert from 'node:assert/strict';
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

test('a look-up before a revocation is not remembered after it', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, read, release } = held();
  const asked = keys.find(body.key);
  await read;
  keys.forget('anyone');
  release();
  await asked;
  assert.equal(keys.known(body.key), undefined);
  await keys.find(body.key);
  assert.notEqual(keys.known(body.key), undefined);
});

test('no look-up is remembered while revocations are not heard of, nor those asked before', async () => {
  const { body } = await edge.mint(evmWallet());
  let listening = false;
  const { keys, release } = held(() => listening);
  release();
  assert.notEqual(await keys.find(body.key), null);
  assert.equal(keys.known(body.key), undefined);
  const asking = keys.find(body.key);
  listening = true;
  await asking;
  assert.equal(keys.known(body.key), undefined);
  await keys.find(body.key);
  assert.notEqual(keys.known(body.key), undefined);
  keys.forget(null);
  assert.equal(keys.known(body.key), undefined);
});

test('a malformed key is refused without a look-up', () => {
  const { keys } = held();
  const strange = [`parley_live_${'a'.repeat(43)}`, `parley_test_${'_'.repeat(43)}`];
  for (const text of ['', 'x', `parley_test_${'a'.repeat(42)}`, ...strange]) {
    assert.equal(keys.known(text), null);
  }
});

test('a key is remembered for a second, and looked up once more after it', async (context) => {
  const { body } = await edge.mint(evmWallet());
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const { keys, release } = held();
  release();
  const found = await keys.find(body.key);
  now = 1_000;
  assert.deepEqual(keys.known(body.key), found);
  now = 1_001;
  assert.equal(keys.known(body.key), undefined);
});

test('a socket that shows another key is another caller, and a revoked key is not known on it', async () => {
  const first = await edge.mint(evmWallet());
  const second = await edge.mint(evmWallet());
  const { keys, release } = held();
  release();
  const own = await keys.find(first.body.key);
  const other = await keys.find(second.body.key);
  const socket = {};
  const shown = [first.body.key, second.body.key, 'nonsense', first.body.key];
  assert.deepEqual(
    shown.map((key) => keys.known(key, socket)),
    [own, other, null, own],
  );
  keys.forget(own!.accountId);
  assert.equal(keys.known(first.body.key, socket), undefined);
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

test('a bearer wins over X-Api-Key; another scheme does not', () => {
  assert.equal(keyOf({ authorization: 'Bearer a', 'x-api-key': 'b' }), 'a');
  assert.equal(keyOf({ authorization: 'Basic a', 'x-api-key': 'b' }), 'b');
  assert.equal(keyOf({}), null);
});
