// `npm run soak -- packages`: the Python package's wheel on each Python of this machine, in an
// environment of its own, against a market and chains of its own. On the first of them swaps of
// every family are funded, claimed and refunded from Python, and its fuzz takes longer. Then it is
// tried beside eth-account and web3, and with the least version of each dependency. All types of
// its wheel are known, by pyright, and its metadata are whole, by pyroma. Asks the registry of this
// machine's pip.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownMarket } from '@parley/dev/demo/market.ts';
import { findPythons, installBeside, installWheel, leastVersions } from '../support/python.ts';

const run = promisify(execFile);
const pyright = '1.1.414';
const pyroma = '5.0.1';

/** The runs of each property, 12 in `npm test`. */
const fuzzRuns = 2_000;

/** Resolves with the exit code of its tests. */
async function tested(python: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(python, ['-m', 'pytest', '--durations=5'], {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Of an outsider's editor: every symbol of the wheel has a type. Rejects with what is unknown. */
async function mustBeComplete(python: string, wheel: string, dir: string): Promise<void> {
  const packages = [`pyright==${pyright}`, `pyroma==${pyroma}`];
  const own = await installBeside(python, dir, { wheel, packages });
  const asked = {
    cwd: dir,
    env: { ...process.env, VIRTUAL_ENV: dir, PATH: `${join(dir, 'bin')}:${process.env.PATH}` },
  };
  const types = ['-m', 'pyright', '--verifytypes', 'parley', '--ignoreexternal'];
  const { stdout } = await run(own, types, asked).catch((error: { stdout: string }) => error);
  if (!/score: 100%/.test(stdout)) throw new Error(`types are unknown:\n${stdout}`);
  const tree = join(import.meta.dirname, '../../../python');
  const rated = await run(own, ['-m', 'pyroma', '--min', '10', tree], asked);
  console.log(`types complete; ${rated.stdout.match(/Final rating: .*/)?.[0]}`);
}

const pythons = findPythons();
if (pythons.length === 0) {
  console.error('python: no Python 3.11 or later with venv is here (PARLEY_PYTHON names one)');
  process.exit(1);
}
const work = await mkdtemp(join(tmpdir(), 'parley-python-soak-'));
try {
  const market = await ownMarket();
  try {
    const env = {
      PARLEY_TEST_URL: market.url,
      PARLEY_TEST_DEV: market.dev,
      PARLEY_TEST_DOCS: join(import.meta.dirname, '../../../docs'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    for (const [at, { path, version }] of pythons.entries()) {
      const installed = await installWheel(path, await mkdtemp(join(work, 'python-')));
      console.log(`on Python ${version}`);
      const code = await tested(installed.python, installed.folder, {
        ...env,
        // Once is enough: chains and clocks are the same on each.
        ...(at > 0 ? {} : { PARLEY_TEST_SWAPS: 'all', PARLEY_FUZZ_RUNS: String(fuzzRuns) }),
      });
      if (code !== 0) process.exitCode = code;
      if (at > 0) continue;
      await mustBeComplete(path, installed.wheel, await mkdtemp(join(work, 'types-')));
      for (const packages of [['eth-account', 'web3'], await leastVersions()]) {
        console.log(`beside ${packages.join(' ')}`);
        const dir = await mkdtemp(join(work, 'beside-'));
        const { wheel, folder } = installed;
        const python = await installBeside(path, dir, { wheel, packages });
        const besideCode = await tested(python, folder, env);
        if (besideCode !== 0) process.exitCode = besideCode;
      }
    }
  } finally {
    await market.stop();
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
