// Compiles the escrow contract of TRON with the compiler and settings of contracts/evm. The TVM
// has every operation of `shanghai` (PUSH0: chain parameter getAllowTvmShangHai).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Compiled, compile, LIGHT, type Sources } from '../evm/compile.ts';

const contracts = join(import.meta.dirname, '..');

/** What the contract shares with the EVM escrows: the terms and the token calls. */
const SHARED = ['evm/src/Terms.sol', 'evm/src/Erc20.sol'] as const;

/** The hostile tokens of the dev chain are those of the tests, with a name. */
const ZOO = ['evm/test/zoo/Tokens.sol'] as const;

function sources(folder: 'src' | 'dev', shared: readonly string[]): Sources {
  const own = readdirSync(join(import.meta.dirname, folder)).sort();
  const found: Sources = {};
  for (const path of [...shared, ...own.map((file) => `tron/${folder}/${file}`)]) {
    found[path] = { content: readFileSync(join(contracts, path), 'utf8') };
  }
  return found;
}

/** Contract name -> ABI and creation bytecode. A warning is an error. */
export function compileContracts(): Map<string, Compiled> {
  const compiled = new Map<string, Compiled>();
  compile(sources('src', SHARED), compiled);
  compile(sources('dev', ZOO), compiled, LIGHT);
  return compiled;
}
