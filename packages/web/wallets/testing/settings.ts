// Tests only: which wallets a page is to have. Keys are hex of 32 bytes.

import type { BitcoinNetworkName } from '@parley/sdk/wallets/proofs.ts';

type Named = { readonly name: string; readonly privateKey: string };

export type EvmSettings = Named & {
  readonly family: 'evm';
  /** Chains that it knows, by id; it begins on the first. */
  readonly chains: Readonly<Record<number, string>>;
};
export type TronSettings = Named & { readonly family: 'tron'; readonly url: string };
export type SolanaSettings = Named & { readonly family: 'solana' };
type BitcoinSettings = Named & {
  readonly family: 'bitcoin';
  readonly network: BitcoinNetworkName;
  /** With user and password; for pages (`pageUrl` of a dev chain). */
  readonly coreUrl: string;
};

export type WalletSettings = readonly (
  | EvmSettings
  | TronSettings
  | SolanaSettings
  | BitcoinSettings
)[];

/** How a test and a wallet in a page talk: `window.walletDoubles[name]`. */
export type Told = {
  does: 'signs' | 'declines' | 'hangs';
  /** Methods that were asked of the person, the oldest first. */
  readonly prompts: string[];
  /** An event of the wallet: `accountsChanged` and the like. */
  emit: (event: string, value: unknown) => void;
};
