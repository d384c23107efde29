// A wallet's balance of an asset, by the customer's own node.

import { has } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { PartyChain } from './chains.ts';
import type { PinnedAsset } from './trade.ts';
import type { Standing } from './wallets/wallet.ts';

/**
 * Base units. On Bitcoin they are of confirmed coins that no payment of the wallet object spends;
 * null where the wallet does not say (`bitcoinWallet` does).
 */
export async function balanceOf(
  { source: { adapter }, wallet }: Required<PartyChain>,
  { token }: Pick<PinnedAsset, 'token'>,
  signal: AbortSignal,
): Promise<BaseUnits | null> {
  if (has(wallet, 'coins')) return (await wallet.spendable?.(signal)) ?? null;
  const refund = { address: wallet.address, pubkey: null };
  return (await adapter.held?.({ token, refund }, signal)) ?? null;
}

/**
 * The same beside what the wallet has by blocks alone, with the change of payments on their way.
 * null as above.
 */
export async function standingOf(
  chain: Required<PartyChain>,
  asset: Pick<PinnedAsset, 'token'>,
  signal: AbortSignal,
): Promise<Standing | null> {
  const { wallet } = chain;
  if (has(wallet, 'coins') && wallet.standing !== undefined) return wallet.standing(signal);
  const spendable = await balanceOf(chain, asset, signal);
  return spendable === null ? null : { spendable, confirmed: spendable };
}
