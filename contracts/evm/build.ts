// Compiles the dev tokens and writes what is committed: artifacts/.
//
//   node contracts/evm/build.ts            rewrites them
//   node contracts/evm/build.ts --check    fails when a committed file differs from the source
//
// Code hashes are read from a real EVM after a real deployment.

import {
  type Address,
  createTestClient,
  createWalletClient,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  publicActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { staleIn, writeOrCheck } from '../generated.ts';
import { withAnvil } from './anvil.ts';
import { build } from './compile.ts';
import { deployer } from './create2.ts';
import { DEV_TOKENS, type DevToken, devSalt } from './dev-tokens.ts';
import { isEntry } from './entry.ts';

const here = import.meta.dirname;

type Pinned = Record<DevToken, { address: Address; codeHash: Hex }>;

async function deployed(
  rpcUrl: string,
  bytecode: Hex,
): Promise<{ address: Address; codeHash: Hex }> {
  const account = mnemonicToAccount('test test test test test test test test test test test junk');
  const transport = http(rpcUrl);
  const reader = createTestClient({ mode: 'anvil', chain: foundry, transport }).extend(
    publicActions,
  );
  const wallet = createWalletClient({ account, chain: foundry, transport });
  const data: Hex = `${devSalt}${bytecode.slice(2)}`;
  const hash = await wallet.sendTransaction({ to: deployer.address, data });
  await reader.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  const address = getCreate2Address({ from: deployer.address, salt: devSalt, bytecode });
  const code = await reader.getCode({ address });
  if (code === undefined) throw new Error(`no code was deployed at ${address}`);
  return { address, codeHash: keccak256(code) };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Every generated file, by its path under contracts/evm. */
export async function generate(): Promise<Map<string, string>> {
  const { contract } = build('tokens');
  const files = new Map<string, string>();
  const pinned = await withAnvil(async (rpcUrl) => {
    const tokens: Partial<Pinned> = {};
    for (const name of DEV_TOKENS) {
      tokens[name] = await deployed(rpcUrl, contract(name).bytecode);
    }
    return tokens as Pinned;
  });
  for (const name of DEV_TOKENS) {
    const { abi, bytecode } = contract(name);
    const deployedCodeHash = pinned[name].codeHash;
    files.set(`artifacts/${name}.json`, json({ abi, bytecode, deployedCodeHash }));
  }
  files.set('artifacts/devTokens.json', json(pinned));
  return files;
}

/** Committed files that are not what the sources make, by their path under contracts/evm. */
export const staleFiles = async () => staleIn(here, await generate());

if (isEntry(import.meta.url)) writeOrCheck(here, await generate());
