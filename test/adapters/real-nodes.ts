// The promises of adapters on real nodes that the dev network starts (devnet/nodes): for `npm run
// soak -- nodes`. A line for each node counts; it ends with 1 where one was broken.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hexToBytes } from '@noble/hashes/utils.js';
import { tronAddressOfKey } from '../../chains/tron/proof.ts';
import { type DevnetClient, devnetClient } from '../../devnet/client.ts';
import type { ChainInfo } from '../../devnet/dev-chain.ts';
import { startDevnet } from '../../devnet/devnet.ts';
import type { Driver } from './driver.ts';
import { keepPromises } from './kept.ts';
import { realSolana } from './real-solana.ts';
import { remoteTron } from './remote-tron.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const say = (text: string) => process.stderr.write(`${text}\n`);

async function realTron(info: ChainInfo, dev: DevnetClient, dir: string): Promise<Driver> {
  const { chain, rpcUrl: url, escrows: contract = '', escrowsCreation: creation = '' } = info;
  const { tokens = [] } = info;
  const key = randomBytes(32).toString('hex');
  const address = tronAddressOfKey(hexToBytes(key));
  const token = tokens[0]?.address ?? null;
  await dev.faucet({ chain, address });
  if (token !== null) await dev.faucet({ chain, address, asset: token });
  const keyFile = join(dir, 'key');
  await writeFile(keyFile, key, { mode: 0o600 });
  return remoteTron({ source: { url }, keyFile, contract, creation, token, log: say });
}

const dir = await mkdtemp(join(tmpdir(), 'parley-real-nodes-'));
try {
  const devnet = await startDevnet({
    dir: join(dir, 'devnet'),
    log: quiet,
    evmChains: [],
    bitcoin: false,
    moveClock: () => undefined,
  });
  try {
    const real = devnet.chains.filter(({ hasOwnClock = false }) => hasOwnClock);
    if (real.length === 0) throw new Error('no real node is given');
    const dev = devnetClient(devnet.dev);
    for (const info of real) {
      const { name, version } = info.node;
      console.log(`${name} ${version} at ${info.rpcUrl}`);
      const driver =
        info.family === 'tron' ? await realTron(info, dev, dir) : await realSolana(info, dev);
      const { total, isKept } = await keepPromises(driver, process.argv[2] ?? '', say);
      console.log(`nodes: ${name} ${total}`);
      if (!isKept) process.exitCode = 1;
    }
  } finally {
    await devnet.stop();
  }
} finally {
  await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
