// Which settled swaps count for an account. One definition serves its rate limit and its record.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SwapStatus, swapStatuses } from '../../core/status.ts';
import { testDatabase } from '../../test/support/database.ts';
import { insertSwap } from '../../test/support/settled.ts';
import { settledCounts } from './settled.ts';

const { db, drop } = await testDatabase({ connections: 2 });
after(() => drop());

const run = (text: string, ...values: unknown[]) =>
  db.rows<{ id: string }>({ name: '', text, values });
const account = async () => {
  const [row] = await run(`insert into accounts (id, kind, created_at)
    values (gen_random_uuid(), 'wallet', now()) returning id`);
  return row!.id;
};
const day = 86_400;
const [own, other, third] = [await account(), await account(), await account()];

const swap = (makerId: string, takerId: string, agreedAt: number, status: SwapStatus) =>
  insertSwap(db, { makerId, takerId }, agreedAt, status);

const counted = async (window = { from: 10 * day, until: 40 * day }) => {
  const rows = await settledCounts(db, [own, other, third], window);
  return [own, other, third].map((id) => rows.find((each) => each.accountId === id)?.settled);
};

test('a counterparty counts once a day, whichever side it was, and what is not settled never', async () => {
  assert.deepEqual(await counted(), [0, 0, 0]);
  for (const status of swapStatuses.filter((each) => each !== 'counterparty_claimed')) {
    await swap(own, other, 20 * day, status);
  }
  assert.deepEqual(await counted(), [0, 0, 0]);
  await swap(own, other, 20 * day, 'counterparty_claimed');
  await swap(other, own, 21 * day - 1, 'counterparty_claimed');
  assert.deepEqual(await counted(), [1, 1, 0]);
  await swap(own, other, 21 * day, 'counterparty_claimed');
  assert.deepEqual(await counted(), [2, 2, 0]);
  await swap(third, own, 21 * day, 'counterparty_claimed');
  assert.deepEqual(await counted(), [3, 2, 1]);
});

test('agreements from the first second of the window on count, and none from its last on', async () => {
  assert.deepEqual(await counted({ from: 20 * day, until: 21 * day }), [1, 1, 0]);
  assert.deepEqual(await counted({ from: 20 * day + 1, until: 21 * day - 1 }), [0, 0, 0]);
});
