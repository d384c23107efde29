// Nonces: used up by the first proof that shows one, except where nothing was told of it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError, type RefusalCode } from '../../core/errors.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { issueNonce, withNonce } from './nonces.ts';

let database: TestDatabase;
let deps: TestDeps;
before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
});
// The cluster of this file may have stopped first, database and all.
after(() => database.drop().catch(() => {}));

const coded = (code: RefusalCode) => (error: unknown) =>
  error instanceof ParleyError && error.code === code;
const refusing = (code: RefusalCode) => () => Promise.reject(new ParleyError(code, 'refused'));

test('a check that refuses uses the nonce up', async () => {
  const nonce = await issueNonce(deps, 'link');
  const refused = withNonce(deps, nonce, 'link', refusing('bad_signature'));
  await assert.rejects(refused, coded('bad_signature'));
  await assert.rejects(
    withNonce(deps, nonce, 'link', async () => 1),
    coded('bad_nonce'),
  );
});

for (const code of ['chain_timeout', 'chain_unavailable'] as const) {
  test(`a node that could not tell (${code}) gives it back`, async () => {
    const nonce = await issueNonce(deps, 'mint');
    await assert.rejects(withNonce(deps, nonce, 'mint', refusing(code)), coded(code));
    assert.equal(await withNonce(deps, nonce, 'mint', async () => 7), 7);
  });
}

test('the check runs after the nonce is used, so that two cannot both pass', async () => {
  const nonce = await issueNonce(deps, 'authorize');
  const inside = withNonce(deps, nonce, 'authorize', () =>
    assert.rejects(
      withNonce(deps, nonce, 'authorize', async () => 1),
      coded('bad_nonce'),
    ),
  );
  await inside;
});

test('each pool has its life: five minutes to mint, ten to link and authorise', async () => {
  for (const [pool, seconds] of [
    ['mint', 300],
    ['link', 600],
    ['authorize', 600],
  ] as const) {
    deps.freeze();
    const [young, old] = [await issueNonce(deps, pool), await issueNonce(deps, pool)];
    deps.advance(seconds * 1_000 - 1);
    assert.equal(await withNonce(deps, young, pool, async () => 1), 1);
    deps.advance(1);
    await assert.rejects(
      withNonce(deps, old, pool, async () => 1),
      coded('bad_nonce'),
    );
  }
});
