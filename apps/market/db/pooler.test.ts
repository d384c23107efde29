// Debian's PgBouncer before the database in each of its modes, and defaults of a database that
// would change what is read.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { startPgbouncer } from '@parley/verify/test/support/pgbouncer.ts';
import pg from 'pg';
import { connect, databaseLimits, type Statement } from './database.ts';
import { migrate } from './migrate.ts';
import { mustKeepSessions } from './pooler.ts';
import { PoolerError } from './session.ts';

const database = await testDatabase();
after(() => database.drop());

const sql = (text: string, ...values: unknown[]): Statement => ({ name: '', text, values });

test('a stock pooler in session mode serves: settings, locks, prepared statements, notifications', async () => {
  const pooled = await startPgbouncer(database.url, 'session');
  const db = connect(pooled.url, { ...databaseLimits, lockMs: 3_000 });
  try {
    await mustKeepSessions(pooled.url);
    assert.deepEqual(await migrate(pooled.url), []);
    const names = ['enable_seqscan', 'statement_timeout', 'lock_timeout'];
    const shown = names.map((name) => `current_setting('${name}') as ${name}`).join(', ');
    const [found] = await db.rows(sql(`select ${shown}`));
    assert.deepEqual(found, {
      enable_seqscan: 'off',
      statement_timeout: '10s',
      lock_timeout: '3s',
    });
    const session = await db.session();
    const lock = { name: 'lock', text: 'select pg_try_advisory_lock(7) as mine', values: [] };
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual(await session.rows(lock), [{ mine: true }]);
    }
    assert.deepEqual(await db.rows(lock), [{ mine: false }]);
    // Its connection is given up: its locks go with it.
    session.end();
    while ((await db.rows<{ mine: boolean }>(lock))[0]?.mine !== true);
    const heard = Promise.withResolvers<string>();
    const listener = await db.listen({
      heard: (_, payload) => heard.resolve(payload),
      lost: () => heard.reject(new Error('lost')),
    });
    await listener.rows(sql('listen told'));
    await db.rows(sql(`select pg_notify('told', 'all of it')`));
    assert.equal(await heard.promise, 'all of it');
    listener.end();
  } finally {
    await db.close();
    await pooled.stop();
  }
});

for (const mode of ['transaction', 'statement'] as const) {
  test(`a pooler in ${mode} mode is refused by its mode, however few sessions it has`, async () => {
    for (const more of ['', 'default_pool_size = 1', 'server_round_robin = 1']) {
      const pooled = await startPgbouncer(database.url, mode, more);
      const said = new RegExp(`${mode} mode`);
      await assert.rejects(mustKeepSessions(pooled.url), said).finally(pooled.stop);
    }
  });
}

test('a connection finds that its sessions are handed round, though none did at the start', async () => {
  const pooled = await startPgbouncer(database.url, 'transaction', 'server_round_robin = 1');
  // Two transactions at once: the pooler has two sessions from then on.
  const both = [0, 1].map(() => new pg.Client({ connectionString: pooled.url }));
  const db = connect(pooled.url);
  try {
    for (const client of both) {
      await client.connect();
      await client.query('begin');
    }
    for (const client of both) await client.query('commit');
    await assert.rejects(db.rows(sql('select 1')), PoolerError);
  } finally {
    await Promise.all([db.close(), ...both.map((client) => client.end())]);
    await pooled.stop();
  }
});

for (const query of ['', 'RESET ALL', 'DEALLOCATE ALL', 'RESET ALL; DEALLOCATE ALL']) {
  test(`a pooler in session mode that resets by "${query}" is refused for that`, async () => {
    const pooled = await startPgbouncer(database.url, 'session', `server_reset_query = ${query}`);
    await assert.rejects(mustKeepSessions(pooled.url), /DISCARD ALL/).finally(pooled.stop);
  });
}

test('defaults of the database change nothing of what is read', async () => {
  const own = await testDatabase();
  const name = new URL(own.url).pathname.slice(1);
  const since17 = `select name from pg_settings where name = 'transaction_timeout'`;
  const [newer] = await own.db.rows<{ name: string }>(sql(since17));
  const defaults = {
    DateStyle: 'German',
    IntervalStyle: 'sql_standard',
    TimeZone: 'Asia/Kathmandu',
    client_encoding: 'LATIN1',
    bytea_output: 'escape',
    extra_float_digits: '-15',
    standard_conforming_strings: 'off',
    array_nulls: 'off',
    transform_null_equals: 'on',
    row_security: 'off',
    default_transaction_isolation: 'serializable',
    default_transaction_read_only: 'on',
    default_transaction_deferrable: 'on',
    statement_timeout: '200ms',
    lock_timeout: '200ms',
    idle_in_transaction_session_timeout: '200ms',
    idle_session_timeout: '200ms',
    ...(newer === undefined ? {} : { [newer.name]: '200ms' }),
    enable_seqscan: 'on',
  };
  const seen = `select '2026-11-29 01:02:03.456+00'::timestamptz as at, '{NULL,1}'::text[] as list,
      '\\x00ff'::bytea as bytes, 0.1::float8 + 0.2 as sum, interval '1 day 2 hours'::text as span,
      'ä\\n' as text, date_trunc('day', '2026-11-29 23:00+00'::timestamptz) as day,
      current_setting('transaction_isolation') as level, null = null as same, pg_sleep(0.3)::text`;
  const read = async (from: typeof own.db) => (await from.rows(sql(seen)))[0];
  const before = await read(own.db);
  for (const [setting, to] of Object.entries(defaults)) {
    await database.db.rows(sql(`alter database ${name} set ${setting} to '${to}'`));
  }
  const db = connect(own.url);
  try {
    assert.deepEqual(await migrate(own.url), []);
    assert.deepEqual(await read(db), before);
    await db.transaction((tx) => tx.rows(sql('create table made (n integer)')));
  } finally {
    await db.close();
    await own.drop();
  }
});
