// `npm run soak -- python`: the Python package's wheel in an environment of its own, against a
// market and chains of its own. Swaps of every family are funded, claimed and refunded from Python,
// and its fuzz takes longer. Asks the registry of this machine's pip.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownMarket } from '../../scripts/demo/market.ts';
import { findPython, installWheel } from '../support/python.ts';

/** Of each property, 60 in `npm test`. */
const fuzzRuns = 2_000;

/** Resolves with the exit code of its tests. */
async function tested(python: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(python, ['-m', 'pytest', '--durations=5'], {
    ...{ cwd, env: { ...process.env, ...env } },
    stdio: 'inherit',
  });
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

const found = findPython();
if (found === null) {
  console.error('python: no Python 3.11 or later with venv is here (PARLEY_PYTHON names one)');
  process.exit(1);
}
const work = await mkdtemp(join(tmpdir(), 'parley-python-soak-'));
try {
  const { python, folder } = await installWheel(found, work);
  const market = await ownMarket();
  try {
    process.exitCode = await tested(python, folder, {
      PARLEY_URL: market.url,
      PARLEY_DEV: market.dev,
      PARLEY_DOCS: join(import.meta.dirname, '../../docs'),
      PARLEY_SWAPS: 'all',
      PARLEY_FUZZ_RUNS: String(fuzzRuns),
      PYTHONDONTWRITEBYTECODE: '1',
    });
  } finally {
    await market.stop();
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
