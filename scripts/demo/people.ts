// The two people of the demo: fresh wallets, money from the faucet, accounts signed in by wallet.

import { randomBytes } from 'node:crypto';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import type { DevnetClient, DevnetStatus } from '../../devnet/client.ts';
import { type ParleyClient, parleyClient } from '../../sdk/client.ts';
import { linkWallet, type MessageSigner, mintKey } from '../../sdk/keys.ts';
import { bitcoinSource, type ChainSource, evmSource } from '../../sdk/sources.ts';
import { memoryStore } from '../../sdk/stores/memory.ts';
import type { Store } from '../../sdk/stores/store.ts';
import { bitcoinWallet } from '../../sdk/wallets/bitcoin.ts';
import { coreCoins } from '../../sdk/wallets/coins.ts';
import { evmWallet } from '../../sdk/wallets/evm.ts';
import type { BitcoinWallet, EvmWallet, Wallet } from '../../sdk/wallets/wallet.ts';
import type { Brand } from './brand.ts';

export type Person = {
  readonly name: string;
  readonly userId: string;
  readonly client: ParleyClient;
  readonly bitcoin: BitcoinWallet & MessageSigner;
  readonly evm: EvmWallet & MessageSigner;
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** Nodes of the person's own choice; on a dev network there is only one of each. */
  readonly sources: ReadonlyMap<string, ChainSource>;
  readonly store: Store;
};

export type Place = {
  readonly bitcoin: { readonly chain: string; readonly rpcUrl: string };
  readonly evm: {
    readonly chain: string;
    readonly rpcUrl: string;
    readonly chainId: number;
    /** The token that the demo calls the dollar. */
    readonly dollar: { readonly symbol: string; readonly address: string };
  };
};

const coins = 4;
const coinSats = 20_000_000n;
const etherWei = 20n * 10n ** 18n;
const dollars = 10_000_000_000n;

/** The chains of the demo; throws where one is missing. */
export function placeOf(status: DevnetStatus): Place {
  const bitcoin = status.chains.find(({ family }) => family === 'bitcoin');
  const evm = status.chains.find(({ family }) => family === 'evm');
  if (bitcoin === undefined) {
    throw new Error('the Bitcoin chain is off: the market says at its start how to get a bitcoind');
  }
  const dollar = evm?.tokens?.find(({ contract }) => contract === 'DevDollar') ?? evm?.tokens?.[0];
  if (evm?.chainId === undefined || dollar === undefined) {
    throw new Error('the dev network has no EVM chain with a dollar token');
  }
  const { symbol, address } = dollar;
  return {
    bitcoin: { chain: bitcoin.chain, rpcUrl: bitcoin.rpcUrl },
    evm: {
      chain: evm.chain,
      rpcUrl: evm.rpcUrl,
      chainId: evm.chainId,
      dollar: { symbol, address },
    },
  };
}

/**
 * A person with an account: signed in by one wallet, the other one linked and vouched for by the
 * first, so that both may give and be paid.
 */
export async function newPerson(
  name: string,
  login: 'evm' | 'bitcoin',
  place: Place,
  market: { url: string; brand: Brand; dev: DevnetClient; now: () => number },
): Promise<Person> {
  const bitcoin = bitcoinWallet({
    privateKey: randomBytes(32).toString('hex'),
    network: bitcoinNetworks.regtest,
    source: coreCoins(place.bitcoin.rpcUrl),
  });
  const { rpcUrl, chainId } = place.evm;
  const privateKey = `0x${randomBytes(32).toString('hex')}`;
  const evm = evmWallet({ rpcUrl, chainId, privateKey });
  const [first, second] = login === 'evm' ? [evm, bitcoin] : [bitcoin, evm];
  const options = { baseUrl: market.url, ...market.brand };
  const { key } = await mintKey(options, first, { name: `demo ${name}` });
  const client = parleyClient({ ...options, key });
  await linkWallet(client, second, first);
  await enrich(place, market.dev, { bitcoin: bitcoin.address, evm: evm.address });
  const { userId } = await client.me();
  return {
    name,
    userId,
    client,
    bitcoin,
    evm,
    wallets: new Map<string, Wallet>([
      [place.bitcoin.chain, bitcoin],
      [place.evm.chain, evm],
    ]),
    sources: sourcesOf(place, market.now),
    store: memoryStore(),
  };
}

function sourcesOf(place: Place, now: () => number): Map<string, ChainSource> {
  const { bitcoin, evm } = place;
  const { chain, rpcUrl: coreUrl } = bitcoin;
  return new Map([
    [chain, bitcoinSource({ chain, network: 'regtest', source: { coreUrl }, now })],
    [evm.chain, evmSource({ ...evm, rpcUrls: [evm.rpcUrl] })],
  ]);
}

async function enrich(
  place: Place,
  dev: DevnetClient,
  to: { bitcoin: string; evm: string },
): Promise<void> {
  const { bitcoin, evm } = place;
  const coin = { chain: bitcoin.chain, address: to.bitcoin, amount: coinSats };
  const ether = { chain: evm.chain, address: to.evm, amount: etherWei };
  const dollar = { chain: evm.chain, address: to.evm, asset: evm.dollar.symbol, amount: dollars };
  await Promise.all([
    ...Array.from({ length: coins }, () => dev.faucet(coin)),
    dev.faucet(ether),
    dev.faucet(dollar),
  ]);
}

export async function leave(person: Person): Promise<void> {
  await Promise.all([...person.sources.values()].map(({ adapter }) => adapter.close()));
}
