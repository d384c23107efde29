import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { deployContracts } from '@parley/contracts/escrows/deploy.ts';
import { foundryBinary } from '@parley/contracts/evm/anvil.ts';
import { mnemonicToSeedSync } from '@scure/bip39';
import {
  type Address,
  createTestClient,
  defineChain,
  getAddress,
  type Hex,
  http,
  publicActions,
  walletActions,
} from 'viem';
import { HDKey, hdKeyToAccount } from 'viem/accounts';

const startMs = 30_000;
const mnemonic = 'test test test test test test test test test test test junk';
// Once: the seed of a phrase is 2,048 rounds of a hash.
const master = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic));
export const accounts = Array.from({ length: 10 }, (_, addressIndex) =>
  hdKeyToAccount(master, { addressIndex }),
);
const deployerKey = '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6';

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const timer = setTimeout(() => reject(new Error('anvil is not listening')), startMs);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`anvil ended with ${code}: ${seen}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      seen = (seen + chunk.toString()).slice(-4_096);
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(seen)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(`http://${address}`);
    });
  });
}

export type TestChain = Awaited<ReturnType<typeof startAnvil>>;

type Options = {
  chainId?: number;
  deploy?: boolean;
  /** The node is never stopped: it ends with the process, which does not wait for it. */
  isShared?: boolean;
};

/** Mines a block for each transaction unless automine is off. Call `stop` in the end. */
export async function startAnvil(options: Options = {}) {
  const { chainId = 31_337, deploy = true, isShared = false } = options;
  const args = ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId)];
  args.push('--slots-in-an-epoch', '1');
  const child = spawn(foundryBinary('anvil'), [...args, '--hardfork', 'prague'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    const rpcUrl = await listening(child);
    if (isShared) {
      child.unref();
      (child.stdout as Socket | null)?.unref();
      process.once('exit', () => child.kill('SIGKILL'));
    }
    if (deploy) await deployContracts({ rpcUrl, privateKey: deployerKey });
    return { rpcUrl, chainId, stop, client: clientOf(rpcUrl, chainId) };
  } catch (error) {
    await stop();
    throw error;
  }
}

let shared: Promise<TestChain> | undefined;

/**
 * One for the files of a process, which run one after the other. Each caller gets a promise of its
 * own: hooks behind an await belong to the suite in which the awaited promise was made.
 */
export function sharedAnvil(): Promise<TestChain> {
  shared ??= startAnvil({ isShared: true });
  const started = shared;
  return new Promise((resolve, reject) => {
    started.then(resolve, reject);
  });
}

function clientOf(rpcUrl: string, chainId: number) {
  const chain = defineChain({
    id: chainId,
    name: 'anvil',
    nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  return createTestClient({
    mode: 'anvil',
    chain,
    transport: http(rpcUrl, { timeout: 30_000 }),
    pollingInterval: 50,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

export type Sender = (typeof accounts)[number];

export async function send(
  chain: TestChain,
  from: Sender,
  call: { to?: string; data?: string; value?: string | bigint; gas?: bigint },
): Promise<Hex> {
  const hash = await chain.client.sendTransaction({
    account: from,
    ...(call.to === undefined ? {} : { to: call.to as Address }),
    ...(call.data === undefined ? {} : { data: call.data as Hex }),
    ...(call.gas === undefined ? {} : { gas: call.gas }),
    value: BigInt(call.value ?? 0),
  });
  await chain.client.waitForTransactionReceipt({ hash, timeout: 30_000 });
  return hash;
}

export async function deploy(chain: TestChain, data: Hex): Promise<Address> {
  const hash = await send(chain, accounts[9]!, { data });
  const { contractAddress } = await chain.client.getTransactionReceipt({ hash });
  if (!contractAddress) throw new Error('no contract was deployed');
  return getAddress(contractAddress);
}

/** Puts code of at most 255 bytes on the chain, hex without 0x. */
export function deployRuntime(chain: TestChain, runtime: string): Promise<Address> {
  const length = (runtime.length / 2).toString(16).padStart(2, '0');
  return deploy(chain, `0x60${length}600c60003960${length}6000f3${runtime}`);
}
