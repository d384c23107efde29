// Lanes of a version that knew one contract on a chain get its name, as their escrows have it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '../../test/support/before-migration.ts';

test('terms with a lane get the contract of their escrow, and no others change', async (t) => {
  const { client, upgrade } = await beforeMigration(t, '044_lane_contracts.sql');
  const lane = { number: 'a5'.repeat(12), counter: 2 };
  const rows: [string, object][] = [
    ['0xAbc:12', { amount: '1', lane }],
    ['TAbc:34', { lane: { ...lane, contract: 'TOther' } }],
    ['bcrt1q', { amount: '3' }],
  ];
  for (const [address, terms] of rows) {
    await client.query(
      `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at)
      values ('x', $1, gen_random_uuid(), 'a', $2, '{}', now())`,
      [address, JSON.stringify(terms)],
    );
  }
  await upgrade();
  const found = await client.query('select address, terms from escrows');
  assert.deepEqual(Object.fromEntries(found.rows.map(({ address, terms }) => [address, terms])), {
    ...Object.fromEntries(rows),
    '0xAbc:12': { amount: '1', lane: { ...lane, contract: '0xAbc' } },
  });
});
