// Builds the program and writes what is committed: parley_escrow.so, its digest and its seal.
//
//   node contracts/solana/build.ts            rewrites them
//   node contracts/solana/build.ts --check    fails when they differ from the source

import { readFileSync, writeFileSync } from 'node:fs';
import { seal } from '../seals.ts';
import {
  build,
  DIGEST_FILE,
  digestLine,
  digestOf,
  findToolchain,
  PROGRAM_FILE,
} from './compile.ts';

const toolchain = findToolchain();
if (typeof toolchain === 'string') throw new Error(toolchain);
const program = build(toolchain);
if (!process.argv.includes('--check')) {
  writeFileSync(PROGRAM_FILE, program);
  writeFileSync(DIGEST_FILE, digestLine(program));
  seal('solana');
} else if (!program.equals(readFileSync(PROGRAM_FILE))) {
  console.error('parley_escrow.so differs from the source; run node contracts/solana/build.ts');
  process.exitCode = 1;
}
console.log(`rustc ${toolchain.release}: ${program.length} bytes, sha256 ${digestOf(program)}`);
