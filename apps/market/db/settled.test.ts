// Which settled swaps count for an account. One definition serves its rate limit and its record.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SwapStatus, swapStatuses } from '@parley/core/status.ts';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { insertSwap } from '@parley/verify/test/support/settled.ts';
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
const own = await account();
const other = await account();
const third = await account();

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

/** The market's gas key lands the claim of that leg. */
async function relay(swapId: string, leg: 'a' | 'b', fate = 'deep') {
  const attempt = `insert into keeper_attempts
      (chain, address, job_id, verb, txid, offer, most_cost, charged, signed_at, fate)
    values ('c', 'k', $1, 'claim', gen_random_uuid(), 0, 0, 0, now(), $2)`;
  await db.transaction(async (tx) => {
    const keep = (text: string, ...values: unknown[]) =>
      tx.rows<{ id: string }>({ name: '', text, values });
    await keep('set local session_replication_role = replica');
    const [job] = await keep(
      `insert into keeper_jobs (chain, escrow, verb, swap_id, leg, purpose, state,
          due_at, created_at)
        values ('c', gen_random_uuid(), 'claim', $1, $2, 'relay', 'done', now(), now())
        returning id`,
      swapId,
      leg,
    );
    await keep(attempt, job!.id, fate);
  });
}

test('a claimant counts one swap a week of those whose claims the market paid for', async () => {
  const newest = async () =>
    (await run('select id from swaps order by agreed_at desc limit 1'))[0]!;
  const window = { from: 700 * day, until: 730 * day };
  // Day 700 begins a week. The maker claims leg b.
  for (const [at, taker] of [
    [700, other],
    [701, third],
    [706, other],
  ] as const) {
    await swap(own, taker, at * day, 'counterparty_claimed');
    await relay((await newest()).id, 'b');
  }
  assert.deepEqual(await counted(window), [1, 2, 1]);
  await swap(own, other, 707 * day, 'counterparty_claimed');
  await relay((await newest()).id, 'b');
  assert.deepEqual(await counted(window), [2, 3, 1]);
  // Costs that it paid for itself count as before: other legs, and what the key tried in vain.
  for (const [at, leg, fate] of [
    [708, 'a', 'deep'],
    [709, 'b', 'failed'],
  ] as const) {
    await swap(own, third, at * day, 'counterparty_claimed');
    await relay((await newest()).id, leg, fate);
  }
  assert.deepEqual(await counted(window), [4, 3, 3]);
  // A relayed one of the same day and counterparty adds nothing to one that was paid for.
  await swap(own, third, 709 * day + 60, 'counterparty_claimed');
  await relay((await newest()).id, 'b');
  assert.deepEqual(await counted(window), [4, 3, 3]);
});
