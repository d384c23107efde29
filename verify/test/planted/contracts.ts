// Bugs in contracts: a broken one is compiled beside the sources, and the tests of the contracts
// run its bytecode.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from '@parley/contracts/evm/compile.ts';
import { forgeCommand } from '@parley/contracts/evm/forge.ts';
import {
  compile as compileRust,
  findToolchain,
  type Prepared,
  prepare,
} from '@parley/contracts/solana/compile.ts';
import { type Bug, type Look, root } from './bugs.ts';
import { edited } from './edit.ts';

const limitMs = 10 * 60_000;
const escrows = join(root, 'contracts/escrows');
const programs = join(root, 'contracts/solana');

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-planted-'));
  folders.push(folder);
  return folder;
}

/** A file of a contract with the bug in it. */
function sourceOf(path: string, bug: Bug | null): string {
  const own = bug?.edits.filter(({ file }) => file === path) ?? [];
  return own.reduce(edited, readFileSync(join(root, path), 'utf8'));
}

let forging: string | null = null;
let building: string | null = null;

/** A copy of the tests at the same depth, where the compiler finds its ../../node_modules. */
function copyForForge(): string {
  const top = newFolder();
  const folder = join(top, 'contracts/escrows');
  mkdirSync(join(top, 'contracts/evm'), { recursive: true });
  for (const file of ['foundry.toml', 'evm/solc', 'evm/solc.ts']) {
    cpSync(join(root, 'contracts', file), join(top, 'contracts', file));
  }
  const kept = ['src', 'dev', 'test', 'artifacts', 'foundry.toml', 'deployment.json'];
  for (const each of kept) cpSync(join(escrows, each), join(folder, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(top, 'node_modules'));
  cpSync(join(root, 'package.json'), join(top, 'package.json'));
  return folder;
}

function bytecodeWith(bug: Bug | null): string {
  building ??= copyForForge();
  for (const file of readdirSync(join(escrows, 'src'))) {
    writeFileSync(join(building, 'src', file), sourceOf(`contracts/escrows/src/${file}`, bug));
  }
  return build('default', dirname(building)).contract('ParleyEscrows').bytecode;
}

/** It would notice any change at all. */
const pinned = 'test_the_init_code_and_its_address_are_the_pinned_ones';

/** The forge tests; named ones find the broken rule: fuzzing need not be long. */
export const byForge: Look = async (_, bug) => {
  forging ??= copyForForge();
  const artifact = 'artifacts/ParleyEscrows.json';
  const whole = JSON.parse(readFileSync(join(escrows, artifact), 'utf8')) as object;
  try {
    const bytecode = bytecodeWith(bug);
    writeFileSync(join(forging, artifact), JSON.stringify({ ...whole, bytecode }));
  } catch (error) {
    return { crashed: (error as Error).message };
  }
  const [forge, { cwd, env: own }] = forgeCommand('default', forging);
  const env = { ...own, FOUNDRY_FUZZ_RUNS: '64', FOUNDRY_INVARIANT_RUNS: '2' };
  const args = ['test', '--no-match-test', pinned, '--fail-fast'];
  const options = { cwd, env, timeout: limitMs, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(forge, args, options);
  if (status === 0) return 'well';
  // The name of an invariant stands below the calls that broke it.
  const [, test] = /^(?:\[FAIL.*\]| ) ?(\w+)\(/m.exec(stdout) ?? [];
  return test === undefined ? { crashed: stdout.slice(-600) } : { rule: test };
};

/** The quick and telling ones first: the first that fails ends the search. */
const suites = ['rules', 'accounts', 'tokens', 'rent', 'late-words', 'money'] as const;

let prepared: Prepared | null = null;

function preparedOnce(): Prepared {
  const toolchain = findToolchain();
  if (typeof toolchain === 'string') throw new Error(toolchain);
  return prepare(toolchain);
}

/** The suites of the Solana program. */
export const byPrograms: Look = async (_, bug) => {
  const folder = newFolder();
  const program = join(folder, 'planted.so');
  try {
    prepared ??= preparedOnce();
    for (const file of readdirSync(join(programs, 'src'))) {
      writeFileSync(join(folder, file), sourceOf(`contracts/solana/src/${file}`, bug));
    }
    writeFileSync(program, compileRust(prepared, folder, 'allow'));
  } catch (error) {
    return { crashed: (error as Error).message };
  }
  const env = { ...process.env, PARLEY_ESCROW_SO: program };
  for (const suite of suites) {
    const args = ['--test', '--test-timeout=60000', join(programs, `${suite}.test.ts`)];
    const { status } = spawnSync(process.execPath, args, {
      env,
      timeout: limitMs,
      stdio: 'ignore',
    });
    if (status !== 0) return { rule: `${suite}.test.ts` };
  }
  return 'well';
};
