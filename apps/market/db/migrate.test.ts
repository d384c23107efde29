// A migration beside the version before: it waits for nobody's table at the cost of everybody.

import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import pg from 'pg';
import { migrate } from './migrate.ts';
import { knows, migrationsFolder, version } from './version.ts';

/** Until a migration waits for somebody's lock. */
const waitsForLock = (client: pg.Client) =>
  waitUntil(async () => {
    const { rowCount } = await client.query(`select from pg_locks l
      join pg_stat_activity a using (pid) where not granted
      and application_name = 'parley-migrate' and a.datname = current_database()`);
    return rowCount !== 0;
  });

/** Until a migration has asked who uses the database, and was told of a session. */
const asksForUsers = (client: pg.Client) =>
  waitUntil(async () => {
    const { rowCount } = await client.query(`select from pg_stat_activity
      where application_name = 'parley-migrate' and datname = current_database()
      and state = 'idle' and query like '%~ ''^parley/%'`);
    return rowCount !== 0;
  });

/** A database with two clients, and a later version that adds these files. */
async function ofLater(t: TestContext, files: Readonly<Record<string, string>>) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-migrations-'));
  const { url, db, drop } = await testDatabase();
  const client = new pg.Client(url);
  const other = new pg.Client(url);
  t.after(async () => {
    await Promise.all([client.end(), other.end()]);
    await drop();
    await rm(dir, { recursive: true });
  });
  await cp(migrationsFolder, dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  await Promise.all([client.connect(), other.connect()]);
  return { url, db, client, other, folder: pathToFileURL(`${dir}/`) };
}

/** A column, and an index with it. */
const files = {
  '900_notes.sql': `alter table swaps add column note text;
`,
  '901_swaps_by_note.sql': `-- small swaps: a test has few
create index swaps_by_note on swaps (note);
`,
};
const names = Object.keys(files);

/** A database before these, while somebody reads their table for long, as a backup does. */
async function beingRead(t: TestContext) {
  const { url, client: reader, other, folder } = await ofLater(t, files);
  await reader.query('begin; select from swaps');
  const applied = async () =>
    (await other.query('select from migrations where name = any($1)', [names])).rowCount;
  return { url, reader, other, folder, applied };
}

test('while a migration waits for a table, others are answered from it', async (t) => {
  const { url, reader, other, folder, applied } = await beingRead(t);
  const migrating = migrate(url, { folder, lockMs: 100, mostLockMs: 600_000 });
  await waitsForLock(other);
  await other.query(`set statement_timeout = '20s'`);
  await other.query('select from swaps');
  assert.equal(await applied(), 0);
  await reader.query('commit');
  assert.deepEqual(await migrating, names);
  assert.equal(await applied(), 2);
});

test('a table that is held for too long fails the start with what to do', async (t) => {
  const { url, folder, applied } = await beingRead(t);
  await assert.rejects(migrate(url, { folder, lockMs: 1, mostLockMs: 0 }), {
    message: new RegExp(`^migration ${names[0]} could not lock a table for 0 s: end what holds it`),
  });
  assert.equal(await applied(), 0);
});

test('an index is built while others write, once by two that start, whatever was left of it', async (t) => {
  const name = '900_swaps_by_maker.sql';
  const {
    url,
    client,
    other: writer,
    folder,
  } = await ofLater(t, {
    [name]: `-- no transaction: swaps is large
drop index concurrently if exists swaps_by_one;
create index concurrently swaps_by_one on swaps (maker_id);
`,
  });
  await client.query('create index swaps_by_one on swaps (taker_id)');
  await writer.query('begin; lock swaps in row exclusive mode');
  const migrating = [migrate(url, { folder }), migrate(url, { folder })];
  await waitsForLock(client);
  await client.query(`set statement_timeout = '20s'; update swaps set done = true`);
  await writer.query('commit');
  assert.deepEqual((await Promise.all(migrating)).flat(), [name]);
  const { rows } = await client.query(`select pg_get_indexdef(indexrelid) as text, indisvalid
    from pg_index where indexrelid = 'swaps_by_one'::regclass`);
  assert.match(rows[0].text, /\(maker_id\)$/);
  assert.equal(rows[0].indisvalid, true);
});

test('a migration that takes away is refused until its users have ended, and then refuses them', async (t) => {
  const name = '901_no_high_value.sql';
  const { url, db, client, folder } = await ofLater(t, {
    [name]: `-- compatible from 901: 900 does not read it any more
alter table swaps drop column high_value;
`,
  });
  await db.rows({ name: 'test_session', text: 'select 1', values: [] });
  await assert.rejects(migrate(url, { folder }), ({ message }: Error) => {
    assert.match(message, /^migration 901_no_high_value\.sql takes away what versions before 901 /);
    assert.match(
      message,
      new RegExp(`and 1 sessions from .+ are of one that knows ${knows}: stop`),
    );
    return true;
  });
  const migrated = migrate(url, { folder });
  await asksForUsers(client);
  await db.close();
  assert.deepEqual(await migrated, [name]);
  await assert.rejects(migrate(url), {
    message:
      `this version (${version}) knows migrations up to ${knows}, and the database works only ` +
      `with versions that know 901, since version ${version} applied ${name}: start a later ` +
      'version, or restore a backup of before (docs/upgrade.md)',
  });
  await client.query(`update migrations set compatible_from = $1 where name = $2`, [knows, name]);
  assert.deepEqual(await migrate(url), []);
});
