// A maker for a dev network: keys in files of its own, coins from the faucet, and settings that
// quote every pair of the market at fixed prices. Play money only.

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Family, factsOf, families } from '@parley/core/families.ts';
import { brandOf } from '@parley/dev/demo/market.ts';
import { type DevnetClient, type DevnetStatus, devnetClient } from '@parley/dev/devnet/client.ts';
import { openChains } from '@parley/maker/chains.ts';
import { parseConfig } from '@parley/maker/config/config.ts';
import { balanceOf } from '@parley/sdk/balance.ts';

type Stage = { readonly url: string; readonly dev: string };
type Served = DevnetStatus['chains'][number];

export type DevMaker = {
  /** Its settings. */
  readonly file: string;
  /** By how much the dev network has moved its clock. */
  readonly movedMs: () => number;
};

/** Whole dollars; a name that is not here is a dollar. */
const prices: Readonly<Record<string, string>> = {
  BTC: '64000',
  ETH: '2560',
  TRX: '0.32',
  SOL: '160',
};
/** In whole coins. */
export type Gifts = Readonly<
  Record<Family | 'token', { readonly coins: bigint; readonly times: number }>
>;
/** Bitcoin in several, so that swaps are funded side by side. */
export const usualGifts: Gifts = {
  bitcoin: { coins: 1n, times: 10 },
  evm: { coins: 100n, times: 1 },
  tron: { coins: 500_000n, times: 1 },
  solana: { coins: 1_000n, times: 1 },
  token: { coins: 500_000n, times: 1 },
};
/** In dollars. */
const leastDollars = 5;
const mostDollars = 20_000;
/** The market takes levels of an account on so many. */
const mostLevelPairs = 100;
const spreadBps = 50;
const clockMs = 1_000;

type DevAsset = {
  readonly name: string;
  readonly chain: string;
  readonly family: Family;
  readonly token: string | null;
  readonly decimals: number;
  readonly source: string;
  readonly dollars: number;
};

/** Fills and reuses the folder: the same keys and store, coins where they have become few. */
export async function prepareDevMaker(
  { url, dev }: Stage,
  folder: string,
  metricsPort: number | null = null,
  gifts: Gifts = usualGifts,
): Promise<DevMaker> {
  const client = devnetClient(dev);
  const { chains, clockOffsetSeconds } = await client.status();
  const keys = join(folder, 'keys');
  await mkdir(keys, { recursive: true, mode: 0o700 });
  for (const family of families) {
    const fresh = `${randomBytes(32).toString('hex')}\n`;
    await writeFile(join(keys, `${family}.key`), fresh, { mode: 0o600, flag: 'wx' }).catch(ifThere);
  }
  const assets = chains.flatMap(assetsOf);
  const file = join(folder, 'maker.toml');
  const text = settings(url, await brandOf(url), chains, assets, metricsPort);
  await writeFile(file, text, { mode: 0o600 });
  await fill(file, assets, dev, gifts);
  return { file, movedMs: devClock(client, clockOffsetSeconds) };
}

/** By how many milliseconds the dev network's clock was moved by now. */
export function devClock(client: DevnetClient, clockOffsetSeconds: number): () => number {
  let offsetMs = clockOffsetSeconds * 1_000;
  const follow = async () => {
    const now = await client.chains(AbortSignal.timeout(clockMs * 5)).catch(() => null);
    if (now !== null) offsetMs = now.clockOffsetSeconds * 1_000;
  };
  setInterval(() => void follow(), clockMs).unref();
  return () => offsetMs;
}

function ifThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function assetsOf({ chain, family, native, tokens = [] }: Served): DevAsset[] {
  const asset = (symbol: string, token: string | null, decimals: number): DevAsset => {
    const source = symbol in prices ? symbol.toLowerCase() : 'dollar';
    const name = `${symbol}-${chain}`.toLowerCase().replace(/[^a-z\d-]/g, '');
    const dollars = Number(prices[symbol] ?? '1');
    return { name, chain, family, token, decimals, source, dollars };
  };
  return [
    asset(native, null, factsOf[family].coin.decimals),
    ...tokens.map(({ symbol, address, decimals }) => asset(symbol, address, decimals)),
  ];
}

