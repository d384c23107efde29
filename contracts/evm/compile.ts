// Compiles Solidity with the pinned npm compiler, with the settings that decide the bytecode and
// with them every address. Forge compiles only tests: they run the bytecode made here.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const here = import.meta.dirname;

export const SOLC_VERSION = '0.8.37';
/** Needs PUSH0 and nothing newer: every chain that is likely to be configured has it. */
export const EVM_VERSION = 'shanghai';
export const OPTIMIZER_RUNS = 1_000_000;

export type AbiItem = { readonly type: string; readonly name?: string };
export type Compiled = { abi: readonly AbiItem[]; bytecode: `0x${string}` };

type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<
    string,
    Record<string, { abi: AbiItem[]; evm: { bytecode: { object: string } } }>
  >;
};

class CompileError extends Error {
  constructor(messages: readonly string[]) {
    super(`the contracts do not compile:\n${messages.join('\n')}`);
    this.name = 'CompileError';
  }
}

/** Solidity by the path that imports are resolved against. */
export type Sources = Record<string, { content: string }>;

/** Files below contracts/, by their paths there. */
export function sourcesOf(...paths: readonly string[]): Sources {
  const read = (path: string) => readFileSync(join(here, '..', path), 'utf8');
  return Object.fromEntries(paths.map((path) => [path, { content: read(path) }]));
}

/** The settings of tokens for tests, whose addresses and gas nobody relies on: in a fifth of the
 * time. */
export const LIGHT = { optimizer: { enabled: true, runs: 200 }, viaIR: false } as const;

/**
 * The input of solc, as standard JSON: `settings` go before those that every deployed contract is
 * compiled with.
 */
export function standardInput(unit: Sources, settings: object = {}): object {
  return {
    language: 'Solidity',
    sources: unit,
    settings: {
      evmVersion: EVM_VERSION,
      optimizer: { enabled: true, runs: OPTIMIZER_RUNS },
      viaIR: true, // 700 gas less at every funding
      // without it, a comment or a path would change the bytecode and so every address
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
      ...settings,
    },
  };
}

export function compile(unit: Sources, into: Map<string, Compiled>, settings: object = {}): void {
  compileInput(JSON.stringify(standardInput(unit, settings)), into);
}

/** Of standard JSON; the results go into `into` by name. */
export function compileInput(input: string, into: Map<string, Compiled>): void {
  const solc = require('solc') as { version(): string; compile(input: string): string };
  if (!solc.version().startsWith(`${SOLC_VERSION}+`)) {
    throw new CompileError([`solc is ${solc.version()}, pinned is ${SOLC_VERSION}`]);
  }
  const output = JSON.parse(solc.compile(input)) as Output;
  const messages = (output.errors ?? []).map((error) => error.formattedMessage);
  if (messages.length > 0) throw new CompileError(messages);
  for (const contracts of Object.values(output.contracts ?? {})) {
    for (const [name, { abi, evm }] of Object.entries(contracts)) {
      if (evm.bytecode.object !== '') into.set(name, { abi, bytecode: `0x${evm.bytecode.object}` });
    }
  }
}

/** The dev tokens: contract name -> ABI and creation bytecode. A warning is an error. */
export function compileTokens(): Map<string, Compiled> {
  const compiled = new Map<string, Compiled>();
  compile(sourcesOf('escrows/dev/DevToken.sol', 'evm/dev/Tokens.sol'), compiled);
  return compiled;
}
