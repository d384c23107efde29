import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Abi, Hex } from 'viem';

const require = createRequire(import.meta.url);

export type TestContract = { readonly abi: Abi; readonly bytecode: Hex; readonly runtime: Hex };

function compiled(input: string): string {
  const solc = () => (require('solc') as { compile(input: string): string }).compile(input);
  const folder = process.env.PARLEY_TEST_COMPILED;
  if (folder === undefined) return solc();
  const path = join(folder, `${hash('sha256', input)}.json`);
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const output = solc();
  mkdirSync(folder, { recursive: true });
  // Whole under its name, whoever compiles the same beside.
  writeFileSync(`${path}.${process.pid}`, output);
  renameSync(`${path}.${process.pid}`, path);
  return output;
}

type Settings = {
  readonly evmVersion?: 'paris' | 'shanghai';
  /** As what is compared with was: it takes three times as long, and no test's token needs it. */
  readonly isOptimised?: boolean;
};

function sourcesOf(file: string): Record<string, { readonly content: string }> {
  const content = readFileSync(join(import.meta.dirname, file), 'utf8');
  const imported = [...content.matchAll(/^import .* from "(.*)";$/gm)].map(([, path = '']) => path);
  return Object.assign({ [file]: { content } }, ...imported.map(sourcesOf));
}

export function compileTestContracts(
  file: string,
  { evmVersion = 'shanghai', isOptimised = false }: Settings = {},
): ReadonlyMap<string, TestContract> {
  const input = {
    language: 'Solidity',
    sources: sourcesOf(file),
    settings: {
      evmVersion,
      optimizer: { enabled: isOptimised, runs: 200 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  };
  type Code = { readonly object: string };
  const output = JSON.parse(compiled(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts?: Record<
      string,
      Record<string, { abi: Abi; evm: { bytecode: Code; deployedBytecode: Code } }>
    >;
  };
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join('\n'));
  const contracts = Object.values(output.contracts ?? {}).flatMap((each) => Object.entries(each));
  return new Map(
    contracts.map(([name, { abi, evm }]) => [
      name,
      {
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        runtime: `0x${evm.deployedBytecode.object}`,
      },
    ]),
  );
}
