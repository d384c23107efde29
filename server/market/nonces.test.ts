// Nonces: used up by the first proof that shows one, except where nothing was told of it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ParleyError, type RefusalCode } from '../../core/errors.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
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

const coded = (code: RefusalCode) => (error: unknown) =>
  error instanceof ParleyError && error.code === code;
const refusing = (code: RefusalCode) => () => Promise.reject(new ParleyError(code, 'refused'));

test('a check that refuses uses the nonce up', async () => {
  const nonce = await issueNonce(deps, linking);
  const refused = withNonce(deps, nonce, linking, refusing('bad_signature'));
  await assert.rejects(refused, coded('bad_signature'));
  await assert.rejects(
    withNonce(deps, nonce, linking, async () => 1),
    coded('bad_nonce'),
  );
});

for (const code of ['chain_timeout', 'chain_unavailable'] as const) {
  test(`a node that could not tell (${code}) gives it back`, async () => {
    const nonce = await issueNonce(deps, minting);
    await assert.rejects(withNonce(deps, nonce, minting, refusing(code)), coded(code));
    assert.equal(await withNonce(deps, nonce, minting, async () => 7), 7);
  });
}

test('the check runs after the nonce is used, so that two cannot both pass', async () => {
  const nonce = await issueNonce(deps, authorizing);
  const inside = withNonce(deps, nonce, authorizing, () =>
    assert.rejects(
      withNonce(deps, nonce, authorizing, async () => 1),
      coded('bad_nonce'),
    ),
  );
  await inside;
});

test('each pool has its life: five minutes to mint, ten to link and authorise', async () => {
  for (const [place, seconds] of [
    [minting, 300],
    [linking, 600],
    [authorizing, 600],
  ] as const) {
    deps.freeze();
    const [young, old] = [await issueNonce(deps, place), await issueNonce(deps, place)];
    deps.advance(seconds * 1_000 - 1);
    assert.equal(await withNonce(deps, young, place, async () => 1), 1);
    deps.advance(1);
    await assert.rejects(
      withNonce(deps, old, place, async () => 1),
      coded('bad_nonce'),
    );
  }
});

test('a nonce is good for the account that asked for it, in its pool, and nowhere else', async () => {
  const places = [minting, linking, authorizing, { ...linking, accountId: stranger }];
  for (const place of places) {
    const nonce = await issueNonce(deps, place);
    for (const other of places.filter((each) => each !== place)) {
      await assert.rejects(
        withNonce(deps, nonce, other, async () => 1),
        coded('bad_nonce'),
      );
    }
    // Whoever else presents it does not use it up.
    assert.equal(await withNonce(deps, nonce, place, async () => 1), 1);
  }
});

test('the request that used a nonce may present it again, and no other request', async () => {
  const nonce = await issueNonce(deps, linking);
  const [own, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const once = (attempt: Buffer | null) =>
    withNonce(deps, nonce, { ...linking, attempt }, async () => 1);
  assert.equal(await once(own), 1);
  assert.equal(await once(own), 1);
  await assert.rejects(once(other), coded('bad_nonce'));
  await assert.rejects(once(null), coded('bad_nonce'));
  assert.equal(await once(own), 1);
  const without = await issueNonce(deps, linking);
  assert.equal(await withNonce(deps, without, linking, async () => 1), 1);
  await assert.rejects(
    withNonce(deps, without, linking, async () => 1),
    coded('bad_nonce'),
  );
});
