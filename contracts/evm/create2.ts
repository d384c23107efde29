// Sends init code through the well-known CREATE2 deployer, so that a contract gets the same
// address on every chain. The code that is there counts afterwards, not its sender.
import {
  type Account,
  type Address,
  BaseError,
  createPublicClient,
  createWalletClient,
  defineChain,
  ExecutionRevertedError,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  type Transport,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** Put on most chains by a transaction without a key, and part of anvil. */
export const deployer = {
  address: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  codeHash: '0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989',
} as const;

const CALL_MS = 20_000;
/** A busy chain may take minutes to include a transaction; after that somebody has to look. */
const RECEIPT_MS = 300_000;

export type DeploymentCode = 'deployer_missing' | 'key_missing' | 'code_differs';

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

export type Endpoint = { rpcUrl: string; signal?: AbortSignal };
export type DeployOptions = Endpoint &
  ({ privateKey: Hex; account?: never } | { account: Account; privateKey?: never });

function transport({ rpcUrl, signal }: Endpoint): Transport {
  const limits = { timeout: CALL_MS, retryCount: 2 };
  return http(rpcUrl, signal === undefined ? limits : { ...limits, fetchOptions: { signal } });
}

export function reader(endpoint: Endpoint): PublicClient {
  return createPublicClient({ transport: transport(endpoint) });
}

/** keccak256 of the code at an address; null where there is none. */
export async function codeHashAt(client: PublicClient, address: Address): Promise<Hex | null> {
  const code = await client.getCode({ address });
  return code === undefined ? null : keccak256(code);
}

/**
 * Deploys init code under a salt and waits for the receipt. A lost race or a repetition
 * ends in a reverted transaction, or in none (null) where it shows before one is sent; neither is
 * an error here: compare the code afterwards.
 */
export async function sendThroughDeployer(
  options: DeployOptions,
  { salt, initCode }: { readonly salt: Hex; readonly initCode: Hex },
): Promise<Hex | null> {
  const client = reader(options);
  const chainId = await client.getChainId();
  if ((await codeHashAt(client, deployer.address)) !== deployer.codeHash) {
    throw new DeploymentError(
      'deployer_missing',
      `chain ${chainId} has no CREATE2 deployer at ${deployer.address}; ` +
        'README.md says how to put it there',
      { chainId: String(chainId), deployer: deployer.address },
    );
  }
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [options.rpcUrl] } },
  });
  const account = options.account ?? privateKeyToAccount(options.privateKey);
  const wallet = createWalletClient({ account, chain, transport: transport(options) });
  const data: Hex = `${salt}${initCode.slice(2)}`;
  const call = { to: deployer.address, data };
  const gas = await client.estimateGas({ ...call, account }).catch((error: unknown) => {
    if (wasReverted(error)) return null;
    throw error;
  });
  if (gas === null) return null;
  const hash = await wallet.sendTransaction({ ...call, gas });
  options.signal?.throwIfAborted();
  await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_MS });
  return hash;
}

function wasReverted(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  return error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;
}
