// The estimate in use: asked for at most every half minute, kept while the source is silent, and
// thrown away when it is stale.

import type { BitcoinBackend } from './backend.ts';
import { type FeeBounds, type FeeEstimate, isStale } from './fees.ts';

export type EstimateCache = {
  readonly backend: BitcoinBackend;
  readonly bounds: FeeBounds;
  /** Unix seconds. */
  readonly now: () => number;
  /** Where the source cannot tell, sat per vbyte. */
  readonly fallbackRate: number;
  last: FeeEstimate | null;
};

/** Fees move by the block; half a minute keeps a busy market from asking at every quote. */
const freshSeconds = 30;

/** Throws what the source threw when there is no estimate that is still good. */
export async function currentEstimate(
  cache: EstimateCache,
  signal: AbortSignal,
): Promise<FeeEstimate> {
  const now = cache.now();
  const { last, fallbackRate } = cache;
  if (last !== null && Math.abs(now - last.at) < freshSeconds) return last;
  const fallback = { fast: fallbackRate, medium: fallbackRate, slow: fallbackRate, least: 1 };
  try {
    const asked = await cache.backend.feeEstimate(now, signal);
    // The fallback is no reason to go below what the node's mempool takes.
    if (asked === null) cache.last = { ...fallback, at: now };
    else if (asked.fast !== null) cache.last = asked;
    else cache.last = { ...fallback, ...asked, fast: Math.max(fallbackRate, asked.least) };
    return cache.last;
  } catch (error) {
    if (last !== null && !isStale(cache.bounds, last, now)) return last;
    throw error;
  }
}
