// The text that an operator reads when a market does not start.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { pino } from 'pino';
import { migrate } from '../db/migrate.ts';
import { mustHoldServerKey } from '../ports/server-key.ts';
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

async function start(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  flags: readonly string[] = [],
) {
  const command = [...flags, 'scripts/launch.mjs', 'apps/market/main.ts', ...args];
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: { ...process.env, PARLEY_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const [printed, said, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { printed, said, status };
}

test('a start that fails prints one sentence with the setting, and no stack', async () => {
  const file = join(home, 'file');
  await writeFile(file, '');
  const { status, printed, said } = await start({ PARLEY_HOME: file, PORT: '0' }, ['--json']);
  assert.deepEqual([status, printed], [1, ''], said);
  assert.match(said, /^not started: PARLEY_HOME: EEXIST.+\n$/);
});

test('the first line is there before any part of the server is loaded', async () => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => {
      if (url.endsWith('.ts')) console.log(url);
      return next(url, context);
    } });`;
  const imported = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
  const { printed, said } = await start({ PORT: 'none' }, [], [imported]);
  const [entry = '', line = '', next = ''] = printed.split('\n');
  assert.match(entry, /market\/main\.ts$/);
  assert.equal(line, 'Starting the market. Its address follows.');
  assert.match(next, /^file:/);
  assert.match(said, /PORT/);
});

test('a port that is taken is refused before anything is written', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const unused = join(home, 'unused');
  for (const [env, message] of [
    [{ PORT: `${port}` }, /^HOST 127\.0\.0\.1 and PORT \d+: listen EADDRINUSE/],
    [{ PORT: '0', PARLEY_METRICS_PORT: `${port}` }, /^PARLEY_METRICS_PORT: listen EADDRINUSE/],
  ] as const) {
    const settings = readSettings({ PARLEY_HOME: unused, ...env });
    await assert.rejects(startMarket(settings, pino({ level: 'silent' })), { message });
    assert.equal(existsSync(unused), false);
  }
});

test('a market with another key than its database knows is refused before it asks a node', async () => {
  const evm = { family: 'evm', chain: 'e', chainId: 31_337, rpcUrls: ['http://127.0.0.1:1'] };
  const own = { home, encryptionKey: '11'.repeat(32) };
  await mustHoldServerKey({ db: database.db, settings: own });
  const settings = readSettings({
    DATABASE_URL: database.url,
    PARLEY_HOME: home,
    PARLEY_ENCRYPTION_KEY: '22'.repeat(32),
    PARLEY_CHAINS: JSON.stringify([evm]),
    PORT: '0',
  });
  await assert.rejects(startMarket(settings, pino({ level: 'silent' })), {
    message: /^PARLEY_ENCRYPTION_KEY: values in this database are sealed with another key/,
  });
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
