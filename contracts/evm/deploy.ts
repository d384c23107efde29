// Deploys the factory (and with it the implementation) at the same address on every chain, and
// compares what is on a chain with what deployment.json pins.
//
//   PARLEY_DEPLOYER_KEY=0x… node contracts/evm/deploy.ts --rpc URL      deploys, then verifies
//   node contracts/evm/deploy.ts --rpc URL --verify                     only verifies
import { parseArgs } from 'node:util';
import {
  type Account,
  type Address,
  type Chain,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  type Transport,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { deployment, initCode } from './artifacts/abi.ts';

const CALL_MS = 20_000;
const RECEIPT_MS = 300_000;

export type DeploymentCode =
  | 'deployer_missing'
  | 'key_missing'
  | 'transaction_failed'
  | 'code_differs';

/** `facts` are the numbers and addresses in the sentence, for a program. */
export class DeploymentError extends Error {
  readonly code: DeploymentCode;
  readonly facts: Readonly<Record<string, string>>;
  constructor(code: DeploymentCode, sentence: string, facts: Readonly<Record<string, string>>) {
    super(sentence);
    this.name = 'DeploymentError';
    this.code = code;
    this.facts = facts;
  }
}

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

type Endpoint = { rpcUrl: string; signal?: AbortSignal };
export type DeployOptions = Endpoint &
  ({ privateKey: Hex; account?: never } | { account: Account; privateKey?: never });

function transport({ rpcUrl, signal }: Endpoint): Transport {
  const limits = { timeout: CALL_MS, retryCount: 2 };
  return http(rpcUrl, signal === undefined ? limits : { ...limits, fetchOptions: { signal } });
}

async function codeHash(client: PublicClient, address: Address): Promise<Hex | null> {
  const code = await client.getCode({ address });
  return code === undefined ? null : keccak256(code);
}

async function check(client: PublicClient): Promise<ContractCheck[]> {
  return Promise.all(
    (['factory', 'implementation'] as const).map(async (name) => {
      const { address, codeHash: expectedCodeHash } = deployment[name];
      const found = await codeHash(client, address);
      return {
        name,
        address,
        expectedCodeHash,
        codeHash: found,
        matches: found === expectedCodeHash,
      };
    }),
  );
}

/** Reads the code of both contracts and compares it with the pinned hashes. Sends nothing. */
export async function verifyDeployment(endpoint: Endpoint): Promise<Verification> {
  const client = createPublicClient({ transport: transport(endpoint) });
  const [chainId, contracts] = await Promise.all([client.getChainId(), check(client)]);
  return { chainId, ok: contracts.every((contract) => contract.matches), contracts };
}

/** Sends init code through the CREATE2 deployer. Lost races do not matter: the code is compared. */
async function create2(
  options: DeployOptions,
  client: PublicClient,
  chain: Chain,
  code: Hex,
): Promise<Hex> {
  const { deployer, salt } = deployment;
  if ((await codeHash(client, deployer.address)) !== deployer.codeHash) {
    throw new DeploymentError(
      'deployer_missing',
      `chain ${chain.id} has no CREATE2 deployer at ${deployer.address}; ` +
        'deploy it there first (see README.md)',
      { chainId: String(chain.id), deployer: deployer.address },
    );
  }
  const account = options.account ?? privateKeyToAccount(options.privateKey);
  const wallet = createWalletClient({ account, chain, transport: transport(options) });
  const hash = await wallet.sendTransaction({
    to: deployer.address,
    data: `${salt}${code.slice(2)}`,
  });
  options.signal?.throwIfAborted();
  await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_MS });
  return hash;
}

/**
 * Makes sure both contracts are on the chain with exactly the pinned code. Repeating it changes
 * nothing. Throws DeploymentError when the chain lacks the CREATE2 deployer or the code differs.
 */
export async function deployContracts(options: DeployOptions): Promise<Deployment> {
  const reader = createPublicClient({ transport: transport(options) });
  const chainId = await reader.getChainId();
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [options.rpcUrl] } },
  });
  const { factory, implementation } = deployment;
  const present = (await codeHash(reader, factory.address)) !== null;
  const txHash = present ? null : await create2(options, reader, chain, initCode);
  for (const found of await check(reader)) {
    if (!found.matches) {
      throw new DeploymentError(
        'code_differs',
        `the ${found.name} at ${found.address} on chain ${chainId} has code hash ` +
          `${found.codeHash}, pinned is ${found.expectedCodeHash}`,
        { chainId: String(chainId), name: found.name, address: found.address },
      );
    }
  }
  return { chainId, factory: factory.address, implementation: implementation.address, txHash };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rpc: { type: 'string' }, verify: { type: 'boolean', default: false } },
  });
  if (values.rpc === undefined) throw new Error('usage: deploy.ts --rpc URL [--verify]');
  const rpcUrl = values.rpc;
  if (!values.verify) {
    const privateKey = process.env.PARLEY_DEPLOYER_KEY as Hex | undefined;
    if (privateKey === undefined) {
      throw new DeploymentError('key_missing', 'PARLEY_DEPLOYER_KEY is not set', {});
    }
    const done = await deployContracts({ rpcUrl, privateKey });
    const how = done.txHash === null ? 'was there already' : `deployed by ${done.txHash}`;
    process.stdout.write(`chain ${done.chainId}: factory ${done.factory} ${how}\n`);
  }
  const { chainId, ok, contracts } = await verifyDeployment({ rpcUrl });
  for (const { name, address, codeHash: found, matches } of contracts) {
    const verdict = matches ? 'as pinned' : 'NOT as pinned';
    process.stdout.write(
      `chain ${chainId}: ${name} ${address} code ${found ?? 'none'} ${verdict}\n`,
    );
  }
  if (!ok) process.exitCode = 1;
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
