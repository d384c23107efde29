// The customer's own part of each chain, in one map: nodes that it trusts, and its wallet.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { Destination } from '@parley/core/terms.ts';
import { SettleError } from './errors.ts';
import { type ChainView, notAmong } from './trade.ts';
import type { Wallet } from './wallets/wallet.ts';

/** A chain as the customer sees it, through nodes of its own choice. */
export type ChainSource = {
  readonly view: ChainView;
  /** Over all nodes, in turn: builds and sends. */
  readonly adapter: ChainAdapter;
  /** One adapter for each of several nodes, held against each other (packages/sdk/evidence/). */
  readonly nodes?: readonly ChainAdapter[];
};

export function nodesOf({ adapter, nodes }: ChainSource): readonly ChainAdapter[] {
  return nodes === undefined || nodes.length === 0 ? [adapter] : nodes;
}

/** Without `wallet` the chain is read, and nothing is signed there. */
export type PartyChain = { readonly source: ChainSource; readonly wallet?: Wallet };

/** By the chain's key: `{ bitcoin: { source, wallet }, ethereum: { source, wallet } }`. */
export type Chains = Readonly<Record<ChainKey, PartyChain>>;

/** Where something is signed or paid, and nothing read. */
export type ChainWallets = Readonly<Record<ChainKey, Pick<PartyChain, 'wallet'>>>;

/** Throws SettleError `no_wallet`. */
export function walletIn(chains: ChainWallets, chain: ChainKey): Wallet {
  const found = chains[chain];
  if (found?.wallet !== undefined) return found.wallet;
  const lacks = found === undefined ? notAmong(chains, chain) : `"${chain}", which you only read`;
  throw new SettleError('no_wallet', `no wallet for ${lacks}`);
}

/** Where its wallet is paid, on Bitcoin with the key. Throws SettleError `no_wallet`. */
export function destinationIn(chains: ChainWallets, chain: ChainKey): Destination {
  const wallet = walletIn(chains, chain);
  if (!has(wallet, 'coins')) return { address: wallet.address, pubkey: null };
  const { address, pubkey, form } = wallet;
  return { address, pubkey, ...(form && { form }) };
}
