// The Python package, as its wheel in an empty folder: its types, those of the programs in its
// README, and its tests against a market.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { findPython, installWheel, pythonCache, pythonEnv } from './support/python.ts';
import { sharedWeb } from './support/web.ts';

const run = promisify(execFile);
const found = findPython();
const opened = found === null ? null : sharedWeb();

const docs = join(import.meta.dirname, '../../docs');

/** The names in fragments of the README: they stand for a reader's own. */
const known = `
from collections.abc import Mapping
from typing import Any
from parley import models as m
from parley.chains import evm
from parley.chains.evm import evm_deployment
from parley.chains.terms import ChainPolicy, ChainView, EscrowTerms, EvmView
from parley.client import ParleyClient
from parley.nodes import EvmNode
from parley.settle import Chain, FileStore, Source, settle
from parley.verify import Fund, OwnTrade, sighted, verify_material, verify_swap
from parley.wallets import EvmWallet
from parley.webhooks import verify_webhook

async def fragment(
    market: ParleyClient, swap_id: str, trade: OwnTrade, views: Mapping[str, ChainView], now: int,
    built: m.FundReply, terms: EscrowTerms, view: ChainView, transaction: evm.EvmTransaction,
    secret: str, request: Any, raw_body: bytes, key: Any, base_id: str, quote_id: str,
    policy: ChainPolicy, one: str, another: str,
) -> None:
`;

/** The programs of the README as they are named there, and each of its fragments in a function. */
async function writeReadme(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(docs, '../python/README.md'), 'utf8');
  const all = [...text.matchAll(/(?:\n`(\w+)\.py`\n\n)?```py\n(.*?)```/gs)];
  const names = all.map(([, name], at) => name ?? `fragment_${at}`);
  assert.ok(names.includes('taker') && names.length > 5, names.join());
  await mkdir(join(folder, 'readme'));
  for (const [at, [, name, source = '']] of all.entries()) {
    const inside = source.replace(/^(?=.)/gm, '    ');
    const module = name === undefined ? `${known}${inside}` : source;
    await writeFile(join(folder, 'readme', `${names[at]}.py`), module);
  }
  return names;
}

/** With only the wheel and its tests; fails with what was said. */
async function place(t: TestContext, python: string) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-python-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  // One after the other: together they are too much for two cores that others use.
  const web = await opened?.();
  const { url, dev } = web?.market.ready ?? assert.fail('no market');
  const installed = await installWheel(python, dir);
  const readme = await writeReadme(installed.folder);
  const of = { PARLEY_TEST_URL: url, PARLEY_TEST_DEV: dev ?? '', PARLEY_TEST_DOCS: docs };
  const env = { ...(await pythonEnv()), ...of, MYPYPATH: 'readme' };
  const options = { cwd: installed.folder, env, maxBuffer: 16 * 1024 * 1024 };
  const runs = async (...args: readonly string[]): Promise<string> => {
    const asked = run(installed.python, args, options).catch(
      ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`),
    );
    return (await asked).stdout;
  };
  return { python: runs, readme };
}

test('the wheel has strict types, and keeps its promises against a live market', async (t) => {
  if (found === null) {
    const why = 'No Python 3.11 or later with venv is here (PARLEY_PYTHON names one)';
    assert.ok(process.env.CI === undefined, `the Python package is not tested: ${why}`);
    console.log(`NOT TESTED: the Python package. ${why}`);
    return;
  }
  const { python, readme } = await place(t, found);
  const modules = readme.flatMap((each) => ['-m', each]);
  // The types of others stay where they are, and are read once.
  const cache = ['--cache-dir', join(await pythonCache(), 'mypy')];
  const checked = await python('-m', 'mypy', ...cache, '-p', 'parley', ...modules);
  assert.match(checked, /^Success/m);
  assert.match(await python('-m', 'pytest'), /\d+ passed/);
});
