// The Python package, as its wheel in an empty folder: its types, and its tests against a market.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { findPython, installWheel, type PythonPlace } from './support/python.ts';
import { sharedWeb } from './support/web.ts';

const run = promisify(execFile);
const missing = 'no Python 3.11 or later with venv is here (PARLEY_PYTHON names one)';
const found = findPython();
const opened = sharedWeb();

let dir: string;
let place: PythonPlace;
before(async () => {
  if (found === null && process.env.CI) assert.fail(missing);
  dir = await mkdtemp(join(tmpdir(), 'parley-python-'));
  if (found !== null) place = await installWheel(found, dir);
});
after(() => rm(dir, { recursive: true, force: true }));

/** Of the environment, where only the wheel is; fails with what it said. */
async function python(...args: readonly string[]): Promise<string> {
  const { market } = await opened();
  const { url, dev } = market.ready;
  const docs = join(import.meta.dirname, '../docs');
  const of = { PARLEY_URL: url, PARLEY_DEV: dev ?? '', PARLEY_DOCS: docs };
  const env = { ...process.env, ...of, PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd: place.folder, env, maxBuffer: 16 * 1024 * 1024 };
  return run(place.python, args, options).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`),
  );
}

const skip = found === null && `NOT TESTED: the Python package. ${missing}`;
if (skip !== false) console.log(skip);

test('mypy finds nothing in the wheel and in its tests, strictly', { skip }, async () => {
  assert.match(await python('-m', 'mypy', '-p', 'parley', '-p', 'tests'), /^Success/m);
});

test('the package keeps its promises against a live market (python/tests)', { skip }, async () => {
  assert.match(await python('-m', 'pytest'), /\d+ passed/);
});
