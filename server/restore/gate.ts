// The market agrees no swap while time is missing that was not read back from the chains: a
// hashlock of then could be taken a second time.

import { ParleyError } from '../../core/errors.ts';
import type { Tx } from '../db/database.ts';
import { continuity, type Reading } from '../db/gaps.ts';
import type { Presence } from '../ports/deps.ts';

/** Throws `restoring`. In the transaction of the agreement. */
export async function assertMayAgree(tx: Tx, presence: Presence | undefined): Promise<void> {
  const missing = await whatIsMissing(tx, presence);
  if (missing !== null) throw restoring(missing.join('; '));
}

/** The progress of reading back, in a sentence each; null: no time is missing. */
export async function whatIsMissing(
  tx: Tx,
  presence: Presence | undefined,
): Promise<readonly string[] | null> {
  // Before the look: a count while it is under way is no reason.
  const counted = presence?.beat() ?? null;
  const { beat, restored, isLineageSame, holds } = await continuity(tx);
  if (holds.length > 0) return holds.map(toldOf);
  const hasGoneBack = counted !== null && beat !== null && beat < counted;
  const begins = restored || hasGoneBack || (presence !== undefined && !isLineageSame);
  return begins ? ['that is about to begin'] : null;
}

function restoring(how: string): ParleyError {
  return new ParleyError(
    'restoring',
    'nothing is agreed until the chains were read for a time that is missing from the database: ' +
      `${how}. Everything else goes on; try again later`,
  );
}

/** How far a reading is. */
export function toldOf(reading: Reading): string {
  const { chain, since, cursor, blocksLeft, trouble } = reading;
  if (since === null) return `${chain} waits for its operator`;
  if (trouble !== null) return `${chain} does not answer`;
  if (cursor === null || blocksLeft === null) return `${chain} begins`;
  // Up to its node's head, which may be behind: reading.ts.
  if (blocksLeft === 0) return `${chain} waits for a block made after that time`;
  return `${chain} has ${blocksLeft} to go`;
}
