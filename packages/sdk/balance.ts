// A wallet's balance of an asset, by the customer's own node.

import { has } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { PartyChain } from './chains.ts';
import type { PinnedAsset } from './trade.ts';

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
