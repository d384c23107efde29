// A command that the database asks to run again: serialization failures and deadlocks, raised by
// the real one.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Tx } from '../../db/database.ts';
import { startEdge, type TestEdge } from '../testing/edge.ts';
import { evmWallet } from '../testing/signers.ts';
import { addTestCommand, type Steps } from '../testing/test-command.ts';

let edge: TestEdge;
let key: string;
const steps: Steps = { plan: {}, runs: 0 };

before(async () => {
  edge = await startEdge({}, (app, deps) => addTestCommand(app, deps, steps, '/v1/test/:id'));
  key = (await edge.mint(evmWallet())).body.key;
});
after(() => edge.close());

/** Fails so many times before it runs. */
function failing(times: number, code: string) {
  steps.runs = 0;
  steps.plan = {
    run: async (tx: Tx) => {
      if (steps.runs > times) return;
      const text = `do $$ begin raise exception 'again' using errcode = '${code}'; end $$`;
      await tx.rows({ name: '', text, values: [] });
    },
  };
}

let posted = 0;
async function post(name: string | null) {
  const headers: Record<string, string> = name === null ? {} : { 'idempotency-key': name };
  const { status } = await edge.call('POST', '/v1/test/1', { key, body: {}, headers });
  return status;
}

for (const code of ['40001', '40P01']) {
  for (const keyed of [true, false]) {
    const how = keyed ? 'under a key' : 'without a key';
    test(`${code} ${how}: a command is tried three times, and no more`, async () => {
      const name = keyed ? `again-${posted++}` : null;
      failing(2, code);
      assert.equal(await post(name), 201);
      assert.equal(steps.runs, 3);
      const other = keyed ? `again-${posted++}` : null;
      failing(3, code);
      assert.equal(await post(other), 503);
      assert.equal(steps.runs, 3);
      failing(0, code);
      assert.equal(await post(other), 201, 'nothing of the failure was stored');
    });
  }
}

test('what the database refuses for another reason is tried once', async () => {
  failing(1, '23514');
  assert.equal(await post(null), 500);
  assert.equal(steps.runs, 1);
});

for (const [code, what] of [
  ['53100', 'a full disk'],
  ['53200', 'no memory'],
  ['55P03', 'a lock that was not had'],
  ['57014', 'a statement that took too long'],
  ['25006', 'a primary that is one no more'],
]) {
  test(`${what} (${code}) is 503 and not stored: a retry runs`, async () => {
    const name = `later-${posted++}`;
    failing(1, `${code}`);
    assert.equal(await post(name), 503);
    assert.equal(await post(name), 201);
  });
}