/** Where half of a gift is not there any more. */
async function fill(
  file: string,
  assets: readonly DevAsset[],
  dev: string,
  gifts: Gifts,
): Promise<void> {
  const client = devnetClient(dev);
  const { chains: configs } = parseConfig(await readFile(file, 'utf8'), file);
  const own = await openChains(configs, () => Math.floor(Date.now() / 1_000));
  for (const { chain, family, token, decimals } of assets) {
    const there = own[chain];
    if (there === undefined) continue;
    const { coins, times } = gifts[token === null ? family : 'token'];
    const amount = coins * 10n ** BigInt(decimals);
    const has = (await balanceOf(there, { token }, AbortSignal.timeout(30_000))) ?? 0n;
    if (has * 2n > amount * BigInt(times)) continue;
    const gift = { chain, address: there.wallet.address, amount };
    for (let time = 0; time < times; time += 1) {
      await client.faucet({ ...gift, ...(token === null ? {} : { asset: token }) });
    }
  }
  for (const { source } of Object.values(own)) await source.adapter.close();
}

const q = (text: string) => JSON.stringify(text);

function settings(
  url: string,
  { productName, shortName }: { productName: string; shortName: string },
  chains: readonly Served[],
  assets: readonly DevAsset[],
  metricsPort: number | null,
): string {
  const evm = chains.find(({ family }) => family === 'evm');
  const login = evm?.chain ?? chains[0]?.chain ?? '';
  const pairs = assets.flatMap((base, at) =>
    assets.slice(at + 1).flatMap((quote) => (base.chain === quote.chain ? [] : [{ base, quote }])),
  );
  return [
    '# Written by `npm run maker -- dev` at each start. Play money only.',
    'store = "store"',
    ...(metricsPort === null ? [] : [`metrics_port = ${metricsPort}`]),
    `[market]\nurl = ${q(url)}\nlogin = ${q(login)}`,
    `product_name = ${q(productName)}\nshort_name = ${q(shortName)}`,
    '[limits]\nbalance_seconds = 5\nbatch_seconds = 0\nlevel_seconds = 600',
    ...chains.map(chainLines),
    ...assets.map(({ name, chain, token, decimals }) => {
      const lines = [`[assets.${name}]`, `chain = ${q(chain)}`, `decimals = ${decimals}`];
      return [...lines, ...(token === null ? [] : [`token = ${q(token)}`])].join('\n');
    }),
    ...Object.entries({ ...prices, dollar: '1' }).map(
      ([name, value]) => `[prices.${name.toLowerCase()}]\ntype = "fixed"\nvalue = ${q(value)}`,
    ),
    ...pairs.map(({ base, quote }, at) => {
      const size = (dollars: number) =>
        (dollars / base.dollars).toFixed(Math.min(6, base.decimals));
      return [
        `[[pairs]]\nbase = ${q(base.name)}\nquote = ${q(quote.name)}`,
        `least = "${size(leastDollars)}"\nmost = "${size(mostDollars)}"`,
        ...(at < mostLevelPairs ? [`levels = ["${size(mostDollars / 10)}"]`] : []),
        `spread_bps = ${spreadBps}\nprice = "${base.source} / ${quote.source}"`,
      ].join('\n');
    }),
    '',
  ].join('\n');
}

function chainLines(served: Served): string {
  const { chain, family, rpcUrl, chainId, escrows, escrowsCreation, program } = served;
  const { genesisHash } = served;
  const head = `[chains.${chain}]\nfamily = ${q(family)}\nkey_file = "keys/${family}.key"`;
  switch (family) {
    case 'bitcoin':
      return `${head}\nnetwork = "regtest"\ncore_url = ${q(rpcUrl)}`;
    case 'evm':
      return `${head}\nchain_id = ${chainId}\nrpc_urls = [${q(rpcUrl)}]`;
    case 'tron':
      return [
        `${head}\nchain_id = ${chainId}\nrpc_urls = [${q(rpcUrl)}]\npolicy = "dev"`,
        `contract = ${q(escrows ?? '')}\ncreation = ${q(escrowsCreation ?? '')}`,
      ].join('\n');
    case 'solana':
      return [
        `${head}\nrpc_urls = [${q(rpcUrl)}]\npolicy = "dev"\nprogram = ${q(program ?? '')}`,
        ...(genesisHash === undefined ? [] : [`genesis_hash = ${q(genesisHash)}`]),
      ].join('\n');
  }
}
