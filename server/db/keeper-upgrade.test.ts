// What relays of before the upgrade that bounds them may still do.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../test/support/database.ts';

const folder = new URL('./migrations/', import.meta.url);
const own = '016_keeper_bounds.sql';

test('a relay that was promised before the upgrade may make its token account', async (t) => {
  const { url, drop } = await testDatabase();
  const schema = `s_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client(url);
  await client.connect();
  t.after(async () => {
    await client.end();
    await drop();
  });
  await client.query(`create schema ${schema}; set search_path to ${schema}`);
  for (const name of (await readdir(folder)).filter((each) => each < own).sort()) {
    await client.query(await readFile(new URL(name, folder), 'utf8'));
  }
  // Swaps and escrows are no part of it.
  await client.query('set session_replication_role = replica');
  for (const [purpose, state] of [
    ['relay', 'open'],
    ['relay', 'done'],
    ['secret', 'open'],
  ]) {
    await client.query(
      `insert into keeper_jobs
        (chain, escrow, verb, swap_id, leg, account_id, purpose, state, due_at, created_at)
      values ('solana', gen_random_uuid(), 'claim', gen_random_uuid(), 'a',
        gen_random_uuid(), $1, $2, now(), now())`,
      [purpose, state],
    );
  }
  await client.query(await readFile(new URL(own, folder), 'utf8'));
  const { rows } = await client.query(
    `select purpose, state, makes_account as makes, relayed_at is not null as counted
    from keeper_jobs order by id`,
  );
  assert.deepEqual(rows, [
    { purpose: 'relay', state: 'open', makes: true, counted: true },
    { purpose: 'relay', state: 'done', makes: false, counted: true },
    { purpose: 'secret', state: 'open', makes: false, counted: false },
  ]);
});
