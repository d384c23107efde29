// Whether time is missing from the database, and what is done about it at once. A backup that was
// restored, a standby that took over without the last writes and a long stop look alike: the events
// meanwhile may not be in the database, so all are treated alike.

import { families, has } from '@parley/core/families.ts';
import type { Tx } from '../db/database.ts';
import { resetFeedEvents } from '../db/feed-events.ts';
import {
  type GapReason,
  giveUpUnfunded,
  type Heartbeat,
  insertGap,
  lockHeartbeat,
  pinSignable,
  resetFeedLog,
  storeBeat,
  voidAcceptances,
  voidNonces,
} from '../db/gaps.ts';
import { revokeAllKeys } from '../db/keys.ts';

/** Longer than a restart takes; a shorter silence of all servers is nothing. */
export const silenceSeconds = 60;
/** Numbers of the feed's log that could have been given out: more than any server appends. */
const feedNumbersPerSecond = 10_000;
const feedNumbersLeast = 1_000_000;
/** Beats that could have been counted by those who remember the missing time. */
const beatJump = 1_000_000_000;
/** The longest that an acceptance may bind (PARLEY_ACCEPT_TTL). */
const longestAcceptanceMs = 86_400_000;

/** The memory of this process; null before its first beat. */
export type Remembered = number | null;

/** Pure. A running process knows better than any clock whether it missed something. */
export function missing(row: Heartbeat, remembered: Remembered, nowMs: number): GapReason | null {
  if (remembered !== null && row.beat < remembered) return 'went_back';
  const { lineage, lineageNow } = row;
  if (lineage !== null && lineageNow !== null && lineage !== lineageNow) return 'lineage';
  const silent = Math.max(row.age, (nowMs - row.at.getTime()) / 1_000);
  return remembered === null && silent > silenceSeconds ? 'silence' : null;
}

/**
 * Pure. A clock of the servers' that was set may tell of a shorter silence than there was, or of
 * another time: by the database's own it was `age` long, however its two ends are named.
 */
export function boundsOf({ at, age }: Pick<Heartbeat, 'at' | 'age'>, nowMs: number) {
  const lastMs = at.getTime();
  const ageMs = Math.max(0, age) * 1_000;
  const beganAt = new Date(Math.min(lastMs, nowMs - ageMs));
  return { beganAt, endedAt: new Date(Math.max(nowMs, lastMs + ageMs)) };
}

type Beaten = {
  readonly beat: number;
  readonly gap: {
    readonly why: GapReason;
    readonly beganAt: Date;
    readonly endedAt: Date;
    readonly holds: boolean;
    /** API keys; null: they stay as they are. */
    readonly revoked: number | null;
  } | null;
};

/**
 * One beat, and in its transaction all that a gap asks for before anybody is served. Dev chains end
 * with their market's home, so that a long stop of a dev network holds nothing.
 */
export async function beatOnce(
  tx: Tx,
  remembered: Remembered,
  nowMs: number,
  market: { readonly isDev: boolean; readonly keepKeys?: boolean },
): Promise<Beaten> {
  const now = new Date(nowMs);
  const row = await lockHeartbeat(tx, now);
  const why = missing(row, remembered, nowMs);
  if (why === null) return { beat: await storeBeat(tx, now, 0), gap: null };
  const { beganAt, endedAt } = boundsOf(row, nowMs);
  const seconds = Math.ceil((endedAt.getTime() - beganAt.getTime()) / 1_000);
  const holds = why !== 'silence' || !market.isDev;
  await insertGap(tx, { why, beganAt, endedAt, holds });
  await voidNonces(tx);
  await voidAcceptances(tx, new Date(beganAt.getTime() - longestAcceptanceMs));
  await pinSignable(tx, now);
  const numbers = feedNumbersLeast + seconds * feedNumbersPerSecond;
  await resetFeedLog(tx, now, numbers);
  await resetFeedEvents(tx, numbers);
  const isOlder = why === 'went_back' || why === 'lineage';
  const revoked = isOlder && market.keepKeys !== true ? await mistrust(tx, now) : null;
  return {
    beat: await storeBeat(tx, now, beatJump),
    gap: { why, beganAt, endedAt, holds, revoked },
  };
}

/**
 * An older database does not say which API keys were revoked since, nor which legs were released.
 * Returns how many keys were good.
 */
export async function mistrust(tx: Tx, now: Date): Promise<number> {
  const takeReleases = families.filter((family) => has(family, 'consents'));
  await giveUpUnfunded(tx, Math.floor(now.getTime() / 1_000), takeReleases);
  return revokeAllKeys(tx, now);
}
