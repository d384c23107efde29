// The customers of a fault test: wallets of all four families whose keys the test knows, money, an
// account, a webhook, and sources of their own that no proxy stands before.

import { randomBytes } from 'node:crypto';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { tronDevPolicy } from '../../chains/tron/policy.ts';
import { type Holding, holdingOf } from '../../scripts/demo/ledger.ts';
import type { Person } from '../../scripts/demo/people.ts';
import type { CoinName } from '../../scripts/demo/place.ts';
import { assetsOf } from '../../scripts/demo/trades.ts';
import { parleyClient } from '../../sdk/client.ts';
import { linkWallet, mintKey } from '../../sdk/keys.ts';
import { bitcoinSource, evmSource, solanaSource, tronSource } from '../../sdk/sources.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import type { PinnedAsset } from '../../sdk/trade.ts';
import { bitcoinWallet } from '../../sdk/wallets/bitcoin.ts';
import { coreCoins } from '../../sdk/wallets/coins.ts';
import { evmWallet } from '../../sdk/wallets/evm.ts';
import { solanaWallet } from '../../sdk/wallets/solana.ts';
import { tronWallet } from '../../sdk/wallets/tron.ts';
import type { Wallet } from '../../sdk/wallets/wallet.ts';
import type { Stage } from './stage.ts';

export type Customer = Person & {
  readonly key: string;
  /** Hex, of its bitcoin. */
  readonly bitcoinKey: string;
  readonly assets: Readonly<Record<CoinName, PinnedAsset>>;
  readonly hook: string;
};

const coinsEach = 4;
const gifts: Readonly<Record<CoinName, bigint>> = {
  BTC: 5_000_000n,
  ETH: 20n * 10n ** 18n,
  'EVM dollar': 10_000n * 10n ** 6n,
  TRX: 100_000n * 10n ** 6n,
  'TRON dollar': 10_000n * 10n ** 6n,
  SOL: 100n * 10n ** 9n,
  'SPL dollar': 10_000n * 10n ** 6n,
};

export async function newCustomer(stage: Stage, name: string): Promise<Customer> {
  const { place, now } = stage;
  const { bitcoin, evm, tron, solana } = place;
  const fresh = () => randomBytes(32).toString('hex');
  const bitcoinKey = fresh();
  const own = {
    bitcoin: bitcoinWallet({
      privateKey: bitcoinKey,
      network: bitcoinNetworks.regtest,
      source: coreCoins(bitcoin.rpcUrl),
    }),
    evm: evmWallet({ rpcUrl: evm.rpcUrl, chainId: evm.chainId, privateKey: `0x${fresh()}` }),
    tron: tronWallet({ chain: tron.chain, sources: [{ url: tron.rpcUrl }], privateKey: fresh() }),
    solana: solanaWallet({
      chain: solana.chain,
      rpcUrls: [solana.rpcUrl],
      secretKey: new Uint8Array(randomBytes(32)),
    }),
  };
  const { key } = await mintKey({ baseUrl: stage.url }, own.evm, { name });
  const client = parleyClient({ baseUrl: stage.url, key });
  for (const wallet of [own.bitcoin, own.tron, own.solana]) {
    await linkWallet(client, wallet, own.evm);
  }
  const wallets = new Map<string, Wallet>([
    [bitcoin.chain, own.bitcoin],
    [evm.chain, own.evm],
    [tron.chain, own.tron],
    [solana.chain, own.solana],
  ]);
  await enrich(stage, wallets);
  const { userId } = await client.me();
  const hook = `/hook/${userId}`;
  await register(stage, key, hook);
  const deployment = { chainId: tron.chainId, contract: tron.escrows, creation: tron.creation };
  const sources = new Map([
    [
      bitcoin.chain,
      bitcoinSource({
        chain: bitcoin.chain,
        network: 'regtest',
        source: { coreUrl: bitcoin.rpcUrl },
        now,
      }),
    ],
    [evm.chain, evmSource({ ...evm, rpcUrls: [evm.rpcUrl] })],
    [
      tron.chain,
      tronSource({
        chain: tron.chain,
        deployment,
        sources: [{ url: tron.rpcUrl }],
        policy: tronDevPolicy,
      }),
    ],
    [solana.chain, solanaSource({ chain: solana.chain, rpcUrls: [solana.rpcUrl], now })],
  ]);
  const person = { name, userId, client, ...own, wallets, sources, store: memoryStore() };
  return { ...person, key, bitcoinKey, hook, assets: await assetsOf(person, place) };
}

async function enrich({ place, dev }: Stage, wallets: ReadonlyMap<string, Wallet>): Promise<void> {
  const given = Object.values(place.coins).flatMap(({ name, chain, token }) => {
    const { address } = wallets.get(chain) as Wallet;
    const asset = token === null ? {} : { asset: token };
    const gift = { chain, address, amount: gifts[name], ...asset };
    return name === 'BTC' ? Array.from({ length: coinsEach }, () => gift) : [gift];
  });
  await Promise.all(given.map((gift) => dev.faucet(gift)));
}

async function register(stage: Stage, key: string, path: string): Promise<void> {
  const url = new URL(path, stage.receiver.url).href;
  const reply = await fetch(`${stage.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  if (reply.status !== 201) throw new Error(`webhook ${reply.status}: ${await reply.text()}`);
}

export function holding(customer: Customer, { place }: Stage): Promise<Holding> {
  return holdingOf(customer, place);
}
