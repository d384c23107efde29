// The Python package, as its wheel in an empty folder: its types, those of the programs that the
// API description shows, and its tests against a market.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { findPython, installWheel } from './support/python.ts';
import { sharedWeb } from './support/web.ts';

const run = promisify(execFile);
const found = findPython();
const opened = found === null ? null : sharedWeb();

const docs = join(import.meta.dirname, '../docs');

type Sample = { readonly lang: string; readonly source: string };
type Described = Record<string, { operationId: string; 'x-codeSamples'?: readonly Sample[] }>;

/** The programs that the API description shows, a module each. */
async function writeSnippets(folder: string): Promise<void> {
  const text = await readFile(join(docs, 'openapi.json'), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, Described> };
  await mkdir(join(folder, 'snippets'));
  const operations = Object.values(paths).flatMap((of) => Object.values(of));
  for (const { operationId, 'x-codeSamples': samples = [] } of operations) {
    const { source } = samples.find(({ lang }) => lang === 'python') ?? assert.fail(operationId);
    await writeFile(join(folder, 'snippets', `${operationId}.py`), source);
  }
}

/** With only the wheel and its tests; fails with what was said. */
async function place(t: TestContext, python: string) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-python-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  // One after the other: together they are too much for two cores that others use.
  const web = await opened?.();
  const { url, dev } = web?.market.ready ?? assert.fail('no market');
  const installed = await installWheel(python, dir);
  await writeSnippets(installed.folder);
  const of = { PARLEY_TEST_URL: url, PARLEY_TEST_DEV: dev ?? '', PARLEY_TEST_DOCS: docs };
  // What one process has compiled, the programs of the README do not compile anew.
  const env = { ...process.env, ...of, PYTHONPYCACHEPREFIX: join(dir, 'bytecode') };
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
  const packages = ['parley', 'tests', 'snippets'].flatMap((each) => ['-p', each]);
  assert.match(await python('-m', 'mypy', '--cache-dir=/dev/null', ...packages), /^Success/m);
  assert.match(await python('-m', 'pytest'), /\d+ passed/);
});
