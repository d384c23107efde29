// Compiles the Solidity of this folder's tests with the project's own compiler.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Abi, Hex } from 'viem';

const require = createRequire(import.meta.url);

export type TestContract = { readonly abi: Abi; readonly bytecode: Hex; readonly runtime: Hex };

/** Contract name -> what it compiles to. `file` lies in chains/evm/testing. */
export function compileTestContracts(
  file: string,
  evmVersion = 'shanghai',
): ReadonlyMap<string, TestContract> {
  const solc = require('solc') as { compile(input: string): string };
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(join(import.meta.dirname, file), 'utf8') } },
    settings: {
      evmVersion,
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
      },
    },
  };
  type Code = { readonly object: string };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts?: Record<
      string,
      Record<string, { abi: Abi; evm: { bytecode: Code; deployedBytecode: Code } }>
    >;
  };
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join('\n'));
  return new Map(
    Object.entries(output.contracts?.[file] ?? {}).map(([name, { abi, evm }]) => [
      name,
      {
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        runtime: `0x${evm.deployedBytecode.object}`,
      },
    ]),
  );
}
