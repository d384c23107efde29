// What the engine needs of a person's wallet: `AccountLink` of web/wallets/types.ts is one.

import type { ChainKey } from '../../core/families.ts';
import type { Wallet } from '../../sdk/wallets/wallet.ts';

/** The chain that a wallet has to be on, by a node of the person's own. */
export type Place =
  | {
      readonly family: 'evm';
      readonly chain: ChainKey;
      readonly chainId: number;
      readonly rpcUrl: string;
      readonly name: string;
      readonly coin: string;
    }
  | {
      readonly family: 'tron';
      readonly chain: ChainKey;
      readonly chainId: number;
      readonly sources: readonly { readonly url: string }[];
    }
  | {
      readonly family: 'solana';
      readonly chain: ChainKey;
      readonly genesisHash: string;
      readonly rpcUrls: readonly string[];
    };

export type AskedFor = { readonly swapId: string; readonly verb: 'fund' | 'claim' | 'refund' };

/** Whether a person wants to be asked: `settle` builds and asks nothing before. */
export type Asks = {
  readonly withinMs: number;
  isWanted(what: AskedFor): boolean;
  /** Asked, and not signed. */
  over(what: AskedFor): void;
};

export type WalletLink = {
  readonly family: 'evm' | 'tron' | 'solana';
  readonly signer: { readonly address: string };
  on(place: Place, asks: Asks): Wallet;
  onGone(listener: () => void): () => void;
};
