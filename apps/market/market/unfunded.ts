// How many swaps an account may have agreed to and not funded. Each is an option that costs its
// holder nothing, and for which the other side may lock coins: docs/griefing.md.

import { ParleyError } from '@parley/core/errors.ts';
import { lockUnfunded, type Unfunded, unfundedOf } from '../db/agreements.ts';
import type { Tx } from '../db/database.ts';
import type { Deps } from '../ports/deps.ts';
import {
  mostUnfunded,
  mostWeighed,
  placesOfAbandoned,
  settledOfPlace,
  standingSeconds,
} from './bounds.ts';

/** `free`: places of an account that has neither settled nor abandoned anything. */
export function placesOf(
  { settled, abandoned }: Pick<Unfunded, 'settled' | 'abandoned'>,
  free: number,
): number {
  const earned = Math.floor(settled / settledOfPlace) - placesOfAbandoned * abandoned;
  return Math.max(1, Math.min(free + earned, Math.max(free, mostUnfunded)));
}

/**
 * Throws `too_many_unfunded` unless each of these accounts may agree to one more swap. No other
 * acceptance of theirs is counted until the transaction ends.
 */
export async function assertRoom(
  tx: Tx,
  { settings }: Pick<Deps, 'settings'>,
  callerId: string,
  accountIds: readonly string[],
  nowMs: number,
): Promise<void> {
  await lockUnfunded(tx, accountIds);
  const until = Math.floor(nowMs / 1_000) + 1;
  const from = until - standingSeconds;
  const counted = await unfundedOf(tx, accountIds, { from, until, limit: mostWeighed });
  for (const each of counted) {
    const places = placesOf(each, settings.unfundedSwaps);
    if (each.unfunded < places) continue;
    throw each.accountId === callerId ? refusal(each, places, settings.unfundedSwaps) : ofOther();
  }
}

function refusal(
  { unfunded, settled, abandoned }: Unfunded,
  places: number,
  free: number,
): ParleyError {
  return new ParleyError(
    'too_many_unfunded',
    `your account has agreed to ${unfunded} swaps that it has not funded yet; it may have ${places}: ` +
      `${free}, and one more for every ${settledOfPlace} of its ${settled} settled swaps of ` +
      `${standingSeconds / 86_400} days, less ${placesOfAbandoned} for each of ${abandoned} ` +
      `abandoned; at least 1, at most ${Math.max(free, mostUnfunded)}; fund one first`,
    { unfunded, places, settled, abandoned },
  );
}

/** How many it has is its own affair. */
function ofOther(): ParleyError {
  return new ParleyError(
    'too_many_unfunded',
    'the other side has agreed to as many swaps as it may before it funds one; try again later',
  );
}
