// Traders of TRON and Solana who use the wallets' own libraries: tronweb and @solana/kit as they
// come from npm sign what the market builds, exactly as it came over HTTP.

import { randomBytes } from 'node:crypto';
import { base64 } from '@scure/base';
import {
  createKeyPairFromPrivateKeyBytes,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  partiallySignTransaction,
} from '@solana/kit';
import { TronWeb } from 'tronweb';
import type { SignedTron, SolanaMaterial, TronMaterial } from '../../chains/interface/material.ts';
import { type DevnetClient, type DevnetStatus, devnetClient } from '../../devnet/client.ts';
import { type ParleyClient, parleyClient } from '../../sdk/client.ts';
import { linkWallet, type MessageSigner, mintKey } from '../../sdk/keys.ts';
import { solanaMessageSigner } from '../../sdk/wallets/solana.ts';
import { tronMessageSigner } from '../../sdk/wallets/tron.ts';
import type { RunningMarket } from '../support/market.ts';

export type Trader = {
  readonly key: string;
  readonly client: ParleyClient;
  readonly tron: MessageSigner;
  readonly solana: MessageSigner;
  /** By tronweb. The object has what wallets leave in it. */
  signTron(material: TronMaterial, at?: number): Promise<SignedTron>;
  /** By kit: base64. */
  signSolana(material: SolanaMaterial): Promise<string>;
};

export type Place = {
  readonly url: string;
  readonly dev: DevnetClient;
  readonly tron: DevnetStatus['chains'][number];
  readonly solana: DevnetStatus['chains'][number];
  /** By chain and symbol or `native`. */
  assetOf(chain: string, token: string | null): Promise<string>;
};

export async function placeOf({ ready }: RunningMarket): Promise<Place> {
  const dev = devnetClient(ready.dev ?? '');
  const { chains } = await dev.status();
  const of = (family: string) => {
    const found = chains.find((each) => each.family === family);
    if (found === undefined) throw new Error(`there is no ${family} chain`);
    return found;
  };
  const [tron, solana] = [of('tron'), of('solana')];
  const reader = solanaMessageSigner({ secretKey: new Uint8Array(randomBytes(32)) });
  const { key } = await mintKey({ baseUrl: ready.url }, reader);
  const client = parleyClient({ baseUrl: ready.url, key });
  return {
    url: ready.url,
    dev,
    tron,
    solana,
    assetOf: async (chain, token) => {
      const { assets } = await client.assets({ chain, limit: 100 });
      const found = assets.find(({ address }) => address === token);
      if (found === undefined) throw new Error(`no asset ${token} on ${chain}`);
      return found.id;
    },
  };
}

/** Signed in by a TRON or Solana wallet, the other linked and vouched for; with money of each. */
export async function newTrader(place: Place, login: 'tron' | 'solana'): Promise<Trader> {
  const trader = await newcomer(place, login);
  await linkWallet(trader.client, trader[login === 'tron' ? 'solana' : 'tron'], trader[login]);
  const { dev, tron, solana } = place;
  for (const { chain, tokens = [], family } of [tron, solana]) {
    const { address } = family === 'tron' ? trader.tron : trader.solana;
    await dev.faucet({ chain, address });
    if (tokens[0] !== undefined) await dev.faucet({ chain, address, asset: tokens[0].address });
  }
  return trader;
}

/** With an account of one wallet, and nothing on any chain. */
export async function newcomer(place: Place, login: 'tron' | 'solana'): Promise<Trader> {
  const secret = randomBytes(32);
  const privateKey = secret.toString('hex');
  const tron = tronMessageSigner({ privateKey });
  const solana = solanaMessageSigner({ secretKey: new Uint8Array(secret) });
  const { key } = await mintKey({ baseUrl: place.url }, login === 'tron' ? tron : solana);
  const tronWeb = new TronWeb({ fullHost: place.tron.rpcUrl, privateKey });
  return {
    key,
    client: parleyClient({ baseUrl: place.url, key }),
    tron,
    solana,
    signTron: async (material, at = 0) => {
      const unsigned = material.transactions[at] as Parameters<typeof tronWeb.trx.sign>[0];
      return (await tronWeb.trx.sign(unsigned)) as unknown as SignedTron;
    },
    signSolana: async ({ transaction }) => {
      const pair = await createKeyPairFromPrivateKeyBytes(new Uint8Array(secret));
      const unsigned = getTransactionDecoder().decode(base64.decode(transaction));
      return getBase64EncodedWireTransaction(await partiallySignTransaction([pair], unsigned));
    },
  };
}
