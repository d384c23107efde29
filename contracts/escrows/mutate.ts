// Breaks one guard after the other and sees a forge test fail. The sources stay as they are: a
// broken contract is compiled in memory, and a copy of the tests runs its bytecode.

import { spawn } from 'node:child_process';
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
import type { Hex } from 'viem';
import { foundryBinary } from '../evm/anvil.ts';
import { type Compiled, compile, type Sources } from '../evm/compile.ts';
import { EVM_VERSION } from './compile.ts';

const here = import.meta.dirname;
const ARTIFACT = 'artifacts/ParleyEscrows.json';
const RUN_MS = 10 * 60_000;
/** What is broken is found by named tests: fuzzing need not be long. */
const SHORTER = { FOUNDRY_FUZZ_RUNS: '64', FOUNDRY_INVARIANT_RUNS: '2' } as const;
/** It would notice any change at all. */
const PINNED = 'test_the_init_code_and_its_address_are_the_pinned_ones';

/** `find` must stand exactly once in the file under src/. */
export type Mutation = { readonly file: string; readonly find: string; readonly put: string };

export const inEscrows = (find: string, put: string): Mutation => {
  return { file: 'ParleyEscrows.sol', find, put };
};
export const inToken = (find: string, put: string): Mutation => ({ file: 'Token.sol', find, put });

const sources: Sources = Object.fromEntries(
  readdirSync(join(here, 'src')).map((file) => {
    return [`escrows/src/${file}`, { content: readFileSync(join(here, 'src', file), 'utf8') }];
  }),
);

/** Null for what does not compile: it breaks nothing. */
function broken(name: string, { file, find, put }: Mutation): Hex | null {
  const path = `escrows/src/${file}`;
  const content = sources[path]?.content ?? '';
  if (content.split(find).length !== 2) throw new Error(`${file}: not exactly once: ${find}`);
  const compiled = new Map<string, Compiled>();
  const changed = { ...sources, [path]: { content: content.replace(find, () => put) } };
  try {
    compile(changed, compiled, { evmVersion: EVM_VERSION });
  } catch (error) {
    process.stderr.write(`${name}: ${(error as Error).message}\n`);
    return null;
  }
  const contract = compiled.get('ParleyEscrows');
  if (contract === undefined) throw new Error(`${file}: no contract with: ${put}`);
  return contract.bytecode;
}

/** A copy at the same depth, so that the compiler of the tests finds its ../../node_modules. */
function copyOfTests(root: string): string {
  const folder = join(root, 'contracts/escrows');
  mkdirSync(join(root, 'contracts/evm'), { recursive: true });
  for (const file of ['evm/solc', 'evm/solc.ts']) {
    cpSync(join(here, '..', file), join(root, 'contracts', file));
  }
  const kept = ['src', 'dev', 'test', 'artifacts', 'foundry.toml', 'deployment.json'];
  for (const each of kept) cpSync(join(here, each), join(folder, each), { recursive: true });
  symlinkSync(join(here, '../../node_modules'), join(root, 'node_modules'));
  cpSync(join(here, '../../package.json'), join(root, 'package.json'));
  return folder;
}

/** Whether every test passes. */
function pass(folder: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const path = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
    const env = { ...process.env, ...SHORTER, PATH: path };
    const args = ['test', '--no-match-test', PINNED, '--fail-fast'];
    const signal = AbortSignal.timeout(RUN_MS);
    const options = { cwd: folder, env, stdio: 'ignore', signal } as const;
    const child = spawn(foundryBinary('forge'), args, options);
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
}

/** Tries those whose name contains the first argument of the program. */
export async function tryMutations(mutations: Readonly<Record<string, Mutation>>): Promise<void> {
  const wanted = Object.entries(mutations).filter(([name]) => name.includes(process.argv[2] ?? ''));
  const root = mkdtempSync(join(tmpdir(), 'parley-mutations-'));
  const survived: string[] = [];
  try {
    const folder = copyOfTests(root);
    const artifact = JSON.parse(readFileSync(join(folder, ARTIFACT), 'utf8')) as object;
    let before = pass(folder).then((passed) => {
      if (!passed) throw new Error('tests fail before anything broke');
    });
    for (const [name, mutation] of wanted) {
      const bytecode = broken(name, mutation); // compiled while the tests of the one before run
      await before;
      before = Promise.resolve();
      if (bytecode === null) {
        survived.push(name);
        continue;
      }
      writeFileSync(join(folder, ARTIFACT), JSON.stringify({ ...artifact, bytecode }));
      before = pass(folder).then((passed) => {
        if (passed) survived.push(name);
        process.stdout.write(`${passed ? 'SURVIVED' : 'noticed '}  ${name}\n`);
      });
    }
    await before;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  const noticed = wanted.length - survived.length;
  process.stdout.write(`mutations: ${noticed} noticed, ${survived.length} survived\n`);
  if (survived.length > 0) process.exitCode = 1;
}
