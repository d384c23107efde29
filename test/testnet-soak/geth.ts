// go-ethereum in development mode, as a stand-in for Sepolia: its chain id, the CREATE2 deployer
// that Sepolia has, and a block a second. Built once from the Go module, into the user's cache.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { cacheFolder } from '../../devnet/debian-package.ts';
import { programOnPath, startProgram } from '../../devnet/processes.ts';
import { rpcTo } from '../../devnet/rpc.ts';
import { freePort } from '../../host/free-port.ts';

const run = promisify(execFile);
const version = 'v1.17.10';
const chainId = 11_155_111;
const readyMs = 120_000;
/** Half an hour of one core where the machine has nothing else to do, the downloads included. */
const buildMs = 40 * 60_000;
export type Geth = {
  readonly title: string;
  readonly rpcUrl: string;
  /** Has coins. */
  readonly key: Hex;
  send(to: Hex, value: bigint, data?: Hex): Promise<void>;
  stop(): Promise<void>;
};

export async function startGeth(work: string, say: (line: string) => void): Promise<Geth> {
  const file = await built(work, say);
  const folder = join(work, 'geth');
  await mkdir(folder, { recursive: true });
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  // The one of its development mode, with the CREATE2 deployer, under another chain id.
  const { stdout } = await run(file, ['--dev', 'dumpgenesis']);
  const own = JSON.parse(stdout) as { config: object; alloc: object };
  const alloc = {
    ...own.alloc,
    [account.address.slice(2).toLowerCase()]: { balance: `0x${(10n ** 24n).toString(16)}` },
  };
  const genesis = join(folder, 'genesis.json');
  const config = { ...own.config, chainId };
  await writeFile(genesis, JSON.stringify({ ...own, config, alloc }));
  const data = ['--datadir', join(folder, 'data')];
  await run(file, ['init', ...data, genesis]);
  const port = await freePort();
  const auth = await freePort();
  const rpcUrl = `http://127.0.0.1:${port}`;
  const rpc = rpcTo(rpcUrl);
  const { running } = await startProgram(
    {
      name: 'geth',
      file,
      folder,
      args: [
        ...data,
        '--dev',
        '--dev.period',
        '1',
        '--ipcdisable',
        '--nodiscover',
        '--maxpeers',
        '0',
        '--port',
        '0',
        '--http',
        '--http.addr',
        '127.0.0.1',
        '--http.port',
        `${port}`,
        '--http.api',
        'eth,net,web3',
        '--authrpc.port',
        `${auth}`,
        '--verbosity',
        '2',
      ],
    },
    readyMs,
    // Refused while it still indexes transactions, as it does for a while after its start.
    () => rpc('eth_getTransactionReceipt', [`0x${'0'.repeat(64)}`]),
  );
  const rpcUrls = { default: { http: [rpcUrl] } };
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({ id: chainId, name: 'stand-in', nativeCurrency, rpcUrls });
  const client = createWalletClient({ account, chain, transport: http(rpcUrl) }).extend(
    publicActions,
  );
  return {
    title: `geth ${version} --dev, chain id ${chainId}`,
    rpcUrl,
    key,
    send: async (to, value, data_ = '0x') => {
      const hash = await client.sendTransaction({ to, value, data: data_ });
      const { status } = await client.waitForTransactionReceipt({ hash });
      if (status !== 'success') throw new Error(`${hash} has failed`);
    },
    stop: () => running.stop(),
  };
}

/** Throws with the reason where there is no Go, or it cannot be built: nothing else stands in. */
async function built(work: string, say: (line: string) => void): Promise<string> {
  const folder = join(await cacheFolder(work), `geth-${version}`);
  const file = join(folder, 'geth');
  if (existsSync(file)) return file;
  const go = programOnPath('go') ?? '/usr/local/go/bin/go';
  if (!existsSync(go)) throw new Error('geth is built by Go 1.24 or later, and no go is on PATH');
  say(`builds geth ${version} from its Go module, once: some minutes`);
  const beside = join(work, 'geth-build');
  const what = `github.com/ethereum/go-ethereum/cmd/geth@${version}`;
  const env = { ...process.env, GOBIN: beside };
  const args = ['-n', '15', go, 'install', '-trimpath', what];
  await run('nice', args, { env, timeout: buildMs, maxBuffer: 2 ** 26 });
  await mkdir(folder, { recursive: true });
  await rename(join(beside, 'geth'), file).catch(() =>
    run('cp', [join(beside, 'geth'), file]).then(() => undefined),
  );
  return file;
}
