// Puts the contract at its address on an EVM chain, the same on every chain, and looks whether it
// is there.
//
//   PARLEY_DEPLOYER_KEY=0x… node contracts/escrows/deploy.ts --rpc URL      deploys, then verifies
//   node contracts/escrows/deploy.ts --rpc URL --verify                     only verifies
//
// The address commits to the deployer, the salt and the init code. So whatever is there was made by
// the pinned init code, and its words were written by nothing else.

import { parseArgs } from 'node:util';
import type { Address, Hex } from 'viem';
import {
  codeHashAt,
  DeploymentError,
  type DeployOptions,
  type Endpoint,
  reader,
  sendThroughDeployer,
} from '../evm/create2.ts';
import { isEntry } from '../evm/entry.ts';
import { deployment, escrowsAbi, initCode } from './artifacts/abi.ts';
import { domainOf } from './ids.ts';

export type Verification = {
  readonly chainId: number;
  readonly contract: Address;
  /** keccak256; null: nothing is there. */
  readonly codeHash: Hex | null;
  /** What its domain() answers; every id follows from it. */
  readonly domain: Hex | null;
  readonly ok: boolean;
};

export type Deployment = {
  readonly chainId: number;
  readonly contract: Address;
  /** null: was there already. */
  readonly txHash: Hex | null;
};

/** Sends nothing. */
export async function verifyDeployment(endpoint: Endpoint): Promise<Verification> {
  const client = reader(endpoint);
  const { address: contract } = deployment;
  const [chainId, codeHash] = await Promise.all([
    client.getChainId(),
    codeHashAt(client, contract),
  ]);
  if (codeHash === null) return { chainId, contract, codeHash, domain: null, ok: false };
  const abi = escrowsAbi;
  // Other code answers nothing that is a domain.
  const domain = await client
    .readContract({ address: contract, abi, functionName: 'domain' })
    .catch(() => null);
  return { chainId, contract, codeHash, domain, ok: domain === domainOf(chainId, contract) };
}

/**
 * Makes sure the contract is on the chain. Repeating it changes nothing. Throws DeploymentError
 * where the chain lacks the CREATE2 deployer, and where the contract was deployed under another
 * chain id: a copy of another chain.
 */
export async function deployContracts(options: DeployOptions): Promise<Deployment> {
  const { address: contract, salt } = deployment;
  const present = (await codeHashAt(reader(options), contract)) !== null;
  const txHash = present ? null : await sendThroughDeployer(options, { salt, initCode });
  const { chainId, codeHash, domain, ok } = await verifyDeployment(options);
  if (ok) return { chainId, contract, txHash };
  const expected = domainOf(chainId, contract);
  throw new DeploymentError(
    'code_differs',
    codeHash === null
      ? `there is no contract at ${contract} on chain ${chainId} after its deployment`
      : `the contract at ${contract} on chain ${chainId} has the domain ${domain}, not ${expected}`,
    { chainId: String(chainId), address: contract },
  );
}

function deployerKey(): Hex {
  const key = process.env.PARLEY_DEPLOYER_KEY ?? '';
  if (/^0x[0-9a-fA-F]{64}$/.test(key)) return key as Hex;
  const sentence = 'PARLEY_DEPLOYER_KEY must be set to 0x and 64 hex characters';
  throw new DeploymentError('key_missing', sentence, {});
}

const usage = `usage: npm run deploy -- --rpc URL [--verify]
  --verify              only looks whether it is there
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
    process.stdout.write(`chain ${done.chainId}: ${done.contract} ${how}\n`);
  }
  const { chainId, contract, codeHash, domain, ok } = await verifyDeployment({ rpcUrl });
  const verdict = ok ? 'as pinned' : 'NOT as pinned';
  const shown = `code ${codeHash ?? 'none'} domain ${domain ?? 'none'}`;
  process.stdout.write(`chain ${chainId}: ${contract} ${shown} ${verdict}\n`);
  if (!ok) process.exitCode = 1;
}

if (isEntry(import.meta.url)) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
