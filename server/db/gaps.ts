// Statements about the heartbeat, and about time that is missing from the database.

import type { Hashlock } from '../../core/hashlock.ts';
import {
  changed,
  count,
  did,
  is,
  many,
  none,
  one,
  only,
  unlessEmpty,
  value,
} from '../../host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { notifyWork } from './work.ts';

export type GapReason = 'silence' | 'went_back' | 'lineage' | 'restored';

export type Heartbeat = {
  readonly beat: number;
  /** By the clock of the server that wrote it. */
  readonly at: Date;
  /** Seconds since then, by the database's clock. */
  readonly age: number;
  readonly lineage: string | null;
  readonly lineageNow: string | null;
  readonly restored: boolean;
};

const beginHeartbeat = none<[now: Date]>('heartbeat_first')`
  insert into heartbeat (beat, at, beaten_at, lineage)
    select 0, coalesce((select max(seen_at) from chain_heads), $1), clock_timestamp(),
      database_lineage()
    where not exists (select 1 from heartbeat)
    on conflict do nothing`;

const lockRow = only<[], Heartbeat>('heartbeat_lock')`
  select beat, at, extract(epoch from clock_timestamp() - beaten_at)::float8 as age,
      lineage, database_lineage() as "lineageNow", restored
    from heartbeat for update`;

/**
 * The heartbeat, locked until the end of the transaction. A database that never had one begins with
 * the last sign of life in it: a chain's head that was seen, or now.
 */
export async function lockHeartbeat(tx: Tx, now: Date): Promise<Heartbeat> {
  await beginHeartbeat(tx, now);
  return lockRow(tx);
}

/**
 * One more beat of a process that has beaten before; null, and nothing stored, where anything is
 * not as that process left it: `lockHeartbeat` says what.
 */
export const beatOn = value<[remembered: number, now: Date], number>('heartbeat_on')`
  update heartbeat set beat = beat + 1, at = $2, beaten_at = clock_timestamp()
    where beat >= $1 and not restored and lineage is not distinct from database_lineage()
    returning beat`;

/** `jump`: besides the one. Returns the new number. */
export const storeBeat = count<[now: Date, jump: number]>('heartbeat_store')`
  update heartbeat set beat = beat + 1 + $2, at = $1, beaten_at = clock_timestamp(),
      lineage = database_lineage(), restored = false
    returning beat`;

const setRestored = none<[since: Date]>('heartbeat_restored')`
  update heartbeat set restored = true, at = least(at, $1)`;

/** By whoever brought a database back: the next beat takes the time since for missing. */
export async function markRestored(tx: Tx, now: Date, since: Date = now): Promise<void> {
  await lockHeartbeat(tx, now);
  await setRestored(tx, since);
}

export type NewGap = {
  readonly why: GapReason;
  readonly beganAt: Date;
  readonly endedAt: Date;
  readonly chains: readonly string[];
  /** Unix seconds; null = longer than is read without being told to. */
  readonly since: number | null;
  readonly watchedUntil: Date;
};

export const insertGap = none<[gap: NewGap]>('gaps_insert')`
  with gap as
      (insert into gaps (why, began_at, ended_at) values (:why, :beganAt, :endedAt) returning id)
    insert into gap_readings (gap_id, chain, since, watched_until)
    select id, chain, :since, :watchedUntil from gap, unnest(:chains::text[]) as chain`;

/** Nonces given out in a time that is missing cannot be told from those given out before it. */
export const voidNonces = none('nonces_void')`
  delete from nonces`;

/**
 * Acceptances that wait for the other side end: their outcome is not known. Those of before `since`
 * have lapsed by themselves.
 */
export const voidAcceptances = none<[since: Date]>('threads_void_acceptances')`
  update threads set maker_accepted_at = null, taker_accepted_at = null, hashlock = null
    where status = 'open' and (maker_accepted_at > $1 or taker_accepted_at > $1)`;

/**
 * In the time that is missing a text to sign may have been given for any escrow of an EVM token,
 * but for tokens that take no authorization. Until it opens nothing more, the leg stays.
 */
export const pinSignable = none<[now: Date]>('escrows_pin_signable')`
  update escrows set authorized_at = $1
    where authorized_at is null and not done and terms ->> 'token' like '0x%'
      and not exists (select 1 from token_abilities as known
        where known.chain = escrows.chain and known.token = escrows.terms ->> 'token'
          and known.abilities ->> 'authorization' is null)`;

const jumpFeed = none<[numbers: number]>('feed_jump')`
  select setval('feed_log_seq_seq', last_value + $1) from feed_log_seq_seq`;
const emptyFeed = none('feed_empty')`
  delete from feed_log`;
const nobody = `'00000000-0000-0000-0000-000000000000'`;
const beginFeed = none<[now: Date]>('feed_reset')`
  insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
    values ('reset', ${nobody}, ${nobody}, null, '', $1)`;

/**
 * Every position that anybody may hold lies before the log now, so that who resumes is told to
 * begin anew: its numbers go on `numbers` behind the last, with one entry that says so.
 */
export async function resetFeedLog(tx: Tx, now: Date, numbers: number): Promise<void> {
  await jumpFeed(tx, numbers);
  await emptyFeed(tx);
  await beginFeed(tx, now);
  await notifyWork(tx, 'feed');
}

