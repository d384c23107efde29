// Nonces: used up by the first proof that shows one, except where nothing was told of it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ParleyError, type RefusalCode } from '@parley/core/errors.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { insertAccount } from '../db/accounts.ts';
import type { NoncePlace } from '../db/nonces.ts';
import { uuidv7 } from '../ports/ids.ts';
import { issueNonce, minting, withNonce } from './nonces.ts';

let database: TestDatabase;
let deps: TestDeps;
before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  for (const id of [owner, stranger]) {
    await insertAccount(deps.db, { id, kind: 'wallet', createdAt: new Date() });
  }
});
// The cluster of this file may have stopped first, database and all.
after(() => database.drop().catch(() => {}));

const owner = uuidv7(Date.now(), randomBytes);
const stranger = uuidv7(Date.now(), randomBytes);
const linking: NoncePlace = { pool: 'link', accountId: owner };
const authorizing: NoncePlace = { pool: 'authorize', accountId: owner };

const passes = (nonce: string, place: Parameters<typeof withNonce>[2]) =>
  withNonce(deps, nonce, place, async () => 7);
/** It is used up, or was never good there. */
const isBad = (nonce: string, place: Parameters<typeof withNonce>[2]) =>
  assert.rejects(passes(nonce, place), { code: 'bad_nonce' });
const refusing = (nonce: string, place: NoncePlace, code: RefusalCode) => {
  const refusal = () => Promise.reject(new ParleyError(code, 'refused'));
  return assert.rejects(withNonce(deps, nonce, place, refusal), { code });
};

test('a check that refuses uses the nonce up; a node that could not tell gives it back', async () => {
  for (const [code, isBack] of [
    ['bad_signature', false],
    ['chain_timeout', true],
    ['chain_unavailable', true],
  ] as const) {
    const nonce = await issueNonce(deps, linking);
    await refusing(nonce, linking, code);
    if (isBack) assert.equal(await passes(nonce, linking), 7);
    await isBad(nonce, linking);
  }
});

test('the check runs after the nonce is used, so that two cannot both pass', async () => {
  const nonce = await issueNonce(deps, authorizing);
  await withNonce(deps, nonce, authorizing, () => isBad(nonce, authorizing));
});

test('each pool has its life: five minutes to mint, ten to link and authorise', async () => {
  for (const [place, seconds] of [
    [minting, 300],
    [linking, 600],
    [authorizing, 600],
  ] as const) {
    deps.freeze();
    const young = await issueNonce(deps, place);
    const old = await issueNonce(deps, place);
    deps.advance(seconds * 1_000 - 1);
    assert.equal(await passes(young, place), 7);
    deps.advance(1);
    await isBad(old, place);
  }
});

test('a nonce is good for the account that asked for it, in its pool, and nowhere else', async () => {
  const places = [minting, linking, authorizing, { ...linking, accountId: stranger }];
  for (const place of places) {
    const nonce = await issueNonce(deps, place);
    for (const other of places.filter((each) => each !== place)) await isBad(nonce, other);
    // A stranger that presents it does not use it up.
    assert.equal(await passes(nonce, place), 7);
  }
});

test('the request that used a nonce may present it again, and no other request', async () => {
  const nonce = await issueNonce(deps, linking);
  const [own, other] = [1, 2].map((byte) => ({ ...linking, attempt: Buffer.alloc(32, byte) }));
  for (const again of [own, own]) assert.equal(await passes(nonce, again!), 7);
  for (const strange of [other!, { ...linking, attempt: null }]) await isBad(nonce, strange);
  assert.equal(await passes(nonce, own!), 7);
  const without = await issueNonce(deps, linking);
  assert.equal(await passes(without, linking), 7);
  await isBad(without, linking);
});
