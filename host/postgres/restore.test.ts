// A restore that is killed, on a real PostgreSQL: no start takes the folder it leaves for a
// database.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  lstat,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../server/db/migrate.ts';
import { nextEvent, waitUntil } from '../../test/support/waiting.ts';
import { lockFolder } from '../folder-lock.ts';
import { type Manifest, takeBackup } from './backup.ts';
import { findBinaries } from './binaries.ts';
import { databaseEnvironment, dataOwner, isAlive, placesUnder, readIfThere } from './cluster.ts';
import { chooseIdentity } from './identity.ts';
import { startPostgres } from './postgres.ts';
import { mustBeKnown, restoreInto } from './restore.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
let dir: string;
let backup: { folder: string; manifest: Manifest };
const home = (name: string) => join(dir, name);

async function asked(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-restore-'));
  const database = await startPostgres({ dir: home('old'), log: quiet });
  try {
    await migrate(database.url);
    await asked(database.url, 'create table kept as select 7 as seven');
    const { data, password } = placesUnder(join(home('old'), 'postgres'));
    const source = { url: database.url, data, password, keyVersion: null, now: new Date() };
    backup = { folder: home('backup'), manifest: await takeBackup(source, home('backup')) };
  } finally {
    await database.stop();
  }
});
after(() => rm(dir, { recursive: true, force: true }));

/** Kills itself with a restore half done: its database recovered and running. */
async function killedRestore(into: string): Promise<void> {
  const at = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const program = join(dir, 'killed.mjs');
  const { folder } = backup;
  await writeFile(
    program,
    `import { checkBackup } from ${at('backup.ts')};
    import { restoreInto } from ${at('restore.ts')};
    const quiet = { info: () => {}, warn: () => {}, error: () => {} };
    const folder = ${JSON.stringify(folder)};
    const manifest = await checkBackup(folder);
    await restoreInto(${JSON.stringify(into)}, { folder, manifest }, quiet, async () => {
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => {});
    });`,
  );
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = await nextEvent(child, 'exit');
  assert.equal(signal, 'SIGKILL');
}

/** What a killed restore left, running as it does where nothing ties it to who started it. */
async function leaveOrphan(t: TestContext, into: string): Promise<number> {
  const places = placesUnder(await realpath(join(into, 'postgres')));
  const note = join(places.data, 'postmaster.pid');
  const running = Number((await readIfThere(note))?.split('\n')[0]);
  await waitUntil(() => running <= 0 || !isAlive(running));
  const binaries = await findBinaries(places.libraries);
  const owner = await dataOwner(places);
  const { command } = await chooseIdentity(owner, [places.base, dirname(binaries.postgres)]);
  const options = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${places.base}`];
  const { file, args, uid, gid } = command(binaries.postgres, ['-D', places.data, ...options]);
  const orphan = spawn(file, args, {
    cwd: places.base,
    env: databaseEnvironment(binaries),
    stdio: 'ignore',
    ...(uid === undefined ? {} : { uid, gid: gid ?? uid }),
  });
  t.after(() => orphan.kill('SIGKILL'));
  const { pid } = orphan;
  assert.ok(pid !== undefined);
  for (let lines: string[] = []; Number(lines[0]) !== pid || lines[7]?.trim() !== 'ready'; ) {
    assert.equal(orphan.exitCode, null);
    await sleep(20);
    lines = ((await readIfThere(note)) ?? '').split('\n');
  }
  return pid;
}

test('a backup of a later version is refused with both numbers, and by which version it is restored', async () => {
  const of = (name: string) =>
    mustBeKnown({ migrations: [{ name, sha256: '' }] } as unknown as Manifest);
  const words =
    /up to 999, and of 999_later\.sql .* up to \d{3}, has nothing: .* made it, or a later/;
  await assert.rejects(of('999_later.sql'), words);
  await assert.rejects(of('001_market.sql'), /up to 001, .* has another text: /);
});

test('what a killed restore leaves is started by nobody; the next one ends it and begins anew', async (t) => {
  // By way of a link, too.
  const into = home('link');
  await symlink(await mkdtemp(home('real-')), into);
  await killedRestore(into);
  await assert.rejects(startPostgres({ dir: into, log: quiet }), {
    code: 'half_restored',
    message: /^A restore into .+ ended before it was done\. Run it again/,
  });
  const orphan = process.platform === 'linux' ? await leaveOrphan(t, into) : null;
  let finished = 0;
  await restoreInto(into, backup, quiet, async ({ url }) => {
    assert.ok(orphan === null || !isAlive(orphan), 'two would run on one folder');
    assert.deepEqual(await asked(url, 'select seven from kept'), [{ seven: 7 }]);
    finished += 1;
  });
  assert.equal(finished, 1);
  const database = await startPostgres({ dir: into, log: quiet });
  try {
    assert.deepEqual(await asked(database.url, 'select seven from kept'), [{ seven: 7 }]);
  } finally {
    await database.stop();
  }
  // It is one now.
  await assert.rejects(
    restoreInto(into, backup, quiet, async () => {}),
    { code: 'in_use' },
  );
});

test('a restore that is refused leaves the key that was there, which may be the only one', async () => {
  const into = await mkdtemp(home('keyed-'));
  const key = join(into, 'server.key');
  await writeFile(key, 'aa'.repeat(32), { mode: 0o600 });
  const program = new URL('../../scripts/ops.ts', import.meta.url).pathname;
  const args = [program, 'restore', backup.folder, '--home', into, '--key', key];
  const held = await lockFolder(into, 'restore');
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (part: Buffer) => {
    said += part;
  });
  const [code] = await nextEvent(child, 'close');
  await held?.release();
  assert.equal(code, 1, said);
  assert.match(said, /Another process restores into/);
  assert.equal(await readFile(key, 'utf8'), 'aa'.repeat(32));
});

test('one that fails leaves nothing, of two at once the second is refused, and a link stays one', async () => {
  const into = await mkdtemp(home('linked-'));
  const volume = await mkdtemp(home('volume-'));
  await symlink(volume, join(into, 'postgres'));
  const failing = restoreInto(into, backup, quiet, async () => {
    const second = restoreInto(into, backup, quiet, async () => {});
    await assert.rejects(second, { code: 'in_use', message: /Another process restores into/ });
    throw new Error('as wanted');
  });
  await assert.rejects(failing, /as wanted/);
  assert.deepEqual([await readdir(volume), await readdir(into)], [[], ['postgres']]);
  const free = await lockFolder(into, 'restore');
  assert.notEqual(free, null);
  await free?.release();
  await restoreInto(into, backup, quiet, async () => {});
  assert.ok((await readdir(volume)).includes('data'));
  assert.ok((await lstat(join(into, 'postgres'))).isSymbolicLink());
  // A folder that cannot be read is not taken for empty.
  const odd = await mkdtemp(home('odd-'));
  await writeFile(join(odd, 'postgres'), 'a file');
  await assert.rejects(
    restoreInto(odd, backup, quiet, async () => {}),
    { code: 'ENOTDIR' },
  );
  assert.equal(await readFile(join(odd, 'postgres'), 'utf8'), 'a file');
});
