// The Python package, as its wheel in an empty folder: its types, and its tests against a market.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { findPython, installWheel } from './support/python.ts';
import { sharedWeb } from './support/web.ts';

const run = promisify(execFile);
const found = findPython();
const opened = found === null ? null : sharedWeb();

/** With only the wheel and its tests; fails with what was said. */
async function place(t: TestContext, python: string) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-python-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const [installed, web] = await Promise.all([installWheel(python, dir), opened?.()]);
  const { url, dev } = web?.market.ready ?? assert.fail('no market');
  const docs = join(import.meta.dirname, '../docs');
  const of = { PARLEY_URL: url, PARLEY_DEV: dev ?? '', PARLEY_DOCS: docs };
  const env = { ...process.env, ...of, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd: installed.folder, env, maxBuffer: 16 * 1024 * 1024 };
  return async (...args: readonly string[]): Promise<string> => {
    const asked = run(installed.python, args, options).catch(
      ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`),
    );
    return (await asked).stdout;
  };
}

test('the wheel has strict types, and keeps its promises against a live market', async (t) => {
  if (found === null) {
    const why = 'No Python 3.11 or later with venv is here (PARLEY_PYTHON names one)';
    assert.ok(process.env.CI === undefined, `the Python package is not tested: ${why}`);
    console.log(`NOT TESTED: the Python package. ${why}`);
    return;
  }
  const python = await place(t, found);
  assert.match(
    await python('-m', 'mypy', '--cache-dir=/dev/null', '-p', 'parley', '-p', 'tests'),
    /^Success/m,
  );
  assert.match(await python('-m', 'pytest'), /\d+ passed/);
});
