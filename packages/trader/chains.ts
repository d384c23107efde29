// The wallets of chains that a trader's own keys sign for.

import { has } from '@parley/core/families.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import type { PhraseKeys } from '@parley/sdk/rescue/derive.ts';
import type { CoinSource } from '@parley/sdk/wallets/coins.ts';
import type { Wallet } from '@parley/sdk/wallets/wallet.ts';
import { needsYou } from './failures.ts';
import type { Keys } from './keys/words.ts';
import {
  bitcoinAt,
  type NodeAt,
  type PinnedChain,
  type PinnedOn,
  tronAt,
  urlsOf,
} from './sources.ts';

/** It signs swaps, and the texts by which it signs in. */
export type OwnWallet = Wallet & MessageSigner;

/** The key of all escrows on Bitcoin, as in the web app: the market pays linked keys alone. */
export const escrowKey = 0;
/** Another program may have used others of the phrase. */
const mostEscrowKeys = 100;

/**
 * `key`: 64 hex digits; on Solana bytes, or a wallet's base58. The same object for all swaps of its
 * key and chain: it gives out nonces and coins.
 */
export async function keyWallet(
  chain: string,
  of: PinnedChain,
  key: string | Uint8Array,
): Promise<OwnWallet> {
  const privateKey = String(key);
  switch (of.family) {
    case 'bitcoin':
      return coinWallet(chain, of, privateKey);
    case 'evm': {
      const { evmWallet } = await import('@parley/sdk/wallets/evm.ts');
      const rpcUrl = urlsOf(chain, of);
      return evmWallet({ rpcUrl, chainId: of.chainId, privateKey: `0x${privateKey}` });
    }
    case 'tron': {
      const { tronWallet } = await import('@parley/sdk/wallets/tron.ts');
      return tronWallet({ chain, sources: tronAt(of.nodes), privateKey });
    }
    case 'solana': {
      const { solanaWallet } = await import('@parley/sdk/wallets/solana.ts');
      return solanaWallet({ chain, rpcUrls: urlsOf(chain, of), secretKey: key });
    }
  }
}

/** By the keys of a profile: on Bitcoin the escrows name a key of the phrase. */
export async function walletOf(
  chain: string,
  of: PinnedChain,
  { wallets }: Keys,
  escrow: Escrow,
): Promise<OwnWallet> {
  if (!has(of, 'coins')) {
    const key = wallets[of.family];
    return keyWallet(chain, of, has(of, 'ed25519') ? Buffer.from(key, 'hex') : key);
  }
  // Coins are the wallet's, scripts name a key of the rescue words: they open it anywhere.
  const { keys, index, payout } = escrow;
  const { bitcoinWallet } = await import('@parley/sdk/wallets/bitcoin.ts');
  const coins = await coinWallet(chain, of, wallets.bitcoin);
  const { privateKey } = keys.bitcoinKey(index);
  const { bitcoin: network, form } = of;
  const paid = { payout: payout ?? coins.address };
  return { ...coins, ...bitcoinWallet({ privateKey, network, form, ...paid }) };
}

async function coinWallet(chain: string, of: PinnedOn<'bitcoin'>, privateKey: string) {
  const { bitcoinWallet } = await import('@parley/sdk/wallets/bitcoin.ts');
  const source = await coinSourceOf(chain, of);
  return bitcoinWallet({ privateKey, network: of.bitcoin, form: of.form, source });
}

export async function coinSourceOf(
  chain: string,
  of: { readonly nodes: readonly NodeAt[] },
): Promise<CoinSource> {
  const { coinsByAll, coreCoins, esploraCoins } = await import('@parley/sdk/wallets/coins.ts');
  urlsOf(chain, of);
  const nodes = of.nodes.map(bitcoinAt);
  return coinsByAll(
    nodes.map((at) => ('coreUrl' in at ? coreCoins(at.coreUrl) : esploraCoins(at.esploraUrl))),
  );
}

/** `payout`: default the wallet's own address. */
export type Escrow = {
  readonly keys: PhraseKeys;
  readonly index: number;
  readonly payout?: string;
};

/** Which key of the phrase a script names. Throws Failure `foreign_key`. */
export function escrowIndexOf(keys: PhraseKeys, pubkey: string): number {
  for (let index = 0; index < mostEscrowKeys; index += 1) {
    if (keys.bitcoinKey(index).pubkey === pubkey) return index;
  }
  const sentence =
    `the script on Bitcoin names the key ${pubkey}, and none of the first ${mostEscrowKeys} ` +
    'keys of these words is it. Where it came from other words: ' +
    '"parley rescue from FILE --words" with those';
  throw needsYou('foreign_key', sentence);
}

/** Where the wallet's own coins are. */
export function coinsAt(wallet: Pick<Wallet, 'family' | 'address'> & { payout?: string }): string {
  return has(wallet, 'coins') ? (wallet.payout ?? wallet.address) : wallet.address;
}
