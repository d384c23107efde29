// Digests of all that decided a committed outcome of a compiler: sources, the programs that compile
// them, and the outcome. While a digest fits, nothing has changed since a build wrote both, and no
// test has to compile for half a minute to say so.
//
// It guards against forgetting a build, not against a forger. The builds' own `--check` compiles
// anew and compares each byte, and so does `npm run soak -- contracts`.

import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname;
const file = join(here, 'seals.json');

const solidity = ['foundry.toml', 'evm/{compile,forge,solc,typescript}.ts', 'evm/solc'] as const;
/** By paths under contracts/. Gas is measured, by a program of its own. */
const parts = {
  escrows: [
    ...solidity,
    'escrows/build.ts',
    'escrows/{src,dev}/*.sol',
    'escrows/artifacts/{*.json,abi.ts}',
    'escrows/deployment.json',
  ],
  evm: [...solidity, 'evm/{build,dev-tokens}.ts', 'evm/dev/*.sol', 'evm/artifacts/*.json'],
  solana: ['solana/src/*.rs', 'solana/{compile,link}.ts', 'solana/parley_escrow.so'],
} as const;
export type Sealed = keyof typeof parts;

function solcVersion(): string {
  const { version } = createRequire(import.meta.url)('solc/package.json') as { version: string };
  return version;
}

/** In hex, of each file's path and bytes; of Solidity also of the compiler's version. */
function digestOf(part: Sealed, root: string): string {
  const paths = globSync([...parts[part]], { cwd: root }).sort();
  const hash = createHash('sha256').update(part === 'solana' ? '' : solcVersion());
  for (const path of paths) {
    const bytes = readFileSync(join(root, path));
    hash.update(`\n${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

const written = () => JSON.parse(readFileSync(file, 'utf8')) as Record<Sealed, string>;

export function isSealed(part: Sealed, root = here): boolean {
  return digestOf(part, root) === written()[part];
}

/** For a build that has just written what it made. */
export function seal(part: Sealed): void {
  const seals = { ...written(), [part]: digestOf(part, here) };
  writeFileSync(file, `${JSON.stringify(seals, null, 2)}\n`);
}
