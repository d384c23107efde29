// The reserve of a party beyond its budget, and how often it is looked up.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import type { Database } from '../db/database.ts';
import { agreedSwaps } from '../doctor/testing/agreed.ts';
import { readSettings } from '../settings/config.ts';
import { createBudgets, strangerLimit, swapLimit } from './budgets.ts';
import { createMemoryBuckets } from './memory-buckets.ts';
import { broadcasts, createReserve } from './reserve.ts';

const database = await testDatabase();
after(() => database.drop());
const sql = (text: string, ...values: unknown[]) =>
  database.db.rows<Record<string, string>>({ name: '', text, values });
const [open = ''] = await agreedSwaps(database.db, 1);
const ip = '192.0.2.1';
const isFunded = (is: boolean) =>
  sql(`update escrows set funding_seen_at = ${is ? 'now()' : 'null'}`);
await isFunded(true);
const maker = (await sql('select maker_id from swaps'))[0]?.maker_id as string;

function counted() {
  let questions = 0;
  const rows: Database['rows'] = (query) => {
    questions += 1;
    return database.db.rows(query);
  };
  const settings = { ...readSettings({}), rateLimit: 1, rateLimitPerNetwork: 1 };
  const budgets = createBudgets(
    settings,
    createMemoryBuckets(() => 0),
  );
  return { reserve: createReserve({ ...database.db, rows }, budgets), questions: () => questions };
}

test('a refusal of the reserve asks no chain, and its other parts are kept all the same', async () => {
  const { reserve, questions } = counted();
  for (let at = 0; at < swapLimit; at += 1) assert.equal(await reserve(maker, open, ip), true);
  for (let at = 0; at < strangerLimit + 1; at += 1) {
    assert.equal(await reserve(maker, open, ip), false);
  }
  assert.equal(questions(), swapLimit);
  assert.equal(await reserve(maker, broadcasts, ip), true);
});

test('no reserve is kept for a swap that nobody has funded', async () => {
  await isFunded(false);
  for (const part of [open, broadcasts]) {
    assert.equal(await counted().reserve(maker, part, ip), false);
  }
  await isFunded(true);
  for (const part of [open, broadcasts]) {
    assert.equal(await counted().reserve(maker, part, ip), true);
  }
});

test('a stranger is looked up so often, and no more', async () => {
  const { reserve, questions } = counted();
  const stranger = '00000000-0000-4000-8000-000000000001';
  for (let at = 0; at < strangerLimit * 2; at += 1) {
    assert.equal(await reserve(stranger, `${at}`.padStart(8, '0') + open.slice(8), ip), false);
  }
  assert.equal(questions(), strangerLimit);
});
