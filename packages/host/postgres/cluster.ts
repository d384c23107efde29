// The data folder on disk: created whole or not at all, its password beside it, and the truth about
// `postmaster.pid`, PostgreSQL's own note of who is running on it.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chown,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endBySteps, type Step } from '../end-process.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './failure.ts';
import type { Identity } from './identity.ts';

export const superuser = 'parley';

const majorVersion = '18';
const initLimitMs = 120_000;
/** Fast shutdown writes a checkpoint; a slow disk may take its time over it. */
const fastShutdownMs = 30_000;
const immediateShutdownMs = 10_000;
const reapLimitMs = 2_000;
const pollMs = 20;
/** Above the largest pid that Linux or macOS gives out, so never a live process. */
const pidOfNobody = 2_147_483_600;

export type Places = {
  readonly base: string;
  readonly data: string;
  readonly log: string;
  readonly password: string;
  readonly libraries: string;
};

export function placesUnder(base: string): Places {
  return {
    base,
    data: join(base, 'data'),
    log: join(base, 'server.log'),
    password: join(base, 'password'),
    libraries: join(base, 'lib'),
  };
}

export async function dataOwner(places: Places): Promise<number | null> {
  const found = await stat(places.data).catch(() => null);
  return found === null ? null : found.uid;
}

export async function prepareCluster(
  places: Places,
  binaries: Binaries,
  identity: Identity,
  signal: AbortSignal | undefined,
): Promise<{ password: string }> {
  const version = await readIfThere(join(places.data, 'PG_VERSION'));
  const stored = await readIfThere(places.password);
  if (version !== null) {
    checkVersion(version.trim(), places);
    if (stored !== null && stored.trim() !== '') return { password: stored.trim() };
    throw new EmbeddedPostgresError(
      'password_missing',
      `The database in ${places.data} is there, but its password file ${places.password} is ` +
        'not. Restore that file, or move the folder away to begin with an empty database.',
      { passwordFile: places.password },
    );
  }
  const password = randomBytes(24).toString('base64url');
  await writePrivately(places.password, password);
  await createCluster(places, binaries, identity, password, signal);
  return { password };
}

function checkVersion(version: string, places: Places): void {
  if (version === majorVersion) return;
  throw new EmbeddedPostgresError(
    'wrong_version',
    `The database in ${places.data} was made by PostgreSQL ${version} and this is ` +
      `${majorVersion}. Dump it with the older release, or move the folder away.`,
    { found: version, wanted: majorVersion },
  );
}

