// How many decimals an asset has, by its chain: with another number a person sees another amount
// than it signs.

import { factsOf } from '@parley/core/families.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import { VerificationError } from '@parley/sdk/errors.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';

/** Throws VerificationError, and the error of a node that does not say it. */
export async function mustHaveDecimals(
  { view, adapter }: ChainSource,
  { token, decimals }: Pick<PinnedAsset, 'token' | 'decimals'>,
  signal: AbortSignal,
): Promise<void> {
  const own =
    token === null ? factsOf[view.family].coin.decimals : await adapter.decimals?.(token, signal);
  if (own === decimals) return;
  const what = `decimals of ${token ?? 'the coin'} on ${view.chain}`;
  throw new VerificationError(what, `${own ?? 'none'}, as its chain says`, String(decimals));
}
