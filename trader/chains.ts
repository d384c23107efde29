// Chains of a profile: sources by its nodes, and wallets by its keys. The code of a family is
// loaded when a chain of it is used.

import type { ChainSource } from '../sdk/chains.ts';
import type { MessageSigner } from '../sdk/keys.ts';
import type { PhraseKeys } from '../sdk/rescue/derive.ts';
import type { CoinSource } from '../sdk/wallets/coins.ts';
import type { Wallet } from '../sdk/wallets/wallet.ts';
import { needsYou } from './failures.ts';
import type { Keys, Network } from './keys/words.ts';
import type { NodeAt, ProfileChain } from './profile.ts';

export type OwnWallet = Wallet & MessageSigner;

/** The key of all escrows on Bitcoin, as in the web app: the market pays linked keys alone. */
export const escrowKey = 0;
/** Another program may have used others of the phrase. */
const mostEscrowKeys = 100;

/** Unix seconds. */
export type Now = () => number;

function urlsOf(chain: string, nodes: readonly NodeAt[]): readonly [string, ...string[]] {
  const [first, ...more] = nodes.map((each) => (typeof each === 'string' ? each : each.url));
  if (first !== undefined) return [first, ...more];
  throw needsYou('no_node', `no node of "${chain}" is in the profile: add one to its nodes`);
}

/** A Core node asks for a user and a password, an Esplora for nothing. */
const bitcoinAt = (url: string) =>
  new URL(url).username === '' ? { esploraUrl: url } : { coreUrl: url };

const tronAt = (nodes: readonly NodeAt[]) =>
  nodes.map((each) => (typeof each === 'string' ? { url: each } : each));

/** Throws Failure `no_node`, and where no table has the chain's policy. */
export async function sourceOf(
  chain: string,
  of: ProfileChain,
  { network, now }: { readonly network: Network; readonly now: Now },
): Promise<ChainSource> {
  const rpcUrls = urlsOf(chain, of.nodes);
  // A dev chain of TRON or Solana has no lasting id: its policy is in no table.
  const isDev = network === 'dev';
  switch (of.family) {
    case 'bitcoin': {
      const { bitcoinSource } = await import('../sdk/sources/bitcoin.ts');
      const [first, second] = rpcUrls;
      const beside = second === undefined ? {} : { second: bitcoinAt(second) };
      const source = bitcoinAt(first);
      return bitcoinSource({ chain, network: of.bitcoin, source, ...beside, now });
    }
    case 'evm': {
      const { evmSource } = await import('../sdk/sources/evm.ts');
      return evmSource({ ...of, chain, rpcUrls });
    }
    case 'tron': {
      const { tronSource, devPolicy } = await import('../sdk/sources/tron.ts');
      const sources = tronAt(of.nodes);
      const policy = isDev ? { policy: devPolicy } : {};
      return tronSource({ chain, deployment: of, sources, ...policy });
    }
    case 'solana': {
      const { solanaSource, devPolicy } = await import('../sdk/sources/solana.ts');
      const { genesisHash, program } = of;
      const known = genesisHash === '' ? {} : { genesisHash };
      const policy = isDev ? { policy: devPolicy } : {};
      return solanaSource({ chain, rpcUrls, program, ...known, ...policy, now });
    }
  }
}

/** The same object for all swaps of its key and chain: it gives out nonces and coins. */
export async function walletOf(
  chain: string,
  of: ProfileChain,
  { wallets }: Keys,
  escrow: Escrow,
): Promise<OwnWallet> {
  switch (of.family) {
    case 'bitcoin':
      return bitcoinWalletOf(await coinSourceOf(chain, of), of.bitcoin, wallets.bitcoin, escrow);
    case 'evm': {
      const { evmWallet } = await import('../sdk/wallets/evm.ts');
      const rpcUrl = urlsOf(chain, of.nodes);
      return evmWallet({ rpcUrl, chainId: of.chainId, privateKey: `0x${wallets.evm}` });
    }
    case 'tron': {
      const { tronWallet } = await import('../sdk/wallets/tron.ts');
      return tronWallet({ chain, sources: tronAt(of.nodes), privateKey: wallets.tron });
    }
    case 'solana': {
      const { solanaWallet } = await import('../sdk/wallets/solana.ts');
      const secretKey = Uint8Array.from(Buffer.from(wallets.solana, 'hex'));
      return solanaWallet({ chain, rpcUrls: urlsOf(chain, of.nodes), secretKey });
    }
  }
}

export async function coinSourceOf(
  chain: string,
  { nodes }: Pick<ProfileChain, 'nodes'>,
): Promise<CoinSource> {
  const { coinsByAll, coreCoins, esploraCoins } = await import('../sdk/wallets/coins.ts');
  const at = (url: string) => (new URL(url).username === '' ? esploraCoins(url) : coreCoins(url));
  return coinsByAll(urlsOf(chain, nodes).map(at));
}

/** `payout`: default the wallet's own address. */
export type Escrow = {
  readonly keys: PhraseKeys;
  readonly index: number;
  readonly payout?: string;
};

/** Coins are the wallet's, scripts name a key of the rescue words: they open it anywhere. */
async function bitcoinWalletOf(
  source: CoinSource,
  network: 'mainnet' | 'testnet' | 'regtest',
  privateKey: string,
  { keys, index, payout }: Escrow,
): Promise<OwnWallet> {
  const { bitcoinWallet } = await import('../sdk/wallets/bitcoin.ts');
  const coins = bitcoinWallet({ privateKey, network, source });
  const key = keys.bitcoinKey(index).privateKey;
  return {
    ...coins,
    ...bitcoinWallet({ privateKey: key, network, payout: payout ?? coins.address }),
  };
}

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
export function coinsAt(wallet: Wallet): string {
  return wallet.family === 'bitcoin' ? (wallet.payout ?? wallet.address) : wallet.address;
}
