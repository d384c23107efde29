// A migration beside the version before: it waits for nobody's table at the cost of everybody.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../test/support/database.ts';
import { migrate } from './migrate.ts';

/** A column, and an index with it. */
const names = ['058_swaps_by_value.sql', '059_open_swaps_by_value.sql'];

/** A database before these, while somebody reads their table for long, as a backup does. */
async function beingRead(t: TestContext) {
  const { url, drop } = await testDatabase();
  const [reader, other] = [new pg.Client(url), new pg.Client(url)];
  t.after(async () => {
    await Promise.all([reader.end(), other.end()]);
    await drop();
  });
  await Promise.all([reader.connect(), other.connect()]);
  await other.query('alter table swaps drop column high_value');
  await other.query('delete from migrations where name = any($1)', [names]);
  await reader.query('begin; select from swaps');
  const applied = async () =>
    (await other.query('select from migrations where name = any($1)', [names])).rowCount;
  return { url, reader, other, applied };
}

test('while a migration waits for a table, others are answered from it', async (t) => {
  const { url, reader, other, applied } = await beingRead(t);
  const migrating = migrate(url, { lockMs: 100, mostLockMs: 600_000 });
  const waits = `select from pg_locks l join pg_stat_activity a using (pid)
    where not granted and application_name = 'parley-migrate' and a.datname = current_database()`;
  while ((await other.query(waits)).rowCount === 0);
  await other.query(`set statement_timeout = '20s'`);
  await other.query('select from swaps');
  assert.equal(await applied(), 0);
  await reader.query('commit');
  assert.deepEqual(await migrating, names);
  assert.equal(await applied(), 2);
});

test('a table that is held for too long fails the start with what to do', async (t) => {
  const { url, applied } = await beingRead(t);
  await assert.rejects(migrate(url, { lockMs: 1, mostLockMs: 0 }), {
    message: new RegExp(`^migration ${names[0]} could not lock a table for 0 s: end what holds it`),
  });
  assert.equal(await applied(), 0);
});
