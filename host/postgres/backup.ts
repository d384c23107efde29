// A copy of the embedded database while it runs, by PostgreSQL's own low-level steps (its manual,
// 25.3.4): begin, copy the files as they change, end, and add the write-ahead log of that while.
// Every file is on disk before a manifest with its hash is, and the folder gets its name last: a
// backup is whole or not there.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { inParallel } from '../in-parallel.ts';
import { withClient } from './client.ts';

export const manifestName = 'manifest.json';
const format = 1;
/** The limit of one statement: the first checkpoint of a busy database may take its time. */
const statementMs = 600_000;
/** Made anew for each file, and most of a thousand files are small. */
const chunkBytes = 64 * 1024;
const atOnce = 4;
/** No database of this program has as many files. */
const mostFiles = 1_000_000;
/** What a start makes anew, and what says whose the running one is. */
const leftOut = [
  /^postmaster\.(pid|opts)$/,
  /^pg_(wal|dynshmem|notify|serial|snapshots|stat_tmp|subtrans|replslot)\/./,
  /(^|\/)(pgsql_tmp|pg_internal\.init)/,
  /^(backup_label|tablespace_map)$/,
];

export type BackupFile = { readonly path: string; readonly bytes: number; readonly sha256: string };

export type Manifest = {
  readonly format: number;
  readonly madeAt: string;
  readonly postgres: string;
  /** The schema, as applied. */
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
  /** Names the server's own key without giving anything of it away. */
  readonly keyVersion: number | null;
  readonly folders: readonly string[];
  readonly files: readonly BackupFile[];
};

export type BackupFailure = 'damaged' | 'newer' | 'not_a_backup' | 'changed';

export class BackupError extends Error {
  readonly code: BackupFailure;

  constructor(code: BackupFailure, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'BackupError';
    this.code = code;
  }
}

export type Source = {
  /** Of the running database: its superuser. */
  readonly url: string;
  readonly data: string;
  /** Beside the data: the superuser's password. */
  readonly password: string;
  readonly keyVersion: number | null;
  readonly now: Date;
};

export async function takeBackup(source: Source, folder: string): Promise<Manifest> {
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  const making = join(parent, `.${basename(folder)}.${process.pid}`);
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { mode: 0o700 });
  try {
    const manifest = await copyRunning(source, making);
    await writeWhole(join(making, manifestName), `${JSON.stringify(manifest)}\n`);
    await writeWhole(
      join(making, `${manifestName}.sha256`),
      `${hashOf(JSON.stringify(manifest))}\n`,
    );
    await syncFolder(making);
    await rename(making, folder);
    await syncFolder(parent);
    return manifest;
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    throw error;
  }
}

function copyRunning(source: Source, making: string): Promise<Manifest> {
  const config = {
    connectionString: source.url,
    statement_timeout: statementMs,
    application_name: 'parley-backup',
  };
  return withClient(config, async (client) => {
    // Ends with the session: until then no log that the copy needs is recycled.
    const slot = `parley_backup_${process.pid}`;
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
    const begun = await one(
      client,
      `select pg_walfile_name(lsn) as wal, current_setting('server_version') as version
       from pg_backup_start('parley', true) as lsn`,
    );
    const to = join(making, 'data');
    const { folders, files } = await copyData(source.data, to);
    const ended = await one(
      client,
      `select labelfile, spcmapfile, pg_walfile_name(lsn) as wal from pg_backup_stop(false)`,
    );
    files.push(await addText(making, 'data/backup_label', ended.labelfile ?? ''));
    if (ended.spcmapfile?.trim()) {
      throw new BackupError('changed', 'the database has tablespaces, which are not copied');
    }
    files.push(...(await copyLog(source.data, to, begun.wal ?? '', ended.wal ?? '')));
    files.push(await addText(making, 'password', await readFile(source.password, 'utf8')));
    const found = await client.query('select name, sha256 from migrations order by name');
    for (const path of folders.toReversed()) await syncFolder(join(to, path));
    return {
      format,
      folders,
      files,
      migrations: found.rows,
      madeAt: source.now.toISOString(),
      postgres: begun.version ?? '',
      keyVersion: source.keyVersion,
    };
  });
}

async function one(client: pg.Client, text: string): Promise<Record<string, string | undefined>> {
  const [row] = (await client.query(text)).rows;
  return row ?? {};
}

