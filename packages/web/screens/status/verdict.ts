// The first sentence about the market's state. Pure.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { parseIsoTime } from '@parley/sdk/people.ts';
import type { MarketStatus } from '@parley/sdk/types.ts';
import { mostClockOffSeconds } from '../../market/config.ts';

type Chain = MarketStatus['chains'][number];

type ChainState = 'halted' | 'unseen' | 'quiet' | 'good';

/** A halt is the operator's word, and stands above what is seen. */
export function stateOf({ haltedSince, height, isQuiet }: Chain): ChainState {
  if (haltedSince !== null) return 'halted';
  if (height === null) return 'unseen';
  return isQuiet ? 'quiet' : 'good';
}

/**
 * Seconds that the next block is late by what is usual, where the market has seen none for long;
 * else null. `at` is the time of its answer.
 */
export function lateBy({ height, seenAt, isQuiet, blockSeconds }: Chain, at: string) {
  if (!isQuiet || height === null || seenAt === null) return null;
  return Math.max(0, parseIsoTime(at) - parseIsoTime(seenAt) - (blockSeconds ?? 0));
}

/** Seconds that this clock is ahead of the market's; null: too few to matter. */
export function clockOff({ at }: Pick<MarketStatus, 'at'>, now: UnixSeconds): number | null {
  const off = now - parseIsoTime(at);
  return Math.abs(off) <= mostClockOffSeconds ? null : off;
}
