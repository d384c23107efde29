// What is to be said first of the market's state. Pure.

import type { UnixSeconds } from '../../../core/nominal.ts';
import { parseIsoTime } from '../../../sdk/people.ts';
import type { MarketStatus } from '../../../sdk/types.ts';
import { mostClockOffSeconds } from '../../market/clock.ts';

type Chain = MarketStatus['chains'][number];

export type ChainState = 'halted' | 'unseen' | 'quiet' | 'good';

/** A halt is the operator's word, and stands above what is seen. */
export function stateOf({ haltedSince, height, isQuiet }: Chain): ChainState {
  if (haltedSince !== null) return 'halted';
  if (height === null) return 'unseen';
  return isQuiet ? 'quiet' : 'good';
}

/** Seconds that this clock is ahead of the market's; null: too few to matter. */
export function clockOff({ at }: Pick<MarketStatus, 'at'>, now: UnixSeconds): number | null {
  const off = now - parseIsoTime(at);
  return Math.abs(off) <= mostClockOffSeconds ? null : off;
}
