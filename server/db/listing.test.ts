// The schema of what may be traded: what was closed before it stays closed, and its state follows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeMigration } from '../../test/support/before-migration.ts';
import { testDatabase } from '../../test/support/database.ts';
import {
  countPendingOf,
  expireCandidates,
  listCandidates,
  pruneCandidates,
  takeDueCandidates,
} from './candidates.ts';
import type { Statement, Tx } from './database.ts';
import { findListedToken } from './listing.ts';

test('what the schema before had closed is held closed by the settings, the rest is open', async (t) => {
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

const at = new Date();
const indexed: Record<string, (tx: Tx) => Promise<unknown>> = {
  assets_chain_address_key: (tx) => findListedToken(tx, 'evm-dev', '0xd0'),
  candidates_due: (tx) => takeDueCandidates(tx, ['evm-dev'], at, at, 'api', 20),
  candidates_by_source: (tx) => countPendingOf(tx, 'launchpad:x'),
  candidates_expiring: (tx) => expireCandidates(tx, at, 20),
  candidates_old: (tx) => pruneCandidates(tx, at, 20),
  candidates_by_age: (tx) => listCandidates(tx, null, 20),
};

test('what is asked of many tokens is found by an index', async (t) => {
  const { db, drop } = await testDatabase();
  t.after(drop);
  await db.rows({
    name: '',
    text: `insert into candidates (id, chain, address, source, status, created_at, next_check_at,
        gives_up_at)
      select gen_random_uuid(), 'evm-dev', '0x' || i, case i % 4 when 0 then 'api' else
          'launchpad:' || i % 9 end, case i % 3 when 0 then 'expired' else 'pending' end,
        now() + i * interval '1 minute', now() + i * interval '1 minute',
        now() + i * interval '1 minute'
      from generate_series(1, 5000) i`,
    values: [],
  });
  await db.rows({ name: '', text: 'analyze candidates', values: [] });
  for (const [index, ask] of Object.entries(indexed)) {
    const asked: Statement[] = [];
    const noted = async <Row>(statement: Statement): Promise<Row[]> => {
      asked.push(statement);
      return [];
    };
    await ask({ rows: noted });
    const [{ text, values }] = asked as [Statement];
    const plan = await db.rows({ name: '', text: `explain ${text}`, values });
    assert.match(JSON.stringify(plan), new RegExp(`(using|on) ${index}`), index);
  }
});
