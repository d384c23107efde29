// Databases in use, as each migration finds them: their data goes on as it was, and servers of the
// version before go on beside those of this one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '@parley/verify/test/support/before-migration.ts';
import { markSwapsThatStay } from './ended.ts';
import { keepReply, pruneKeptReplies } from './idempotency.ts';

test('the settings hold closed what the schema before had closed, the rest is open', async (t) => {
  const { client, upgrade } = await beforeMigration(t, '007_listing.sql');
  await client.query(`insert into assets
    (id, chain, symbol, decimals, enabled, verified, source, created_at, address) values
    (gen_random_uuid(), 'bitcoin', 'BTC', 8, true, true, 'curated', now(), null),
    (gen_random_uuid(), 'evm-dev', 'OLD', 6, false, true, 'curated', now(), '0xd0')`);
  await upgrade();
  const stateOf = async (symbol: string) =>
    (
      await client.query(
        `select enabled, state, configured, closings->'settings'->'reasons'->>0 as why
        from assets where symbol = $1`,
        [symbol],
      )
    ).rows[0];
  const open = { enabled: true, state: 'open', configured: true, why: null };
  assert.deepEqual(await stateOf('BTC'), open);
  const why = 'no longer among the curated assets of the settings';
  const closed = { enabled: false, state: 'closed', configured: false, why };
  assert.deepEqual(await stateOf('OLD'), closed);
  await client.query(`update assets set closings = '{}', delisted_at = now()`);
  assert.equal((await stateOf('BTC')).state, 'delisted');
  assert.equal((await stateOf('BTC')).enabled, false);
});

const numbers = '033_feed_numbers.sql';

test('entries keep the number under which they were told, and none is given out twice', async (t) => {
  const { client, upgrade } = await beforeMigration(t, numbers);
  await client.query('set session_replication_role = origin');
  const append = async (...targets: (string | null)[]) => {
    await client.query(
      `insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
      select 'created', gen_random_uuid(), gen_random_uuid(), target, '', now()
      from unnest($1::text[]) with ordinality as t (target, place) order by place`,
      [targets],
    );
  };
  const log = async () =>
    (await client.query('select seq::int, number::int from feed_log order by seq')).rows;
  await append(null, 'a', null, 'a');
  await upgrade();
  // By the version before, which leaves the number out.
  await append('b', null, 'b');
  await append(null);
  const rows = await log();
  assert.deepEqual(
    rows.map(({ number }) => number),
    [1, 2, 3, 4, 4, 5, 5, 6],
  );
  assert.deepEqual(
    rows.slice(0, 4).map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  // The numbers that the older version emits are far from all those of this one.
  assert.ok(rows.slice(4).every(({ seq }) => seq > 1_000_000_000));
  // As after a restore: behind all there was.
  await client.query('delete from feed_log');
  await append(null, 'c');
  const [first, second] = await log();
  assert.ok(first.number > 1_000_000_000);
  assert.equal(second.number, first.number);
});

test('a log that was never written to begins with an entry to go on from', async (t) => {
  const { client, upgrade } = await beforeMigration(t, numbers);
  await client.query('set session_replication_role = origin');
  await upgrade();
  const { rows } = await client.query('select kind, seq::int, number::int from feed_log');
  assert.deepEqual(rows, [{ kind: 'reset', seq: 1, number: 1 }]);
});

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

test('open swaps with an amount of high value are reported at the upgrade', async (t) => {
  const { client, upgrade } = await beforeMigration(t, '060_values_of_open_swaps.sql');
  const asset = async (highValueFrom: number | null) => {
    const { rows } = await client.query(
      `insert into assets (id, chain, symbol, address, decimals, verified, source, created_at,
        high_value_from)
      values (gen_random_uuid(), 'x', 'X', gen_random_uuid()::text, 0, true, 'curated', now(), $1)
      returning id`,
      [highValueFrom],
    );
    return rows[0].id as string;
  };
  const dear = await asset(100);
  const plain = await asset(null);
  const swap = (secret: string, amount: number, done: boolean) =>
    client.query(
      `with s as (insert into swaps (id, thread_id, rfq_id, hashlock, maker_id, taker_id, long_leg,
          status, agreed_at, initiator_fund_by, expires_at, counterparty_fund_by, reveal_by,
          created_at, updated_at, done, secret)
        select id, id, id, id::text, id, id, 'a', 'agreed', 0, 0, 1, 0, 0, now(), now(), $3, $1
        from gen_random_uuid() id returning id)
      insert into legs (swap_id, leg, chain, family, asset_id, amount, timelock,
          required_confirmations)
        select id, leg, 'x', 'evm', asset::uuid, $2, 0, 1
        from s, (values ('a', $4), ('b', $5)) l (leg, asset)`,
      [secret, amount, done, plain, dear],
    );
  await swap('11', 99, false);
  await swap('22', 100, false);
  await swap('33', 100, true);
  await upgrade();
  const { rows } = await client.query('select secret from swaps where high_value');
  assert.deepEqual(rows, [{ secret: '22' }]);
});
