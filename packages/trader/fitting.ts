// An acceptance as it comes to by the own trade, where the market does not tell its depths.

import { examine } from '@parley/sdk/agree.ts';
import { RulesError, VerificationError } from '@parley/sdk/errors.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';

/** The arguments of `examine` and `accept` of the SDK. */
export type Dealing = Parameters<typeof examine>[0];

export type Examined = Awaited<ReturnType<typeof examine>> & { readonly dealing: Dealing };

/** Whether the times of a thread are others than the own rules come to. */
export function isOfTimes(error: unknown): boolean {
  if (!(error instanceof VerificationError) || error instanceof RulesError) return false;
  return /\.(?:long|timelockSeconds)$|initiator$/.test(error.field);
}

/**
 * A market does not tell from which amount on it waits deeper. Deeper than asked is safe, so
 * whichever of both depths gives the times of the thread is taken.
 */
export async function fitted(dealing: Dealing): Promise<Examined> {
  const from = (asset: PinnedAsset, high: bigint | null) => ({
    ...asset,
    highValueFrom: asset.highValueFrom ?? high,
  });
  let first: unknown = null;
  for (const base of [null, 0n]) {
    for (const quote of [null, 0n]) {
      const as = {
        ...dealing,
        base: from(dealing.base, base),
        quote: from(dealing.quote, quote),
      };
      try {
        return { ...(await examine(as)), dealing: as };
      } catch (error) {
        first ??= error;
        if (!isOfTimes(error)) throw error;
      }
    }
  }
  throw first;
}
