// The two people of the demo: fresh wallets of all four families, money from the faucet, accounts
// signed in by wallet.

import { randomBytes } from 'node:crypto';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import type { Family } from '@parley/core/families.ts';
import type { Chains } from '@parley/sdk/chains.ts';
import { type ParleyClient, parleyClient } from '@parley/sdk/client.ts';
import { linkWallet, mintKey } from '@parley/sdk/keys.ts';
import { bitcoinSource, evmSource, solanaSource, tronSource } from '@parley/sdk/sources.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { coreCoins } from '@parley/sdk/wallets/coins.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import { tronWallet } from '@parley/sdk/wallets/tron.ts';
import type { DevnetClient } from '../devnet/client.ts';
import type { Brand } from './market.ts';
import type { Place } from './place.ts';

export type Wallets = ReturnType<typeof walletsOf>;

export type Person = Wallets & {
  readonly name: string;
  readonly userId: string;
  readonly client: ParleyClient;
  /** With nodes of the person's own choice; on a dev network there is only one of each. */
  readonly chains: Chains;
  readonly store: Store;
};

/** Bitcoin in so many coins, to fund swaps side by side. */
const coins = 8;

/** 32 bytes of hex for each family. */
export type Keys = Readonly<Record<Family, string>>;

export function newKeys(): Keys {
  const fresh = () => randomBytes(32).toString('hex');
  return { bitcoin: fresh(), evm: fresh(), tron: fresh(), solana: fresh() };
}

type Nodes = Pick<Place, 'bitcoin' | 'evm'> & Readonly<Record<'tron' | 'solana', Place['bitcoin']>>;

export function walletsOf({ bitcoin, evm, tron, solana }: Nodes, keys: Keys) {
  return {
    bitcoin: bitcoinWallet({
      privateKey: keys.bitcoin,
      network: 'regtest',
      source: coreCoins(bitcoin.rpcUrl),
    }),
    evm: evmWallet({ ...evm, privateKey: `0x${keys.evm}` }),
    tron: tronWallet({
      chain: tron.chain,
      sources: [{ url: tron.rpcUrl }],
      privateKey: keys.tron,
    }),
    solana: solanaWallet({
      chain: solana.chain,
      rpcUrls: [solana.rpcUrl],
      secretKey: Uint8Array.from(Buffer.from(keys.solana, 'hex')),
    }),
  };
}

/** An API key of an account: signed in by one wallet, the others linked and vouched for by it. */
export async function joined(
  market: { readonly url: string; readonly brand: Brand },
  wallets: Wallets,
  login: Family,
  name: string,
): Promise<{ readonly key: string; readonly client: ParleyClient }> {
  const options = { baseUrl: market.url, ...market.brand };
  const { key } = await mintKey(options, wallets[login], { name });
  const client = parleyClient({ ...options, key });
  for (const wallet of Object.values(wallets)) {
    if (wallet !== wallets[login]) await linkWallet(client, wallet, wallets[login]);
  }
  return { key, client };
}

/** A person with an account, all of whose wallets may give and be paid. */
export async function newPerson(
  name: string,
  login: Family,
  place: Place,
  market: { url: string; brand: Brand; dev: DevnetClient; now: () => number },
): Promise<Person> {
  const own = walletsOf(place, newKeys());
  const { client } = await joined(market, own, login, `demo ${name}`);
  const gifts = Object.values(place.coins).flatMap((coin) => {
    const asset = coin.token === null ? {} : { asset: coin.token };
    const { chain, gift: amount } = coin;
    const gift = { chain, address: own[coin.family].address, amount, ...asset };
    return coin.name === 'BTC' ? Array.from({ length: coins }, () => gift) : [gift];
  });
  await Promise.all(gifts.map((gift) => market.dev.faucet(gift)));
  const { userId } = await client.me();
  const chains = chainsOf(place, market.now, own);
  return { name, userId, client, ...own, chains, store: memoryStore() };
}

export function chainsOf(place: Place, now: () => number, own: Wallets): Chains {
  const { bitcoin, evm, tron, solana } = place;
  const { chain, rpcUrl: coreUrl } = bitcoin;
  const deployment = { chainId: tron.chainId, contract: tron.escrows, creation: tron.creation };
  const sources = [{ url: tron.rpcUrl }];
  const onTron = { chain: tron.chain, deployment, sources, policy: tronDevPolicy };
  const onSolana = { chain: solana.chain, rpcUrls: [solana.rpcUrl], now };
  return {
    [chain]: {
      source: bitcoinSource({ chain, network: 'regtest', source: { coreUrl }, now }),
      wallet: own.bitcoin,
    },
    [evm.chain]: { source: evmSource({ ...evm, rpcUrls: [evm.rpcUrl] }), wallet: own.evm },
    [tron.chain]: { source: tronSource(onTron), wallet: own.tron },
    [solana.chain]: { source: solanaSource(onSolana), wallet: own.solana },
  };
}

export async function leave(person: Person): Promise<void> {
  await Promise.all(Object.values(person.chains).map(({ source }) => source.adapter.close()));
}
