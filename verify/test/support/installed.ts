// Tarballs of our packages, installed as npm does it, without a registry.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Packed } from '@parley/scripts/tarballs.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const scope = '@parley/';

/**
 * Puts what the tarballs hold into `node_modules` of an empty folder, beside links to the packages
 * of others that they name. Asks no registry.
 * @throws Error where this repository has another version of one
 */
export async function installOffline(tarballs: readonly Packed[], folder: string): Promise<void> {
  for (const { file } of tarballs) {
    const name = /parley-(\w+)-/.exec(basename(file))?.[1] ?? '';
    const own = join(folder, 'node_modules', scope, name);
    await mkdir(own, { recursive: true });
    await run('tar', ['-xzf', file, '--strip-components=1', '-C', own]);
    const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const [other, wanted] of Object.entries(manifest.dependencies ?? {})) {
      if (other.startsWith(scope)) continue;
      const there = join(root, 'node_modules', other);
      const { version } = JSON.parse(await readFile(join(there, 'package.json'), 'utf8'));
      if (version !== wanted) throw new Error(`${other} is ${version} here, pinned to ${wanted}`);
      await mkdir(dirname(join(folder, 'node_modules', other)), { recursive: true });
      if (!existsSync(join(folder, 'node_modules', other))) {
        await symlink(there, join(folder, 'node_modules', other));
      }
    }
  }
}
