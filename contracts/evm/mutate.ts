// Breaks one guard after the other in a copy of the contracts and sees a forge test fail: what the
// mutations.ts of each folder share.

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { foundryBinary } from './anvil.ts';

const contracts = join(import.meta.dirname, '..');
const RUN_MS = 10 * 60_000;

/** The file is named from the folder of its contracts. */
export type Mutation = { file: string; find: string; put: string };

export type Mutations = {
  readonly folder: 'evm' | 'tron';
  /** The committed bytecode that the tests run. */
  readonly artifact: string;
  /** Arguments to forge that leave tests out: those that would notice any change at all. */
  readonly ignore: readonly string[];
  readonly mutations: Readonly<Record<string, Mutation>>;
};

function run(command: string, args: string[], cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` };
    const signal = AbortSignal.timeout(RUN_MS);
    const child = spawn(command, args, { cwd, env, stdio: 'ignore', signal });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** A copy at the same depth, so that ../../node_modules resolves for compiler and scripts. */
function copyOfContracts(root: string, name: string, folder: string): string {
  const filter = (path: string) => !/\/(out|cache|node_modules)$/.test(path);
  cpSync(contracts, join(root, name, 'contracts'), { recursive: true, filter });
  symlinkSync(join(contracts, '../node_modules'), join(root, name, 'node_modules'));
  cpSync(join(contracts, '../package.json'), join(root, name, 'package.json'));
  return join(root, name, 'contracts', folder);
}

/** Forge's own copy keeps the whole sources and gets the broken bytecode: it compiles once. */
type Workshop = { sources: string; forge: string; of: Mutations };

function forgeTests({ forge, of }: Workshop): Promise<number> {
  return run(foundryBinary('forge'), ['test', ...of.ignore, '--fail-fast'], forge);
}

/** Whether some test fails on the broken contracts. */
async function noticed(workshop: Workshop, { file, find, put }: Mutation): Promise<boolean> {
  const path = join(workshop.sources, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) throw new Error(`${file}: not exactly once: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => put),
  );
  try {
    if ((await run(process.execPath, ['build.ts'], workshop.sources)) !== 0) {
      throw new Error(`${file} does not compile with: ${put}`);
    }
    const { artifact } = workshop.of;
    cpSync(join(workshop.sources, artifact), join(workshop.forge, artifact));
    return (await forgeTests(workshop)) !== 0;
  } finally {
    writeFileSync(path, source);
  }
}

/** Tries those whose name contains the first argument of the program. */
export async function tryMutations(of: Mutations): Promise<void> {
  const wanted = process.argv[2] ?? '';
  const root = mkdtempSync(join(tmpdir(), 'parley-mutations-'));
  let survived = 0;
  let tried = 0;
  try {
    const workshop = {
      sources: copyOfContracts(root, 'sources', of.folder),
      forge: copyOfContracts(root, 'forge', of.folder),
      of,
    };
    if ((await forgeTests(workshop)) !== 0) throw new Error('tests fail before anything broke');
    for (const [name, mutation] of Object.entries(of.mutations)) {
      if (!name.includes(wanted)) continue;
      tried += 1;
      const seen = await noticed(workshop, mutation);
      if (!seen) survived += 1;
      process.stdout.write(`${seen ? 'noticed ' : 'SURVIVED'}  ${name}\n`);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  process.stdout.write(`mutations: ${tried - survived} noticed, ${survived} survived\n`);
  if (survived > 0) process.exitCode = 1;
}
