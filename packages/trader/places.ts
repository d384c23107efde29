// Where things rest, by the XDG Base Directory Specification: profiles are configuration, and what
// must not be lost is data. Only the user reads them.

import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { makePrivateFolder, writePrivately } from '@parley/host/private-file.ts';
import { Failure } from './failures.ts';
import { mostProfileBytes, mustBeProfileName } from './profile.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export type Places = {
  readonly profile: string;
  readonly profileFile: string;
  /** The data of this profile: keystore, account, swaps. */
  readonly data: string;
  readonly keystore: string;
  readonly account: string;
  readonly store: string;
  readonly ended: string;
  readonly rescue: string;
};

/** Throws Failure `no_home`. */
export function foldersOf(env: Env): { readonly config: string; readonly data: string } {
  const under = (name: string, usual: readonly string[]) => {
    const given = env[name];
    // The specification: a relative path is to be ignored.
    if (given !== undefined && isAbsolute(given)) return join(given, 'parley');
    const home = env.HOME ?? env.USERPROFILE;
    if (home !== undefined && isAbsolute(home)) return join(home, ...usual, 'parley');
    throw new Failure('local', 'no_home', `neither ${name} nor HOME names a folder`);
  };
  const config = under('XDG_CONFIG_HOME', ['.config']);
  return { config, data: under('XDG_DATA_HOME', ['.local', 'share']) };
}

export function placesOf(env: Env, profile: string): Places {
  const { config, data: all } = foldersOf(env);
  const data = join(all, mustBeProfileName(profile));
  return {
    profile,
    profileFile: join(config, `${profile}.json`),
    data,
    keystore: join(data, 'keystore.json'),
    account: join(data, 'account.json'),
    store: join(data, 'store'),
    ended: join(data, 'ended'),
    rescue: join(data, 'rescue.json'),
  };
}

/** Without a name the only profile there is. Throws Failure `no_profile`. */
export async function chosenProfile(env: Env, given: string | undefined): Promise<string> {
  if (given !== undefined) return mustBeProfileName(given);
  const { config } = foldersOf(env);
  const names = ((await readdir(config).catch(nullIfMissing)) ?? [])
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
  const [only, ...more] = names;
  if (only !== undefined && more.length === 0) return only;
  const how =
    only === undefined
      ? 'there is no profile: make one with "parley init"'
      : `say which with --profile: ${names.sort().join(', ')}`;
  throw new Failure('needs_you', 'no_profile', how);
}

const faults: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read it',
  EISDIR: 'a folder has its name',
};

/** null: there is none. Throws Failure `too_large`, `unreadable`. */
export async function readUpTo(file: string, most = mostProfileBytes): Promise<string | null> {
  try {
    const { size } = await stat(file);
    if (size <= most) return await readFile(file, 'utf8');
    throw new Failure('local', 'too_large', `${file} has ${size} bytes, more than ${most}`);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    const fault = faults[code];
    if (fault === undefined) throw error;
    throw new Failure('local', 'unreadable', `${file} cannot be read: ${fault}`, { cause: error });
  }
}

/**
 * Throws Failure `open_to_others` where others of this machine may read it, or write another.
 * `user` null: Windows has no such owners and modes.
 */
export async function mustBePrivate(
  file: string,
  user: number | null = process.geteuid?.() ?? null,
): Promise<void> {
  const { mode, uid } = await stat(file);
  const fault = openTo({ mode, uid }, user);
  if (fault !== null) throw new Failure('local', 'open_to_others', `${file} ${fault}`);
}

/** null: to nobody but this user, and root. */
function openTo(
  { mode, uid }: { readonly mode: number; readonly uid: number },
  user: number | null,
): string | null {
  if (user === null) return null;
  if (uid !== user && uid !== 0) {
    return `belongs to user ${uid}, and this is user ${user}: chown it first, and look what is in it`;
  }
  if ((mode & 0o077) === 0) return null;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `has mode ${shown}, and others may read it: chmod 600 it first`;
}

/**
 * On disk when it resolves, with mode 0600, in a folder of mode 0700. `isNew`: never in the place of
 * another: throws Failure `exists`.
 */
export async function writePrivate(
  file: string,
  text: string,
  how: { readonly isNew?: boolean } = {},
): Promise<void> {
  await makePrivateFolder(dirname(file));
  try {
    await writePrivately(file, text, how);
  } catch (error) {
    if (how.isNew !== true || (error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Failure('local', 'exists', `${file} is there already: it is not written over`);
  }
}
