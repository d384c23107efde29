// Drivers over the real nodes that the dev network starts (dev/devnet/nodes), each with its node.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hexToBytes } from '@noble/hashes/utils.js';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { type DevnetClient, devnetClient } from '@parley/dev/devnet/client.ts';
import type { ChainInfo } from '@parley/dev/devnet/dev-chain.ts';
import { startDevnet } from '@parley/dev/devnet/devnet.ts';
import type { Driver } from './driver.ts';
import { realSolana } from './real-solana.ts';
import { remoteTron } from './remote-tron.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

export type RealDriver = { readonly info: ChainInfo; readonly driver: Driver };
export type RealDrivers = { readonly all: readonly RealDriver[]; stop(): Promise<void> };

async function realTron(info: ChainInfo, dev: DevnetClient, dir: string, log: Log) {
  const { chain, rpcUrl: url, escrows: contract = '', escrowsCreation: creation = '' } = info;
  const { tokens = [] } = info;
  const key = randomBytes(32).toString('hex');
  const address = tronAddressOfKey(hexToBytes(key));
  const token = tokens[0]?.address ?? null;
  await dev.faucet({ chain, address });
  if (token !== null) await dev.faucet({ chain, address, asset: token });
  const keyFile = join(dir, 'key');
  await writeFile(keyFile, key, { mode: 0o600 });
  const driver = await remoteTron({ source: { url }, keyFile, contract, creation, token, log });
  return { ...driver, dev: { ...driver.dev, info } };
}

type Log = (text: string) => void;

/** Empty where PARLEY_JAVA_TRON and PARLEY_SOLANA_VALIDATOR name none. */
export async function startRealDrivers(log: Log): Promise<RealDrivers> {
  const { PARLEY_JAVA_TRON: tron, PARLEY_SOLANA_VALIDATOR: solana } = process.env;
  if (!tron && !solana) return { all: [], stop: async () => {} };
  const dir = await mkdtemp(join(tmpdir(), 'parley-real-nodes-'));
  const undo = [() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })];
  const stop = async () => {
    for (const step of undo.reverse()) await step();
  };
  try {
    const devnet = await startDevnet({
      dir: join(dir, 'devnet'),
      log: quiet,
      moveClock: () => undefined,
      evmChains: [],
      bitcoin: false,
      tron: Boolean(tron),
      solana: Boolean(solana),
    });
    undo.push(() => devnet.stop());
    const dev = devnetClient(devnet.dev);
    const all: RealDriver[] = [];
    for (const info of devnet.chains) {
      const driver =
        info.family === 'tron' ? await realTron(info, dev, dir, log) : await realSolana(info, dev);
      all.push({ info, driver });
    }
    return { all, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
