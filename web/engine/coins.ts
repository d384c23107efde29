// How many decimals a coin has, by its chain: with another number a person sees another amount than
// it signs, and the number that it sees is a market's word.

import type { Family } from '../../core/families.ts';
import type { ChainSource } from '../../sdk/chains.ts';
import { VerificationError } from '../../sdk/errors.ts';
import type { PinnedAsset } from '../../sdk/trade.ts';

const ofCoin: Readonly<Record<Family, number>> = { bitcoin: 8, evm: 18, tron: 6, solana: 9 };

/** Throws VerificationError, and what a node throws that does not say it. */
export async function mustHaveDecimals(
  { view, adapter }: ChainSource,
  { token, decimals }: Pick<PinnedAsset, 'token' | 'decimals'>,
  signal: AbortSignal,
): Promise<void> {
  const own = token === null ? ofCoin[view.family] : await adapter.decimals?.(token, signal);
  if (own === decimals) return;
  const what = `decimals of ${token ?? 'the coin'} on ${view.chain}`;
  throw new VerificationError(what, `${own ?? 'none'}, as its chain says`, String(decimals));
}
