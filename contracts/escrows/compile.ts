// Compiles the contract for `cancun` (transient storage); TRON has it by getAllowTvmCancun.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Compiled,
  compile,
  compileInput,
  LIGHT,
  type Sources,
  standardInput,
} from '../evm/compile.ts';

/** The same on EVM and TRON: there is one init code. */
export const EVM_VERSION = 'cancun';

function sources(folder: 'src' | 'dev'): Sources {
  const found: Sources = {};
  for (const file of readdirSync(join(import.meta.dirname, folder)).sort()) {
    const content = readFileSync(join(import.meta.dirname, folder, file), 'utf8');
    found[`escrows/${folder}/${file}`] = { content };
  }
  return found;
}

export function escrowsInput(): object {
  return standardInput(sources('src'), { evmVersion: EVM_VERSION });
}

export function compileContracts(): Map<string, Compiled> {
  const compiled = new Map<string, Compiled>();
  compileInput(JSON.stringify(escrowsInput()), compiled);
  compile(sources('dev'), compiled, { ...LIGHT, evmVersion: EVM_VERSION });
  return compiled;
}
