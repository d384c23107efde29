// A backup laid down as a database of its own, in a home that has none. Until all of it is done, a
// note beside the data keeps every start away from it, and the next restore begins anew: whatever
// ended this one. A failure leaves nothing.

import { createHash, randomBytes } from 'node:crypto';
import {
  chown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lockFolder } from '../folder-lock.ts';
import type { Log } from '../log.ts';
import { BackupError, layDown, type Manifest, syncFolder } from './backup.ts';
import { findBinaries } from './binaries.ts';
import { withClient } from './client.ts';
import { endOrphan, type Places, placesUnder, superuser } from './cluster.ts';
import { EmbeddedPostgresError } from './failure.ts';
import { chooseIdentity, type Owner } from './identity.ts';
import { type EmbeddedPostgres, startPostgres } from './postgres.ts';

const migrations = new URL('../../server/db/migrations/', import.meta.url);

export async function mustBeKnown(manifest: Manifest): Promise<void> {
  const names = new Set(await readdir(migrations));
  const numberOf = (all: readonly string[]) => (all.toSorted().at(-1) ?? '000').slice(0, 3);
  const own = numberOf([...names].filter((name) => name.endsWith('.sql')));
  const theirs = numberOf(manifest.migrations.map(({ name }) => name));
  for (const { name, sha256 } of manifest.migrations) {
    const text = names.has(name) ? await readFile(new URL(name, migrations), 'utf8') : '';
    if (createHash('sha256').update(text).digest('hex') === sha256) continue;
    throw new BackupError(
      'newer',
      `the backup has migrations up to ${theirs}, and of ${name} this program, which knows those ` +
        `up to ${own}, has ${text === '' ? 'nothing' : 'another text'}: restore it with the ` +
        'version that made it, or a later one (docs/restore.md)',
    );
  }
}

/** Throws EmbeddedPostgresError `in_use`; one whose restore was never finished is none. */
export async function mustHaveNone(home: string): Promise<void> {
  const base = join(home, 'postgres');
  const inside = await entriesOf(base);
  if (inside.length === 0 || inside.includes(basename(placesUnder(base).unfinished))) return;
  throw new EmbeddedPostgresError(
    'in_use',
    `There is a database in ${home} already. Restore into another home: nothing is overwritten.`,
    { folder: home },
  );
}

const entriesOf = async (folder: string) => (await ifThere(readdir(folder))) ?? [];

/** Null where nothing is there. Any other failure says nothing of what is. */
async function ifThere<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** `finish` works on it before it gets a password of its own. Throws `in_use`. */
export async function restoreInto(
  home: string,
  backup: Backup,
  log: Log,
  finish: (database: EmbeddedPostgres) => Promise<void>,
): Promise<void> {
  const base = resolve(home, 'postgres');
  // Whatever link led to it: what runs on it was started by its real path.
  const places = placesUnder((await ifThere(realpath(base))) ?? base);
  const lock = await lockFolder(home, 'restore');
  if (lock === null) {
    const sentence = `Another process restores into ${home} just now.`;
    throw new EmbeddedPostgresError('in_use', sentence, { folder: home });
  }
  try {
    await mustHaveNone(home);
    await endOrphan(places);
    await clear(places);
    const made = await mkdir(places.base, { recursive: true, mode: 0o700 });
    await writeFile(places.unfinished, '', { flush: true });
    await syncFolder(places.base);
    try {
      await lay(home, places, backup, log, finish);
    } catch (error) {
      await clear(places);
      if (made !== undefined) await rmdir(places.base);
      throw error;
    }
    await rm(places.unfinished);
    await syncFolder(places.base);
  } finally {
    await lock.release();
  }
}

type Backup = { readonly folder: string; readonly manifest: Manifest };

/** The contents of the folder, and not the folder, which may be a volume or a link to another
 * place. */
async function clear({ base, unfinished }: Places): Promise<void> {
  const inside = await entriesOf(base);
  // The note goes last: a folder left without it would be taken for a database.
  const last = basename(unfinished);
  for (const name of inside.filter((each) => each !== last)) {
    await rm(join(base, name), { recursive: true, force: true });
  }
  await rm(unfinished, { force: true });
}

async function lay(
  home: string,
  places: Places,
  { folder, manifest }: Backup,
  log: Log,
  finish: (database: EmbeddedPostgres) => Promise<void>,
): Promise<void> {
  await layDown(folder, manifest, places.data);
  const { postgres } = await findBinaries(places.libraries);
  const { owner } = await chooseIdentity(null, [places.base, dirname(postgres)]);
  if (owner !== null) await giveTo(owner, places.data);
  const password = await readFile(join(folder, 'password'), 'utf8');
  await writeFile(places.password, password, { mode: 0o600, flag: 'wx', flush: true });
  const database = await startPostgres({ dir: home, log, isRestoring: true });
  try {
    await finish(database);
    await changePassword(database.url, places.password);
  } finally {
    await database.stop();
  }
}

async function giveTo(owner: Owner, data: string): Promise<void> {
  await chown(data, owner.uid, owner.gid);
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
    await chown(join(entry.parentPath, entry.name), owner.uid, owner.gid);
  }
}

/** The holder of the backup has the old one. */
async function changePassword(url: string, file: string): Promise<void> {
  const password = randomBytes(24).toString('base64url');
  // The characters are base64url alone, which needs no quoting.
  const change = `alter role ${superuser} password '${password}'`;
  await withClient({ connectionString: url }, (client) => client.query(change));
  await writeFile(`${file}.new`, password, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}
