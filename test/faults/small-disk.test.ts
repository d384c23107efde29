// Where no small disk can be mounted the test of a full one says that it was not run, and fails
// where it is required.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** In a process that finds no `unshare`, and is no part of this run. */
function withoutDisk(more: Readonly<Record<string, string>>) {
  const { NODE_TEST_CONTEXT: _, PARLEY_SMALL_DISK: __, ...env } = process.env;
  return spawnSync(process.execPath, ['--test', 'test/faults-disk.test.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...env, PATH: '/nowhere', ...more },
    timeout: 120_000,
  });
}

test('a full disk that cannot be tried is said, and fails where it is required', () => {
  const told = withoutDisk({});
  assert.equal(told.status, 0, told.stdout);
  assert.match(told.stdout, /^.*NOT TESTED: a full disk\. No small disk can be mounted here/m);
  const required = withoutDisk({ PARLEY_SMALL_DISK: 'required' });
  assert.equal(required.status, 1, required.stdout);
  assert.match(required.stdout, /required, and not tested: No small disk/);
});
