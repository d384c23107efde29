// How the engine asks for a person's wallets: it takes what is connected, and never connects.

import type { ChainKey, Family } from '../../core/families.ts';
import type { Wallet } from '../../sdk/wallets/wallet.ts';

export type WalletPort = {
  /** The connected wallet of that account; null: none is connected. Bitcoin is never asked for. */
  wallet(family: Family, chain: ChainKey, address: string): Wallet | null;
  /** A wallet was connected or has gone. */
  subscribe(heard: () => void): () => void;
};
