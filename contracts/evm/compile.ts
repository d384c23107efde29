// `forge build` compiles Solidity, with the npm compiler that package.json pins. The settings of a
// profile stand in contracts/foundry.toml.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { forgeCommand } from './forge.ts';

const outputBytes = 64 * 1024 * 1024;

export type AbiItem = { readonly type: string; readonly name?: string };
export type Compiled = { abi: readonly AbiItem[]; bytecode: `0x${string}` };

/** Standard JSON: explorers verify a source by it. */
type Input = {
  readonly version: string;
  readonly language: string;
  readonly sources: object;
  readonly settings: {
    readonly evmVersion: string;
    readonly optimizer: { readonly runs: number };
  };
};

type Output = {
  contracts: Record<
    string,
    Record<string, { contract: { abi: AbiItem[]; evm: { bytecode: { object: string } } } }[]>
  >;
  build_infos: { input: Input }[];
};

export type Build = {
  readonly input: Input;
  /** By its name. */
  contract(name: string): Compiled;
};

/** A warning is an error. `folder` has a copy of contracts/foundry.toml. */
export function build(
  profile: 'default' | 'dev' | 'tokens',
  folder = join(import.meta.dirname, '..'),
): Build {
  const [forge, options] = forgeCommand(profile, folder);
  const { status, stdout, stderr } = spawnSync(forge, ['build', '--json'], {
    ...options,
    encoding: 'utf8',
    maxBuffer: outputBytes,
  });
  if (status !== 0) throw new Error(`the contracts do not compile:\n${stderr}${stdout}`);
  const { contracts, build_infos: infos } = JSON.parse(stdout) as Output;
  const [info] = infos;
  if (info === undefined) throw new Error('forge names no input');
  return {
    input: info.input,
    contract: (name) => {
      const [found] = Object.values(contracts).flatMap((file) => file[name] ?? []);
      if (found === undefined) throw new Error(`no contract ${name} in the sources`);
      const { abi, evm } = found.contract;
      return { abi, bytecode: `0x${evm.bytecode.object}` };
    },
  };
}