async function copyData(from: string, to: string) {
  const folders: string[] = [''];
  const paths: string[] = [];
  for (let at = 0; at < folders.length; at += 1) {
    const folder = folders[at] as string;
    await mkdir(join(to, folder), { recursive: true, mode: 0o700 });
    const inside = await readdir(join(from, folder), { withFileTypes: true }).catch(ifThere);
    for (const entry of inside ?? []) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isSymbolicLink()) {
        throw new BackupError('changed', `${join(from, path)} is a link, which is not copied`);
      }
      const isLog = path === 'pg_wal/archive_status' || path === 'pg_wal/summaries';
      if (!isLog && leftOut.some((each) => each.test(path))) continue;
      if (entry.isDirectory()) folders.push(path);
      else paths.push(path);
    }
    if (paths.length + folders.length > mostFiles) {
      throw new BackupError('changed', `${from} holds more than ${mostFiles} files`);
    }
  }
  const files: BackupFile[] = [];
  await inParallel(paths, atOnce, async (path) => {
    // A table may be dropped meanwhile: the log says so.
    const copied = await copyFile(join(from, path), join(to, path)).catch(ifThere);
    if (copied !== null) files.push({ path: `data/${path}`, ...copied });
  });
  return { folders, files };
}

async function copyLog(from: string, to: string, first: string, last: string) {
  const isSegment = (name: string) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last;
  const names = (await readdir(join(from, 'pg_wal'))).filter(
    (name) => isSegment(name) || name.endsWith('.history'),
  );
  if (!names.includes(first) || !names.includes(last)) {
    throw new BackupError('changed', `the log from ${first} to ${last} is not there any more`);
  }
  const files: BackupFile[] = [];
  for (const name of names.sort()) {
    const path = `pg_wal/${name}`;
    files.push({ path: `data/${path}`, ...(await copyFile(join(from, path), join(to, path))) });
  }
  return files;
}

function ifThere(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function copyFile(from: string, to: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(
      createReadStream(from, { highWaterMark: chunkBytes }),
      async function* (parts: AsyncIterable<Buffer>) {
        for await (const part of parts) {
          hash.update(part);
          bytes += part.length;
          yield part;
        }
      },
      createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }),
    );
  } catch (error) {
    // Files that were there before are not ours to delete.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(to, { force: true });
    throw error;
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function addText(folder: string, path: string, text: string): Promise<BackupFile> {
  await writeWhole(join(folder, path), text);
  return { path, bytes: Buffer.byteLength(text), sha256: hashOf(text) };
}

function writeWhole(file: string, text: string): Promise<void> {
  return writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true });
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export async function checkBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  if (manifest.format !== format) {
    const sentence = `${folder} is a backup of format ${manifest.format}, not ${format}`;
    throw new BackupError('newer', `${sentence}: restore it with the version that made it`);
  }
  await inParallel(manifest.files, atOnce, async ({ path, bytes, sha256 }) => {
    const file = join(folder, path);
    if (relative(folder, file).startsWith('..'))
      throw damaged(folder, `${path} lies outside of it`);
    const found = await stat(file).catch(ifThere);
    if (found === null) throw damaged(folder, `${path} is missing`);
    if (found.size !== bytes)
      throw damaged(folder, `${path} has ${found.size} bytes, not ${bytes}`);
    if ((await hashFile(file)) !== sha256)
      throw damaged(folder, `${path} is not as it was written`);
  });
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  const [text, hash] = await Promise.all(
    [manifestName, `${manifestName}.sha256`].map((name) =>
      readFile(join(folder, name), 'utf8').catch(ifThere),
    ),
  );
  if (text == null || hash == null) {
    const sentence = `${folder} is no backup, or one that was not finished: it has no manifest`;
    throw new BackupError('not_a_backup', sentence);
  }
  if (hashOf(text.trim()) !== hash.trim()) throw damaged(folder, 'its manifest was changed');
  return JSON.parse(text) as Manifest;
}

function damaged(folder: string, what: string): BackupError {
  return new BackupError('damaged', `the backup ${folder} is damaged: ${what}. Take another one`);
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: chunkBytes }), hash);
  return hash.digest('hex');
}

export async function layDown(folder: string, manifest: Manifest, data: string): Promise<void> {
  for (const path of manifest.folders)
    await mkdir(join(data, path), { recursive: true, mode: 0o700 });
  const inside = manifest.files.filter(({ path }) => path.startsWith('data/'));
  await inParallel(inside, atOnce, async ({ path, sha256 }) => {
    const copied = await copyFile(join(folder, path), join(data, path.slice('data/'.length)));
    if (copied.sha256 !== sha256) throw damaged(folder, `${path} changed while it was read`);
  });
  for (const path of manifest.folders.toReversed()) await syncFolder(join(data, path));
}
