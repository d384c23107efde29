// The market agrees no swap after a time that is missing from its database, until an operator goes on:
// a halt, a block or a hashlock of then may be forgotten.

import { ParleyError } from '@parley/core/errors.ts';
import type { Tx } from '../db/database.ts';
import { continuity, type Gap } from '../db/gaps.ts';
import type { Presence } from '../ports/deps.ts';

/** Throws `restoring`. In the transaction of the agreement. */
export async function assertMayAgree(tx: Tx, presence: Presence | undefined): Promise<void> {
  const missing = await whatIsMissing(tx, presence);
  if (missing !== null) throw restoring(missing.join('; '));
}

/** The times that hold agreements, a few words each; null: agreements are made. */
export async function whatIsMissing(
  tx: Tx,
  presence: Presence | undefined,
): Promise<readonly string[] | null> {
  // Before the look: a count while it is under way is no reason.
  const counted = presence?.beat() ?? null;
  const { beat, isLineageSame, holds } = await continuity(tx);
  if (holds.length > 0) return holds.map(timeOf);
  const hasGoneBack = counted !== null && beat !== null && beat < counted;
  const begins = hasGoneBack || (presence !== undefined && !isLineageSame);
  return begins ? ['a time that is being measured'] : null;
}

function restoring(times: string): ParleyError {
  return new ParleyError(
    'restoring',
    `time is missing from the database (${times}), and nothing is agreed until the operator goes ` +
      'on. Everything else goes on; try again later',
  );
}

export function timeOf({ beganAt, endedAt }: Pick<Gap, 'beganAt' | 'endedAt'>): string {
  return `${beganAt.toISOString()} to ${endedAt.toISOString()}`;
}
