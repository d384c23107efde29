// Replies and swaps of a database in use, as the migrations find them that bound what is kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '../../test/support/before-migration.ts';
import { markSwapsThatStay } from './ended.ts';
import { keepReply, pruneKeptReplies } from './idempotency.ts';

const accountId = '0193b5a0-0000-7000-8000-000000000000';

test('refusals that were counted before the upgrade count after it', async (t) => {
  const { client, upgrade, tx } = await beforeMigration(t, '034_kept_replies.sql');
  await client.query(
    `insert into kept_refusals values ($1, '2029-12-31', 7), ($1, '2030-01-01', 8)`,
    [accountId],
  );
  await upgrade();
  const keep = (key: string, most: number) => {
    const slot = { accountId, method: 'POST', path: '/v1/any', key };
    const row = { bodyHash: Buffer.alloc(32), status: 400, reply: Buffer.of(1), keyVersion: null };
    const charge = { day: '2030-01-01', refusals: 1, bytes: 0 };
    return keepReply(tx, slot, row, new Date(0), { ...charge, most: { refusals: most, bytes: 9 } });
  };
  assert.equal(await keep('one too many', 8), false);
  assert.equal(await keep('the ninth', 9), true);
  assert.equal(await pruneKeptReplies(tx, new Date('2030-01-01'), 10), 1);
  const { rows } = await client.query('select refusals, bytes::int from kept_replies');
  assert.deepEqual(rows, [{ refusals: 9, bytes: 0 }]);
});

test('swaps that expired before the upgrade are looked at once after it, and servers of before add more', async (t) => {
  const { client, upgrade, tx } = await beforeMigration(t, '035_swaps_that_stay.sql');
  const expired = (secret: string | null) =>
    client.query(
      `insert into swaps (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg, status,
        agreed_at, initiator_fund_by, expires_at, counterparty_fund_by, reveal_by, created_at,
        updated_at, done, secret)
      select id, id, id, id::text, id, id, 'a', 'expired', 0, 0, 1, 0, 0, now(), now(), true, $1
      from gen_random_uuid() id`,
      [secret],
    );
  await expired('11');
  await expired(null);
  await upgrade();
  await expired('22');
  const before = new Date(2_000);
  assert.equal(await markSwapsThatStay(tx, before, 10), 2);
  assert.equal(await markSwapsThatStay(tx, before, 10), 0);
  const { rows } = await client.query('select secret, stays from swaps order by secret');
  assert.deepEqual(
    rows.map(({ secret, stays }) => [secret, stays]),
    [
      ['11', true],
      ['22', true],
      [null, false],
    ],
  );
});
