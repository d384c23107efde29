// Compiles the contracts with the pinned npm compiler, with the settings that decide the bytecode
// and with them every address. Forge compiles only the tests: they run the bytecode made here.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const here = import.meta.dirname;

export const SOLC_VERSION = '0.8.37';
export const EVM_VERSION = 'shanghai';

export type AbiItem = { readonly type: string; readonly name?: string };
export type Compiled = { abi: readonly AbiItem[]; bytecode: `0x${string}` };

type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<
    string,
    Record<string, { abi: AbiItem[]; evm: { bytecode: { object: string } } }>
  >;
};

export class CompileError extends Error {
  constructor(messages: readonly string[]) {
    super(`the contracts do not compile:\n${messages.join('\n')}`);
    this.name = 'CompileError';
  }
}

function sources(): Record<string, { content: string }> {
  const found: Record<string, { content: string }> = {};
  for (const folder of ['src', 'dev']) {
    for (const file of readdirSync(join(here, folder)).sort()) {
      if (!file.endsWith('.sol')) continue;
      found[`${folder}/${file}`] = { content: readFileSync(join(here, folder, file), 'utf8') };
    }
  }
  return found;
}

/** Contract name -> ABI and creation bytecode. A warning is an error. */
export function compileContracts(): Map<string, Compiled> {
  const solc = require('solc') as { version(): string; compile(input: string): string };
  if (!solc.version().startsWith(`${SOLC_VERSION}+`)) {
    throw new CompileError([`solc is ${solc.version()}, pinned is ${SOLC_VERSION}`]);
  }
  const input = {
    language: 'Solidity',
    sources: sources(),
    settings: {
      evmVersion: EVM_VERSION,
      optimizer: { enabled: true, runs: 1_000_000 },
      viaIR: true,
      // without it, a comment or a path would change the bytecode and so every address
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const messages = (output.errors ?? []).map((error) => error.formattedMessage);
  if (messages.length > 0) throw new CompileError(messages);
  const compiled = new Map<string, Compiled>();
  for (const contracts of Object.values(output.contracts ?? {})) {
    for (const [name, { abi, evm }] of Object.entries(contracts)) {
      if (evm.bytecode.object !== '') {
        compiled.set(name, { abi, bytecode: `0x${evm.bytecode.object}` });
      }
    }
  }
  return compiled;
}
