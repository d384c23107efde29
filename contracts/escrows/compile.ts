// Compiles the escrow contract, with one setting of its own: transient storage needs `cancun`. TRON
// has it by the chain parameter getAllowTvmCancun.
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

/**
 * What explorers take to verify the source (Etherscan, Sourcify, Tronscan: "standard JSON input"):
 * exactly what the deployed init code is compiled from.
 */
export function escrowsInput(): object {
  return standardInput(sources('src'), { evmVersion: EVM_VERSION });
}

/** Contract name -> ABI and creation bytecode. A warning is an error. */
export function compileContracts(): Map<string, Compiled> {
  const compiled = new Map<string, Compiled>();
  compileInput(JSON.stringify(escrowsInput()), compiled);
  compile(sources('dev'), compiled, { ...LIGHT, evmVersion: EVM_VERSION });
  return compiled;
}
