// ops/testnet as an operator fills it in: copied, with the addresses of nodes, contracts, tokens
// and files. Every chain id, policy, price and limit is as it stands there.

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

const given = join(import.meta.dirname, '../../ops/testnet');
const families = ['bitcoin', 'evm', 'tron', 'solana'] as const;

export type Addresses = {
  readonly signet: string;
  readonly sepolia: string;
  readonly nile: string;
  readonly solana: string;
  readonly tron: { readonly contract: string; readonly creation: string };
  readonly tokens: { readonly sepolia: string; readonly nile: string; readonly solana: string };
  /** Of the market. */
  readonly port: number;
};

export type Configured = {
  readonly env: Readonly<Record<string, string>>;
  readonly maker: string;
  readonly faucet: string;
  readonly market: string;
};

export async function configured(work: string, at: Addresses): Promise<Configured> {
  const market = `http://127.0.0.1:${at.port}`;
  const swapped = (text: string) =>
    [
      ['http://parley:CHANGE-ME@127.0.0.1:38332', at.signet],
      ['http://127.0.0.1:8545', at.sepolia],
      ['http://127.0.0.1:8090', at.nile],
      ['http://127.0.0.1:8091', at.nile],
      ['http://127.0.0.1:8899', at.solana],
      ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', at.tron.contract],
      ['5f0c1b7a9e2d4c6f8a1b3d5e7f9a0c2e4b6d8f1a3c5e7092b4d6f8a0c1e3d5f7', at.tron.creation],
      ['0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', at.tokens.sepolia],
      ['TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', at.tokens.nile],
      ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', at.tokens.solana],
      ['https://test.market.example', market],
      ['/var/lib/parley-faucet', join(work, 'faucet')],
      ['/var/lib/parley-maker', join(work, 'maker')],
      ['/etc/parley', work],
      ['"port": 8070', '"port": 0'],
      ['metrics_port = 9465\n', ''],
    ].reduce((all, [from = '', to = '']) => all.replaceAll(from, to), text);
  const put = async (name: string) => {
    const file = join(work, name);
    await writeFile(file, swapped(await readFile(join(given, name), 'utf8')), { mode: 0o600 });
    return file;
  };
  for (const who of ['faucet', 'maker']) {
    await mkdir(join(work, who), { recursive: true, mode: 0o700 });
    for (const family of families) {
      const file = join(work, who, `${family}.key`);
      await writeFile(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    }
  }
  const chains = await put('chains.json');
  await put('assets.json');
  const settings = parseEnv(swapped(await readFile(join(given, 'market.env'), 'utf8')));
  const env = {
    ...(settings as Record<string, string>),
    PARLEY_CHAINS_FILE: chains,
    PORT: String(at.port),
  };
  return { env, market, maker: await put('maker.toml'), faucet: await put('faucet.json') };
}
