// `ops backup`: a copy of the embedded database, whole or not there, while the market runs or
// not. docs/backup.md.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { type Manifest, takeBackup } from '../../host/postgres/backup.ts';
import { placesUnder } from '../../host/postgres/cluster.ts';
import { runningPostgres, startPostgres } from '../../host/postgres/postgres.ts';
import { connect } from '../../server/db/database.ts';
import { keyVersionOf } from '../../server/ports/keyring.ts';
import { readSettings } from '../../server/settings/config.ts';
import { Misused, parsed, usualOptions } from '../command.ts';
import { act, quiet } from './operator.ts';

const usage = `usage: npm run ops -- backup FOLDER [--key FILE] [--json]
  FOLDER   is made; a backup is whole or not there
  --key    also copies the server's own key to FILE, before the rest. It must not be in FOLDER: with
           both of them everything that is stored encrypted can be read, so keep them apart
Settings as for npm start: PARLEY_HOME. With DATABASE_URL use your server's own backups:
docs/backup.md. Exit status: 0 done, 1 refused, 2 not understood.`;

function understand(args: string[]) {
  const options = { ...usualOptions, key: { type: 'string' } } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help === true) return null;
  const [folder, ...rest] = positionals;
  if (folder === undefined) throw new Misused('which folder?');
  if (rest.length > 0) throw new Misused(`one folder, please, and not also "${rest.join(' ')}"`);
  const key = values.key === undefined ? null : resolve(values.key);
  if (key !== null && !relative(resolve(folder), key).startsWith('..')) {
    throw new Misused('the key must not lie in the backup: whoever has both can read everything');
  }
  return { folder: resolve(folder), key, json: values.json === true };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

async function run({ folder, key, json }: Asked): Promise<number> {
  const settings = readSettings(process.env);
  if (settings.databaseUrl !== null) {
    throw new Error(
      'DATABASE_URL is set: back that server up by its own means, as docs/backup.md says. ' +
        'This copies the embedded database only',
    );
  }
  const home = resolve(settings.home);
  const places = placesUnder(join(home, 'postgres'));
  const there = await readdir(folder).catch(() => []);
  if (there.length > 0) throw new Error(`${folder} is not empty: give another folder`);
  if ((await readdir(places.data).catch(() => [])).length === 0) {
    throw new Error(`there is no database in ${home}: set PARLEY_HOME to the market's`);
  }
  const { encryptionKey = null } = settings;
  const keyVersion = keyVersionOf({ home, encryptionKey });
  if (key !== null && encryptionKey !== null) {
    throw new Error('the key is in PARLEY_ENCRYPTION_KEY: keep that, there is no file of it');
  }
  // Before the backup: one that is whole must not look as if it had failed.
  if (key !== null) await copyKey(join(home, 'server.key'), key);
  const running = await runningPostgres(home);
  const own = running === null ? await startPostgres({ dir: home, log: quiet }) : null;
  const from = {
    url: running ?? own?.url ?? '',
    data: places.data,
    password: places.password,
    keyVersion,
    now: new Date(),
  };
  let manifest: Manifest;
  try {
    manifest = await takeBackup(from, folder);
    await noteBackup(from.url, { folder, key: key !== null }, manifest);
  } finally {
    await own?.stop();
  }
  const bytes = manifest.files.reduce((sum, each) => sum + each.bytes, 0);
  const files = manifest.files.length;
  if (json) console.log(JSON.stringify({ folder, files, bytes, madeAt: manifest.madeAt, key }));
  else console.log(`${folder}: ${files} files, ${Math.ceil(bytes / 1e6)} MB\n${keyAdvice(key)}`);
  return 0;
}

/** Its owner's alone, and never over another key. */
async function copyKey(from: string, to: string): Promise<void> {
  const key = await readFile(from, 'utf8');
  const there = await readFile(to, 'utf8').catch(() => null);
  if (there === key) return;
  if (there !== null) throw new Error(`${to} holds something else: give another --key`);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await writeFile(to, key, { mode: 0o600, flag: 'wx', flush: true });
}

function keyAdvice(key: string | null): string {
  return key === null
    ? "The server's own key is not in it: keep server.key of PARLEY_HOME, or " +
        'PARLEY_ENCRYPTION_KEY, somewhere else. Without it what is stored encrypted is lost.'
    : `The server's own key is in ${key}: keep it somewhere else than the backup.`;
}

/** A backup of an older version, such as before an upgrade, is made all the same. */
async function noteBackup(
  url: string,
  given: Readonly<Record<string, unknown>>,
  { files, madeAt }: Manifest,
): Promise<void> {
  const db = connect(url);
  try {
    const facts = { files: files.length, madeAt };
    await act(db, { command: 'backup', arguments: given }, async () => {
      return { result: undefined, changed: true, facts };
    });
  } catch (error) {
    const why = (error as Error).message;
    process.stderr.write(`the backup is whole; that it was made is not kept: ${why}\n`);
  } finally {
    await db.close();
  }
}

export const command = { usage, understand, run };
