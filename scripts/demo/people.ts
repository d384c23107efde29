// The two people of the demo: fresh wallets of all four families, money from the faucet, accounts
// signed in by wallet.

import { randomBytes } from 'node:crypto';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import { tronDevPolicy } from '../../chains/tron/policy.ts';
import type { DevnetClient } from '../../devnet/client.ts';
import { type ParleyClient, parleyClient } from '../../sdk/client.ts';
import { linkWallet, type MessageSigner, mintKey } from '../../sdk/keys.ts';
import {
  bitcoinSource,
  type ChainSource,
  evmSource,
  solanaSource,
  tronSource,
} from '../../sdk/sources.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import type { Store } from '../../sdk/stores/store.ts';
import { bitcoinWallet } from '../../sdk/wallets/bitcoin.ts';
import { coreCoins } from '../../sdk/wallets/coins.ts';
import { evmWallet } from '../../sdk/wallets/evm.ts';
import { solanaWallet } from '../../sdk/wallets/solana.ts';
import { tronWallet } from '../../sdk/wallets/tron.ts';
import type {
  BitcoinWallet,
  EvmWallet,
  SolanaWallet,
  TronWallet,
  Wallet,
} from '../../sdk/wallets/wallet.ts';
import type { Brand } from './brand.ts';
import type { CoinName, Place } from './place.ts';

type Wallets = {
  readonly bitcoin: BitcoinWallet & MessageSigner;
  readonly evm: EvmWallet & MessageSigner;
  readonly tron: TronWallet & MessageSigner;
  readonly solana: SolanaWallet & MessageSigner;
};

export type Person = Wallets & {
  readonly name: string;
  readonly userId: string;
  readonly client: ParleyClient;
  /** By chain. */
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** Nodes of the person's own choice; on a dev network there is only one of each. */
  readonly sources: ReadonlyMap<string, ChainSource>;
  readonly store: Store;
};

/** Base units that everyone begins with; bitcoin in so many coins, to fund swaps side by side. */
const coins = 8;
const gifts: Readonly<Record<CoinName, bigint>> = {
  BTC: 20_000_000n,
  ETH: 20n * 10n ** 18n,
  'EVM dollar': 10_000n * 10n ** 6n,
  TRX: 100_000n * 10n ** 6n,
  'TRON dollar': 10_000n * 10n ** 6n,
  SOL: 100n * 10n ** 9n,
  'SPL dollar': 10_000n * 10n ** 6n,
};

/**
 * A person with an account: signed in by one wallet, the others linked and vouched for by it, so
 * that all may give and be paid.
 */
export async function newPerson(
  name: string,
  login: keyof Wallets,
  place: Place,
  market: { url: string; brand: Brand; dev: DevnetClient; now: () => number },
): Promise<Person> {
  const own = newWallets(place);
  const options = { baseUrl: market.url, ...market.brand };
  const { key } = await mintKey(options, own[login], { name: `demo ${name}` });
  const client = parleyClient({ ...options, key });
  for (const wallet of Object.values(own)) {
    if (wallet !== own[login]) await linkWallet(client, wallet, own[login]);
  }
  const wallets = new Map<string, Wallet>([
    [place.bitcoin.chain, own.bitcoin],
    [place.evm.chain, own.evm],
    [place.tron.chain, own.tron],
    [place.solana.chain, own.solana],
  ]);
  await enrich(place, market.dev, wallets);
  const { userId } = await client.me();
  const sources = sourcesOf(place, market.now);
  return { name, userId, client, ...own, wallets, sources, store: memoryStore() };
}

function newWallets({ bitcoin, evm, tron, solana }: Place): Wallets {
  const fresh = () => randomBytes(32).toString('hex');
  return {
    bitcoin: bitcoinWallet({
      privateKey: fresh(),
      network: bitcoinNetworks.regtest,
      source: coreCoins(bitcoin.rpcUrl),
    }),
    evm: evmWallet({ rpcUrl: evm.rpcUrl, chainId: evm.chainId, privateKey: `0x${fresh()}` }),
    tron: tronWallet({
      chain: tron.chain,
      sources: [{ url: tron.rpcUrl }],
      privateKey: fresh(),
    }),
    solana: solanaWallet({
      chain: solana.chain,
      rpcUrls: [solana.rpcUrl],
      secretKey: new Uint8Array(randomBytes(32)),
    }),
  };
}

function sourcesOf(place: Place, now: () => number): Map<string, ChainSource> {
  const { bitcoin, evm, tron, solana } = place;
  const { chain, rpcUrl: coreUrl } = bitcoin;
  const deployment = { chainId: tron.chainId, contract: tron.escrows, creation: tron.creation };
  return new Map([
    [chain, bitcoinSource({ chain, network: 'regtest', source: { coreUrl }, now })],
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
}

async function enrich(
  place: Place,
  dev: DevnetClient,
  wallets: ReadonlyMap<string, Wallet>,
): Promise<void> {
  const given = Object.values(place.coins).flatMap(({ name, chain, token }) => {
    const { address } = wallets.get(chain) as Wallet;
    const asset = token === null ? {} : { asset: token };
    const gift = { chain, address, amount: gifts[name], ...asset };
    return name === 'BTC' ? Array.from({ length: coins }, () => gift) : [gift];
  });
  await Promise.all(given.map((gift) => dev.faucet(gift)));
}

export async function leave(person: Person): Promise<void> {
  await Promise.all([...person.sources.values()].map(({ adapter }) => adapter.close()));
}
