// The promises of adapters on real nodes that the dev network starts (devnet/nodes): for `npm run
// soak -- nodes`. A last line counts; it ends with 1 where one was broken.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hexToBytes } from '@noble/hashes/utils.js';
import { tronAddressOfKey } from '../../chains/tron/proof.ts';
import { devnetClient } from '../../devnet/client.ts';
import { startDevnet } from '../../devnet/devnet.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };

function conformance(args: readonly string[]): Promise<{ code: number; last: string }> {
  return new Promise((resolve) => {
    const script = join(import.meta.dirname, 'conformance.ts');
    const child = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      process.stdout.write(chunk);
    });
    child.on('close', (code) => {
      resolve({ code: code ?? 1, last: said.trim().split('\n').at(-1) ?? '' });
    });
  });
}

const dir = await mkdtemp(join(tmpdir(), 'parley-real-nodes-'));
try {
  const devnet = await startDevnet({
    dir: join(dir, 'devnet'),
    log,
    evmChains: [],
    bitcoin: false,
    solana: false,
    moveClock: () => undefined,
  });
  try {
    const [tron] = devnet.chains;
    if (tron?.hasOwnClock !== true) throw new Error('PARLEY_JAVA_TRON gives no node');
    const { chain, rpcUrl, escrows = '', tokens = [] } = tron;
    const { name, version } = tron.node;
    console.log(`${name} ${version} at ${rpcUrl}`);
    const key = randomBytes(32).toString('hex');
    const address = tronAddressOfKey(hexToBytes(key));
    const dev = devnetClient(devnet.dev);
    const token = tokens[0]?.address ?? '';
    await dev.faucet({ chain, address });
    await dev.faucet({ chain, address, asset: token });
    const keyFile = join(dir, 'key');
    await writeFile(keyFile, key, { mode: 0o600 });
    const where = ['--url', rpcUrl, '--contract', escrows, '--token', token];
    const { code, last } = await conformance([...where, '--key-file', keyFile]);
    console.log(`nodes: ${name} ${last}`);
    process.exitCode = code;
  } finally {
    await devnet.stop();
  }
} finally {
  await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
