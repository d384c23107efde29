// The version before this one, as its commit has it, in a folder of its own.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { migrationsIn, numberOf } from '../../server/db/version.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const installMs = 600_000;

export type Former = {
  readonly commit: string;
  /** The number of its newest migration. */
  readonly knows: string;
  /** Its server's file. */
  readonly main: string;
};

const git = async (...args: readonly string[]) =>
  (await run('git', ['-C', root, ...args])).stdout.trim();

/** The newest release; without one what was landed before the newest migration was. */
async function usualFormer(): Promise<string> {
  const tags = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname');
  const [newest] = tags.split('\n').filter(Boolean);
  if (newest !== undefined) return newest;
  const history = ['log', '--first-parent', '-1', '--format=%P', '--', 'server/db/migrations'];
  const [parent = ''] = (await git(...history)).split(' ');
  if (parent !== '') return parent;
  throw new Error('the history has no commit before the newest migration: name one by --from');
}

/** Lays the commit down in `dir`, with the packages of this one where both want the same. */
export async function layDownFormer(dir: string, from: string | undefined): Promise<Former> {
  const commit = await git('rev-parse', '--short', `${from ?? (await usualFormer())}^{commit}`);
  await mkdir(dir);
  const archive = join(dir, 'former.tar');
  await git('archive', '--output', archive, commit);
  await run('tar', ['-xf', archive, '-C', dir]);
  const lockOf = async (folder: string) =>
    createHash('sha256')
      .update(await readFile(join(folder, 'package-lock.json')))
      .digest('hex');
  if ((await lockOf(dir)) === (await lockOf(root))) {
    await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  } else await run('npm', ['ci'], { cwd: dir, timeout: installMs });
  const migrations = migrationsIn(pathToFileURL(join(dir, 'server/db/migrations/')));
  const knows = numberOf(migrations.at(-1) ?? '000');
  return { commit, knows, main: join(dir, 'server/main.ts') };
}
