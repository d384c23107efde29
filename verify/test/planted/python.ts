// Bugs in the Python package: its tests, or the simulation of its driver, import a copy of its
// sources with the bug in them.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pythonTree } from '../support/python.ts';
import { type Bug, type Look, root } from './bugs.ts';
import { edited } from './edit.ts';

/** One that hangs is ended: the tests take some seconds. */
const limitMs = 2 * 60_000;
const home = join(root, 'python');
const sources = 'python/src/';

/** Whether `python/` has these tests. */
export const hasTests = (what: string): boolean => existsSync(join(home, what));

/** Runs `look` with a folder that holds the sources with the bug in them. */
export async function withBug<T>(
  { edits }: Pick<Bug, 'edits'>,
  look: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-planted-'));
  try {
    // With its bytecode: only the file with the bug is compiled anew.
    cpSync(join(root, sources), folder, { recursive: true, preserveTimestamps: true });
    for (const each of edits) {
      if (!each.file.startsWith(sources))
        throw new Error(`not of the Python package: ${each.file}`);
      const path = join(folder, each.file.slice(sources.length));
      writeFileSync(path, edited(readFileSync(path, 'utf8'), each));
    }
    return await look(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let tree: ReturnType<typeof pythonTree> | null = null;

/** A file that could not be read has no test that failed. */
const failedTest = /^FAILED \S+::(.+?)(?: - |$)/m;

/** The tests of `what`, a file or folder of `python/`, which need no market. */
export const byPytest: Look = async (what, bug) => {
  tree ??= pythonTree();
  const { python, path } = await tree;
  const [, locked = ''] = path.split(delimiter);
  return withBug(bug ?? { edits: [] }, (folder) => {
    const own = {
      PYTHONPATH: [folder, locked].join(delimiter),
      PARLEY_TEST_DOCS: join(root, 'docs'),
    };
    const how = ['-x', '--tb=no', '--assert=plain'];
    const { status, stdout } = spawnSync(python, ['-m', 'pytest', ...how, what], {
      cwd: home,
      env: { ...process.env, ...own },
      timeout: limitMs,
      encoding: 'utf8',
    });
    if (status === 0) return 'well';
    const failed = failedTest.exec(stdout);
    return failed === null ? { crashed: stdout.slice(-600) } : { rule: failed[1] ?? '' };
  });
};