/** The facts that `mayAgree` needs, read at once. */
type Continuity = {
  /** Null: no server process ever beat. */
  readonly beat: number | null;
  readonly restored: boolean;
  readonly isLineageSame: boolean;
  readonly holds: readonly Reading[];
};

export type Reading = {
  readonly gapId: number;
  readonly chain: string;
  /** When the gap was noticed: blocks of before it are missing, of after it none. */
  readonly endedAt: Date;
  /** How long nobody beat, where that is all that is known of the gap; else null. */
  readonly silentSeconds: number | null;
  readonly since: number | null;
  readonly cursor: string | null;
  readonly blocksLeft: number | null;
  readonly found: number;
  readonly trouble: string | null;
  readonly readAt: Date | null;
  readonly skippedAt: Date | null;
};

const readingColumns = `gap_id as "gapId", chain,
  (select ended_at from gaps where id = gap_id) as "endedAt",
  (select extract(epoch from ended_at - began_at)::int from gaps
    where id = gap_id and why = 'silence') as "silentSeconds", since, cursor,
  blocks_left as "blocksLeft", found, trouble, read_at as "readAt", skipped_at as "skippedAt"`;

type Read = Omit<Continuity, 'holds' | 'beat'> & { readonly beat: number; readonly open: boolean };

const readContinuity = one<[], Read>('heartbeat_continuity')`
  select beat, restored, coalesce(lineage = database_lineage(), true) as "isLineageSame",
      exists (select 1 from gap_readings where read_at is null and skipped_at is null) as open
    from heartbeat`;

export async function continuity(tx: Tx): Promise<Continuity> {
  const row = await readContinuity(tx);
  if (row === null) return { beat: null, restored: false, isLineageSame: true, holds: [] };
  const { open, ...read } = row;
  return { ...read, holds: open ? await openReadings(tx) : [] };
}

/** Those that hold agreements. */
export const openReadings = many<[], Reading>('gap_readings_open')`
  select ${readingColumns} from gap_readings
    where read_at is null and skipped_at is null order by chain, gap_id`;

/** Those that hold agreements, and those that are behind the head and go on. */
export const dueReadings = many<[now: Date], Reading>('gap_readings_due')`
  select ${readingColumns} from gap_readings
    where skipped_at is null and since is not null and (read_at is null or watched_until > $1)
    order by chain, gap_id`;

/** One process at a time reads, for as long as its session lasts. */
export const lockReading = is('gap_readings_lock')`
  select pg_try_advisory_lock(hashtext('gap readings')) as locked`;

/** Not left to the end of the session, which the database hears of later. */
export const unlockReading = none('gap_readings_unlock')`
  select pg_advisory_unlock(hashtext('gap readings'))`;

export type Progress = {
  readonly cursor: string;
  readonly blocksLeft: number | null;
  readonly found: number;
  readonly isWhole: boolean;
};

/** Goes on from where it was read; false where somebody else has, and nothing is stored. */
export const storeProgress = did<[of: Reading, next: Progress, now: Date]>('gap_readings_store')`
  update gap_readings
    set cursor = $2.cursor, blocks_left = $2.blocksLeft, found = found + $2.found, trouble = null,
      read_at = coalesce(read_at, case when :isWhole then $3::timestamptz end)
    where gap_id = :gapId and chain = :chain and cursor is not distinct from $1.cursor
    returning 1 as one`;

export const storeTrouble = none<[of: Reading, trouble: string]>('gap_readings_trouble')`
  update gap_readings set trouble = $2 where gap_id = :gapId and chain = :chain`;

/**
 * Hashlocks that a chain shows are used for ever: also one that was offered on a thread, where no
 * swap came of it that is known. Returns how many were not known to be.
 */
export const useHashlocks = unlessEmpty(
  changed<[hashlocks: readonly Hashlock[], chain: string, now: Date]>('hashlocks_seen')`
  insert into hashlocks (hashlock, created_at, seen_on)
    select hashlock, $3, $2 from unnest($1::text[]) as hashlock order by hashlock
    on conflict (hashlock) do update
      set account_id = null, thread_id = null, seen_on = excluded.seen_on
      where hashlocks.account_id is not null
        and not exists (select 1 from swaps s where s.hashlock = hashlocks.hashlock)
    returning 1`,
  0,
);

export type Gap = {
  readonly id: number;
  readonly why: GapReason;
  readonly beganAt: Date;
  readonly endedAt: Date;
};

/** The newest first. */
export const listGaps = many<[limit: number], Gap>('gaps_list')`
  select id, why, began_at as "beganAt", ended_at as "endedAt" from gaps order by id desc limit $1`;

export const readingsOf = many<[gapId: number], Reading>('gap_readings_of')`
  select ${readingColumns} from gap_readings where gap_id = $1 order by chain`;

/** An operator's word that a chain need not be read; how many readings that ends. */
export const skipReadings = changed<[chain: string, now: Date]>('gap_readings_skip')`
  update gap_readings set skipped_at = $2
    where chain = $1 and read_at is null and skipped_at is null returning 1 as one`;

/** An operator's word that a gap which is too long is read from `since` on; how many readings. */
export const shortenReadings = changed<[since: number]>('gap_readings_shorten')`
  update gap_readings set since = $1
    where since is null and read_at is null and skipped_at is null returning 1 as one`;
