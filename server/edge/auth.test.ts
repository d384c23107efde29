// Remembered keys. The database is wrapped to force the order of a look-up and a revocation.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../db/database.ts';
import { createKeys, keyOf } from './auth.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';
import { evmWallet } from './testing/signers.ts';

let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

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

test('what was read before a revocation is not remembered after it', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, read, release } = held();
  const looking = keys.find(body.key);
  await read;
  keys.forget('anyone');
  release();
  await looking;
  assert.equal(keys.known(body.key), undefined);
});

test('nothing is remembered while revocations are not heard of, nor what was asked before', async () => {
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

test('many requests of one key at once make one look-up', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, release, lookUps } = held();
  const all = Array.from({ length: 50 }, () => keys.find(body.key));
  release();
  assert.equal(new Set((await Promise.all(all)).map((each) => each?.keyId)).size, 1);
  assert.equal(lookUps(), 1);
});

test('a remembered key is looked up again after a second', async () => {
  const { body } = await edge.mint(evmWallet());
  const { keys, release } = held();
  release();
  await keys.find(body.key);
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  assert.equal(keys.known(body.key), undefined);
});

test('what is no key is refused without a look-up', () => {
  const { keys } = held();
  for (const text of ['', 'x', `parley_live_${'a'.repeat(43)}`, `parley_test_${'a'.repeat(42)}`]) {
    assert.equal(keys.known(text), null);
  }
});

test('a bearer wins over X-Api-Key; another scheme does not', () => {
  assert.equal(keyOf({ authorization: 'Bearer a', 'x-api-key': 'b' }), 'a');
  assert.equal(keyOf({ authorization: 'Basic a', 'x-api-key': 'b' }), 'b');
  assert.equal(keyOf({}), null);
});
