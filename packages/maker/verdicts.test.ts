// A deal whose swap is over gives its place free, and one that waits for a person keeps it.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SettleError, VerificationError } from '@parley/sdk/errors.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { keptRecord } from '@parley/sdk/testing/honest.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { dealOf, settlingOf } from './testing/stage.ts';

const { trade, swap } = keptRecord('maker');

/** A deal whose run fails with `error` before it begins. `isFunded`: coins of it may be out. */
async function settling(t: TestContext, error: Error, isFunded: boolean) {
  const store = memoryStore();
  const funding = { txid: 'ab'.repeat(32), raw: '00' };
  if (isFunded) await store.putSwap({ ...keptRecord('maker'), funding });
  const tries = { made: 0 };
  const getTrade = async () => {
    tries.made += 1;
    throw error;
  };
  const deal = dealOf(trade.threadId, swap.id);
  const { begin, running, deals, promises, metrics, end } = settlingOf(deal, {
    store: { ...store, getTrade },
    now: () => 0,
  });
  t.after(end);
  begin(deal);
  await waitUntil(() => tries.made > 0);
  for (let each = 0; each < 20; each += 1) await new Promise((next) => setImmediate(next));
  const { values } = await metrics.needsPerson.get();
  return [deals.get(deal.threadId)?.end, promises.open.size, running(), values[0]?.value];
}

const refused = ['refused', 0, 0, 0];
const waits = [null, 1, 1, 1];
for (const [error, isFunded, wanted] of [
  [new VerificationError('legs.a.amount', '1', '2'), false, refused],
  [new VerificationError('legs.a.amount', '1', '2'), true, waits],
  [new SettleError('terms_outdated', 'an old acceptance'), false, refused],
  [new SettleError('terms_outdated', 'an old acceptance'), true, waits],
  [new SettleError('no_source', 'no node'), false, waits],
  [new TypeError('not now'), false, [null, 1, 1, 0]],
] as const) {
  const out = isFunded ? 'with coins out' : 'where no coin moved';
  test(`its end, place, run and call for a person ${out}: ${error.message}`, async (t) => {
    assert.deepEqual(await settling(t, error, isFunded), wanted);
  });
}
