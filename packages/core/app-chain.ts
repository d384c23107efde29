// The market's description of a chain for its app for browsers: how it is known, and nodes to begin
// with. The app believes none of it: names are checked against own tables, nodes are asked who they
// are, and a person may name others.

import type { ChainKey, EachOf } from './families.ts';

type Of<F extends string, Known> = Known & {
  readonly family: F;
  readonly chain: ChainKey;
  /** URLs that a page may ask. */
  readonly nodes: readonly string[];
};

/** Contracts beside the pinned one, as `docs/settings.md` names them. */
type Beside<C> = { readonly shards?: readonly C[]; readonly formerContracts?: readonly C[] };
type TronContract = { readonly contract: string; readonly creation: string };

export type AppChain = EachOf<{
  bitcoin: Of<'bitcoin', { readonly bitcoin: 'mainnet' | 'testnet' | 'regtest' }>;
  evm: Of<'evm', { readonly chainId: number; readonly contract?: string } & Beside<string>>;
  tron: Of<'tron', { readonly chainId: number } & TronContract & Beside<TronContract>>;
  solana: Of<'solana', { readonly genesisHash: string; readonly program: string }>;
}>;
