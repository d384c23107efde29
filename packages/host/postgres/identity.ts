// Which operating-system user the database runs as, and how to start a program as that user.
// PostgreSQL refuses to run as root, so root lends it another user. Where that user cannot walk to
// our folders (a checkout under /root, mode 0700), it gets the one capability that opens folders
// to it; the start copies nothing and creates no user.
import { access, constants, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './failure.ts';

/** Users that exist for this on Debian, best first. Any of them may own the data. */
const candidates = ['postgres', 'nobody', 'daemon'];

export type Owner = { readonly uid: number; readonly gid: number; readonly name: string };

export type Identity = {
  /** Null when we are not root: the database is then simply ours. */
  readonly owner: Owner | null;
  command(program: string, args: readonly string[]): Command;
};

export type Command = {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
};

/** `keepUid` is the owner of a data folder that exists already; `paths` must be reachable. */
export async function chooseIdentity(
  keepUid: number | null,
  paths: readonly string[],
): Promise<Identity> {
  const setpriv = process.platform === 'linux' ? await findProgram('setpriv') : null;
  if (process.getuid?.() !== 0) return ordinaryIdentity(setpriv);
  const owner = await chooseOwner(keepUid);
  const blocked = await firstClosedFolder(paths, owner);
  if (blocked !== null && setpriv === null) {
    throw new EmbeddedPostgresError(
      'unreachable_folder',
      `PostgreSQL may not run as root, and the user ${owner.name} cannot enter ${blocked}. ` +
        'Install util-linux (for setpriv), or run as an ordinary user, or set DATABASE_URL.',
      { folder: blocked, user: owner.name },
    );
  }
  if (setpriv === null) return switchedIdentity(owner);
  return { owner, command: withSetpriv(setpriv, owner, blocked !== null) };
}

function ordinaryIdentity(setpriv: string | null): Identity {
  if (setpriv === null) return { owner: null, command: (file, args) => ({ file, args }) };
  return { owner: null, command: withSetpriv(setpriv, null, false) };
}

function switchedIdentity(owner: Owner): Identity {
  const { uid, gid } = owner;
  return { owner, command: (file, args) => ({ file, args, uid, gid }) };
}

function withSetpriv(setpriv: string, owner: Owner | null, lend: boolean): Identity['command'] {
  // SIGINT is PostgreSQL's fast shutdown: rolled back, checkpointed, nothing to recover.
  const options = ['--pdeathsig=INT'];
  if (owner !== null) {
    options.push(`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups');
    options.push('--no-new-privs');
  }
  if (lend) {
    options.push('--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override');
    // Without it access(2) forgets the capabilities, and root's end at the change of user.
    options.push('--securebits=+no_setuid_fixup');
  }
  return (program, args) => ({ file: setpriv, args: [...options, '--', program, ...args] });
}

async function chooseOwner(keepUid: number | null): Promise<Owner> {
  const users = await readUsers();
  const kept = keepUid === null ? undefined : users.find((user) => user.uid === keepUid);
  if (kept !== undefined && kept.uid !== 0) return kept;
  for (const name of candidates) {
    const user = users.find((entry) => entry.name === name);
    if (user !== undefined) return user;
  }
  throw new EmbeddedPostgresError(
    'no_os_user',
    `PostgreSQL may not run as root, and none of the users ${candidates.join(', ')} exists. ` +
      'Run as an ordinary user, or set DATABASE_URL.',
    { candidates },
  );
}

async function readUsers(): Promise<readonly Owner[]> {
  const users: Owner[] = [];
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name === undefined || uid === undefined || gid === undefined) continue;
    users.push({ name, uid: Number(uid), gid: Number(gid) });
  }
  return users;
}

async function firstClosedFolder(paths: readonly string[], owner: Owner): Promise<string | null> {
  for (const path of paths) {
    for (const folder of foldersDownTo(path)) {
      const { mode, uid, gid } = await stat(folder);
      const shift = uid === owner.uid ? 6 : gid === owner.gid ? 3 : 0;
      if (((mode >> shift) & 1) === 0) return folder;
    }
  }
  return null;
}

function foldersDownTo(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...foldersDownTo(parent), path];
}

async function findProgram(name: string): Promise<string | null> {
  for (const folder of ['/usr/bin', '/bin', '/usr/local/bin']) {
    const file = join(folder, name);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  return null;
}
