// The text that an operator reads when a market does not start.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { startPgbouncer } from '@parley/verify/test/support/pgbouncer.ts';
import { pino } from 'pino';
import { migrate } from '../db/migrate.ts';
import { readSettings } from '../settings/config.ts';
import { startMarket } from './boot.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let home: string;
let database: TestDatabase;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-naming-'));
  database = await testDatabase();
});
after(async () => {
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

/** The sentence of a start that must fail. */
async function refusedStart(env: Record<string, string>): Promise<string> {
  const start = async () => {
    const settings = readSettings({ PARLEY_HOME: home, PORT: '0', ...env });
    return startMarket(settings, pino({ level: 'silent' }));
  };
  return start().then(
    async (market) => {
      await market.stop();
      return assert.fail('it started');
    },
    (error: Error) => error.message,
  );
}

test('a start that fails prints one sentence with the setting, and no stack', async () => {
  const file = join(home, 'file');
  await writeFile(file, '');
  const child = spawn(process.execPath, ['scripts/launch.mjs', 'apps/market/main.ts', '--json'], {
    cwd: root,
    env: { ...process.env, PARLEY_HOME: file, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const [printed, said, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  assert.deepEqual([status, printed], [1, ''], said);
  assert.match(said, /^not started: PARLEY_HOME: EEXIST.+\n$/);
});

test('DATABASE_URL: what is wrong with it, and never its password', async () => {
  const password = 'k3ep-th1s';
  const wrong = (change: (url: URL) => void) => {
    const url = new URL(database.url);
    change(url);
    return refusedStart({ DATABASE_URL: url.href });
  };
  const away = await wrong((url) => {
    url.port = '9';
    url.password = password;
  });
  assert.match(away, /^DATABASE_URL: .*ECONNREFUSED/);
  const refused = await wrong((url) => {
    url.password = password;
  });
  assert.match(refused, /^DATABASE_URL: password authentication failed/);
  const cut = `postgres://me:12/${password}@db/x`;
  const forms = [
    await refusedStart({ DATABASE_URL: cut }),
    await refusedStart({ DATABASE_URL: database.url, DATABASE_READ_URL: cut }),
  ];
  for (const said of forms) assert.match(said, /URL: it must be of the form postgres:/);
  const all = [away, refused, ...forms].join('');
  assert.ok(!all.includes(password) && !all.includes(new URL(database.url).password));
});

test('a pooler that hands sessions round is refused at the start by its mode', async () => {
  const pooled = await startPgbouncer(database.url, 'transaction');
  try {
    const said = await refusedStart({ DATABASE_URL: pooled.url });
    assert.match(said, /^DATABASE_URL: .+\(transaction mode\); name PostgreSQL itself, or/);
    const reading = { DATABASE_URL: database.url, DATABASE_READ_URL: pooled.url };
    assert.match(await refusedStart(reading), /^DATABASE_READ_URL: .+\(transaction mode\)/);
  } finally {
    await pooled.stop();
  }
});

test('a database of another version says which migration, and what to do', async () => {
  const { db, url } = database;
  const update = `update migrations set sha256 = 'other' where name =
    (select max(name) from migrations) returning name`;
  const [row] = await db.rows<{ name: string }>({ name: 'test_alter', text: update, values: [] });
  const message =
    `migration ${row?.name} changed after it was applied to this database: run the version that ` +
    'made the database, or take an empty one (another PARLEY_HOME or DATABASE_URL)';
  await assert.rejects(migrate(url), { message });
});
