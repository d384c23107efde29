// What a market tells its web app of the chains it trades on: how each is known, and nodes to begin
// with. The app believes none of it: names are checked against its own tables, nodes are asked who
// they are, and a person may name others.

import type { ChainKey, Network } from './families.ts';
import type { UnixSeconds } from './nominal.ts';

export type AppConfig = {
  readonly productName: string;
  readonly network: Network;
  /** The market's clock. A dev network moves it; elsewhere the device's own counts. */
  readonly now: UnixSeconds;
  readonly chains: readonly AppChain[];
};

type Of<F extends string, Known> = Known & {
  readonly family: F;
  readonly chain: ChainKey;
  /** URLs that a page may ask; the first ones are asked together. */
  readonly nodes: readonly string[];
};

/** Contracts beside the pinned one, as `docs/settings.md` names them. */
type Beside<C> = { readonly shards?: readonly C[]; readonly formerContracts?: readonly C[] };
type TronContract = { readonly contract: string; readonly creation: string };

export type AppChain =
  | Of<'bitcoin', { readonly bitcoin: 'mainnet' | 'testnet' | 'regtest' }>
  | Of<'evm', { readonly chainId: number; readonly contract?: string } & Beside<string>>
  | Of<'tron', { readonly chainId: number } & TronContract & Beside<TronContract>>
  | Of<'solana', { readonly genesisHash: string; readonly program: string }>;