async function createCluster(
  places: Places,
  binaries: Binaries,
  identity: Identity,
  password: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // A new name each time until it is complete: a crash leaves nothing half made.
  const making = `${places.data}.new-${randomBytes(6).toString('hex')}`;
  const passwordFile = join(places.base, 'password.new');
  await removeUnfinished(places);
  await mkdir(making, { mode: 0o700 });
  await writePrivately(passwordFile, `${password}\n`);
  if (identity.owner !== null) {
    await chown(making, identity.owner.uid, identity.owner.gid);
    await chown(passwordFile, identity.owner.uid, identity.owner.gid);
  }
  const args = [
    `--pgdata=${making}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  try {
    await run(identity.command(binaries.initdb, args), binaries, places, signal);
    await rename(making, places.data);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

function run(
  command: ReturnType<Identity['command']>,
  binaries: Binaries,
  places: Places,
  signal: AbortSignal | undefined,
): Promise<void> {
  const limit = AbortSignal.timeout(initLimitMs);
  return new Promise((resolve, reject) => {
    const child = spawn(command.file, command.args, {
      cwd: places.base,
      detached: true,
      env: databaseEnvironment(binaries),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      ...(command.uid === undefined ? {} : { uid: command.uid, gid: command.gid ?? command.uid }),
    });
    let output = '';
    let cause: Error | undefined;
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => {
      cause = error;
    });
    // Not before it has closed: an interrupted initdb still clears up after itself.
    child.once('close', (code) => {
      if (code === 0) return resolve();
      const failure = signal?.aborted ? 'aborted' : 'init_failed';
      const words = output === '' ? (cause?.message ?? '') : lastLine(output);
      const message = `The database could not be created in ${places.data}: ${words}`;
      reject(new EmbeddedPostgresError(failure, message, { output }, { cause }));
    });
  });
}

async function removeUnfinished(places: Places): Promise<void> {
  const prefix = `${basename(places.data)}.new-`;
  for (const name of await readdir(places.base)) {
    if (!name.startsWith(prefix)) continue;
    await rm(join(places.base, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Our own environment stays out: a stray PGDATA or PGOPTIONS must not reach the database. */
export function databaseEnvironment(binaries: Binaries): Record<string, string> {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...binaries.env };
}

export function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const told = lines.findLast((line) => /error|fatal|panic/i.test(line));
  return (told ?? lines.at(-1) ?? 'it said nothing').trim();
}

/** Ends a postmaster that a crash left; a note that names another process is made harmless. */
export async function endOrphan(places: Places): Promise<'none' | 'stopped' | 'disowned'> {
  const file = join(places.data, 'postmaster.pid');
  const text = await readIfThere(file);
  const pid = Number(text?.split('\n')[0]);
  if (text === null || !Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return 'none';
  const ours = await isPostmasterOf(pid, places.data);
  if (ours) await endPostmaster(pid);
  await untilReaped(pid);
  if (isAlive(pid)) await writeFile(file, text.replace(/^[^\n]*/, String(pidOfNobody)));
  return ours ? 'stopped' : 'disowned';
}

/** An ended process keeps its pid, and counts as alive, until its parent has asked after it. */
async function untilReaped(pid: number): Promise<void> {
  for (let waited = 0; waited < reapLimitMs && isAlive(pid); waited += pollMs) {
    if ((await commandLineOf(pid)).length > 0) return;
    await sleep(pollMs);
  }
}

export async function endPostmaster(pid: number): Promise<void> {
  const steps: Step[] = [
    { signal: 'SIGINT', limitMs: fastShutdownMs },
    { signal: 'SIGQUIT', limitMs: immediateShutdownMs },
    { signal: 'SIGKILL', limitMs: immediateShutdownMs },
  ];
  const isGone = async () => !isAlive(pid) || (await commandLineOf(pid)).length === 0;
  await endBySteps(pid, steps, isGone);
}

/**
 * Ends the children of a postmaster that is gone, and tells how many. They end by themselves, but
 * for one that waits for a lock whose holder was killed: it waits for ever, and no database starts
 * beside it. Only Linux tells whose they are, and of another user's only to those it trusts.
 */
export async function endLeftovers({ data }: Places): Promise<number> {
  const names = await readdir('/proc').catch(() => []);
  let ended = 0;
  for (const pid of names.map(Number).filter(Number.isSafeInteger)) {
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    if (folder !== data) continue;
    const [title] = await commandLineOf(pid);
    if (title?.startsWith('postgres: ') !== true) continue;
    if (killed(pid)) ended += 1;
  }
  return ended;
}

function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function isPostmasterOf(pid: number, data: string): Promise<boolean> {
  const [program, ...args] = await commandLineOf(pid);
  return (program?.endsWith('postgres') ?? false) && args.includes(data);
}

/** Empty for a process that is gone or only waits to be reaped. */
async function commandLineOf(pid: number): Promise<readonly string[]> {
  if (process.platform === 'linux') {
    const text = await readIfThere(`/proc/${pid}/cmdline`);
    return (text ?? '').split('\0').filter((part) => part !== '');
  }
  return new Promise((resolve) => {
    const child = spawn('ps', ['-o', 'command=', '-p', String(pid)], { stdio: 'pipe' });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once('error', () => resolve([]));
    child.once('close', () => resolve(text.trim().split(' ').filter(Boolean)));
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function writePrivately(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx', flush: true });
}

export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
