// Deploys the factory (and with it the implementation) at the same address on every chain, and
// compares what is on a chain with what deployment.json pins.
//
//   PARLEY_DEPLOYER_KEY=0x… node contracts/evm/deploy.ts --rpc URL      deploys, then verifies
//   node contracts/evm/deploy.ts --rpc URL --verify                     only verifies

import { parseArgs } from 'node:util';
import type { Address, Hex, PublicClient } from 'viem';
import { deployment, initCode } from './artifacts/abi.ts';
import {
  codeHashAt,
  DeploymentError,
  type DeployOptions,
  type Endpoint,
  reader,
  sendThroughDeployer,
} from './create2.ts';
import { isEntry } from './entry.ts';

export type ContractCheck = {
  name: 'factory' | 'implementation';
  address: Address;
  expectedCodeHash: Hex;
  /** null: no code there */
  codeHash: Hex | null;
  matches: boolean;
};
export type Verification = { chainId: number; ok: boolean; contracts: ContractCheck[] };
export type Deployment = {
  chainId: number;
  factory: Address;
  implementation: Address;
  /** null: was there already */
  txHash: Hex | null;
};

function check(client: PublicClient): Promise<ContractCheck[]> {
  return Promise.all(
    (['factory', 'implementation'] as const).map(async (name) => {
      const { address, codeHash: expectedCodeHash } = deployment[name];
      const codeHash = await codeHashAt(client, address);
      return { name, address, expectedCodeHash, codeHash, matches: codeHash === expectedCodeHash };
    }),
  );
}

/** Reads the code of both contracts and compares it with the pinned hashes. Sends nothing. */
export async function verifyDeployment(endpoint: Endpoint): Promise<Verification> {
  const client = reader(endpoint);
  const [chainId, contracts] = await Promise.all([client.getChainId(), check(client)]);
  return { chainId, ok: contracts.every((contract) => contract.matches), contracts };
}

/**
 * Makes sure both contracts are on the chain with exactly the pinned code. Repeating it changes
 * nothing. Throws DeploymentError when the chain lacks the CREATE2 deployer or the code differs.
 */
export async function deployContracts(options: DeployOptions): Promise<Deployment> {
  const { factory, implementation } = deployment;
  const present = (await codeHashAt(reader(options), factory.address)) !== null;
  const txHash = present ? null : await sendThroughDeployer(options, initCode);
  const { chainId, contracts } = await verifyDeployment(options);
  for (const found of contracts) {
    if (found.matches) continue;
    throw new DeploymentError(
      'code_differs',
      `the ${found.name} at ${found.address} on chain ${chainId} has code hash ` +
        `${found.codeHash ?? 'none'}, pinned is ${found.expectedCodeHash}`,
      { chainId: String(chainId), name: found.name, address: found.address },
    );
  }
  return { chainId, factory: factory.address, implementation: implementation.address, txHash };
}

function deployerKey(): Hex {
  const key = process.env.PARLEY_DEPLOYER_KEY ?? '';
  if (/^0x[0-9a-fA-F]{64}$/.test(key)) return key as Hex;
  const sentence = 'PARLEY_DEPLOYER_KEY must be set to 0x and 64 hex characters';
  throw new DeploymentError('key_missing', sentence, {});
}

const usage = `usage: npm run deploy -- --rpc URL [--verify]
  --verify              only compares what is there with the pinned code
  PARLEY_DEPLOYER_KEY   0x and 64 hex characters: who pays for the gas`;

type Asked = { readonly rpcUrl: string; readonly verify: boolean };

/** A string: what is not understood; null: how to use it is asked for. */
function understand(args: string[]): Asked | string | null {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const options = { rpc: { type: 'string' }, verify: flag, help: flag } as const;
    const { rpc, verify, help } = parseArgs({ args, options }).values;
    if (help) return null;
    return rpc === undefined ? '--rpc is missing' : { rpcUrl: rpc, verify };
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. To specify ');
    return sentence;
  }
}

async function main(args: string[]): Promise<void> {
  const asked = understand(args);
  if (asked === null || typeof asked === 'string') {
    if (asked === null) process.stdout.write(`${usage}\n`);
    else process.stderr.write(`${asked}\n${usage}\n`);
    process.exitCode = asked === null ? 0 : 2;
    return;
  }
  const { rpcUrl, verify } = asked;
  if (!verify) {
    const done = await deployContracts({ rpcUrl, privateKey: deployerKey() });
    const how = done.txHash === null ? 'was there already' : `deployed by ${done.txHash}`;
    process.stdout.write(`chain ${done.chainId}: factory ${done.factory} ${how}\n`);
  }
  const { chainId, ok, contracts } = await verifyDeployment({ rpcUrl });
  for (const { name, address, codeHash, matches } of contracts) {
    const verdict = matches ? 'as pinned' : 'NOT as pinned';
    const code = codeHash ?? 'none';
    process.stdout.write(`chain ${chainId}: ${name} ${address} code ${code} ${verdict}\n`);
  }
  if (!ok) process.exitCode = 1;
}

if (isEntry(import.meta.url)) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
