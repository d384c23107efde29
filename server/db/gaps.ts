// Statements about the heartbeat, and about time that is missing from the database.

import type { Hashlock } from '../../core/hashlock.ts';
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

/**
 * The heartbeat, locked until the end of the transaction. A database that never had one begins with
 * the last sign of life in it: a chain's head that was seen, or now.
 */
export async function lockHeartbeat(tx: Tx, now: Date): Promise<Heartbeat> {
  await tx.rows({
    name: 'heartbeat_first',
    text: `insert into heartbeat (beat, at, beaten_at, lineage)
      select 0, coalesce((select max(seen_at) from chain_heads), $1), clock_timestamp(),
        database_lineage()
      where not exists (select 1 from heartbeat)
      on conflict do nothing`,
    values: [now],
  });
  const [row] = await tx.rows<Heartbeat>({
    name: 'heartbeat_lock',
    text: `select beat, at, extract(epoch from clock_timestamp() - beaten_at)::float8 as age,
        lineage, database_lineage() as "lineageNow", restored
      from heartbeat for update`,
    values: [],
  });
  if (row === undefined) throw new Error('the heartbeat has no row');
  return row;
}

/**
 * One more beat of a process that has beaten before; null, and nothing stored, where anything is
 * not as that process left it: `lockHeartbeat` says what.
 */
export async function beatOn(tx: Tx, remembered: number, now: Date): Promise<number | null> {
  const [row] = await tx.rows<{ beat: number }>({
    name: 'heartbeat_on',
    text: `update heartbeat set beat = beat + 1, at = $1, beaten_at = clock_timestamp()
      where beat >= $2 and not restored and lineage is not distinct from database_lineage()
      returning beat`,
    values: [now, remembered],
  });
  return row?.beat ?? null;
}

/** `jump`: besides the one. Returns the new number. */
export async function storeBeat(tx: Tx, now: Date, jump: number): Promise<number> {
  const [row] = await tx.rows<{ beat: number }>({
    name: 'heartbeat_store',
    text: `update heartbeat set beat = beat + 1 + $2, at = $1, beaten_at = clock_timestamp(),
        lineage = database_lineage(), restored = false
      returning beat`,
    values: [now, jump],
  });
  return row?.beat ?? 0;
}

/** By whoever brought a database back: the next beat takes the time since for missing. */
export async function markRestored(tx: Tx, now: Date, since: Date = now): Promise<void> {
  await lockHeartbeat(tx, now);
  await tx.rows({
    name: 'heartbeat_restored',
    text: 'update heartbeat set restored = true, at = least(at, $1)',
    values: [since],
  });
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

export async function insertGap(tx: Tx, gap: NewGap): Promise<void> {
  await tx.rows({
    name: 'gaps_insert',
    text: `with gap as
        (insert into gaps (why, began_at, ended_at) values ($1, $2, $3) returning id)
      insert into gap_readings (gap_id, chain, since, watched_until)
      select id, chain, $5, $6 from gap, unnest($4::text[]) as chain`,
    values: [gap.why, gap.beganAt, gap.endedAt, gap.chains, gap.since, gap.watchedUntil],
  });
}

/** Nonces given out in a time that is missing cannot be told from those given out before it. */
export async function voidNonces(tx: Tx): Promise<void> {
  await tx.rows({ name: 'nonces_void', text: 'delete from nonces', values: [] });
}

/**
 * Acceptances that wait for the other side end: what came of them is not known. Those of before
 * `since` have lapsed by themselves.
 */
export async function voidAcceptances(tx: Tx, since: Date): Promise<void> {
  await tx.rows({
    name: 'threads_void_acceptances',
    text: `update threads set maker_accepted_at = null, taker_accepted_at = null, hashlock = null
      where status = 'open' and (maker_accepted_at > $1 or taker_accepted_at > $1)`,
    values: [since],
  });
}

/**
 * In the time that is missing a text to sign may have been given for any escrow of an EVM token,
 * but for tokens that take no authorization. Until it opens nothing more, the leg stays.
 */
export async function pinSignable(tx: Tx, now: Date): Promise<void> {
  await tx.rows({
    name: 'escrows_pin_signable',
    text: `update escrows set authorized_at = $1
      where authorized_at is null and not done and terms ->> 'token' like '0x%'
        and not exists (select 1 from token_abilities as known
          where known.chain = escrows.chain and known.token = escrows.terms ->> 'token'
            and known.abilities ->> 'authorization' is null)`,
    values: [now],
  });
}

/**
 * Every position that anybody may hold lies before the log now, so that who resumes is told to
 * begin anew: its numbers go on `numbers` behind the last, with one entry that says so.
 */
export async function resetFeedLog(tx: Tx, now: Date, numbers: number): Promise<void> {
  await tx.rows({
    name: 'feed_jump',
    text: `select setval('feed_log_seq_seq', last_value + $1) from feed_log_seq_seq`,
    values: [numbers],
  });
  await tx.rows({ name: 'feed_empty', text: 'delete from feed_log', values: [] });
  await tx.rows({
    name: 'feed_reset',
    text: `insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
      values ('reset', '00000000-0000-0000-0000-000000000000',
        '00000000-0000-0000-0000-000000000000', null, '', $1)`,
    values: [now],
  });
  await notifyWork(tx, 'feed');
}

/** What `mayAgree` has to know, in one look. */
export type Standing = {
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

export async function standing(tx: Tx): Promise<Standing> {
  const [row] = await tx.rows<{ beat: number; restored: boolean; same: boolean; open: boolean }>({
    name: 'heartbeat_standing',
    text: `select beat, restored, coalesce(lineage = database_lineage(), true) as same,
        exists (select 1 from gap_readings where read_at is null and skipped_at is null) as open
      from heartbeat`,
    values: [],
  });
  const holds = row?.open === true ? await openReadings(tx) : [];
  return {
    beat: row?.beat ?? null,
    restored: row?.restored ?? false,
    isLineageSame: row?.same ?? true,
    holds,
  };
}

/** Those that hold agreements. */
export function openReadings(tx: Tx): Promise<Reading[]> {
  return tx.rows<Reading>({
    name: 'gap_readings_open',
    text: `select ${readingColumns} from gap_readings
      where read_at is null and skipped_at is null order by chain, gap_id`,
    values: [],
  });
}

/** Those that hold agreements, and those that are behind the head and go on. */
export function dueReadings(tx: Tx, now: Date): Promise<Reading[]> {
  return tx.rows<Reading>({
    name: 'gap_readings_due',
    text: `select ${readingColumns} from gap_readings
      where skipped_at is null and since is not null and (read_at is null or watched_until > $1)
      order by chain, gap_id`,
    values: [now],
  });
}

/** One process at a time reads, for as long as its session lasts. */
export async function lockReading(tx: Tx): Promise<boolean> {
  const [row] = await tx.rows<{ locked: boolean }>({
    name: 'gap_readings_lock',
    text: `select pg_try_advisory_lock(hashtext('gap readings')) as locked`,
    values: [],
  });
  return row?.locked ?? false;
}

/** Not left to the end of the session, which the database hears of later. */
export async function unlockReading(tx: Tx): Promise<void> {
  await tx.rows({
    name: 'gap_readings_unlock',
    text: `select pg_advisory_unlock(hashtext('gap readings'))`,
    values: [],
  });
}

export type Progress = {
  readonly cursor: string;
  readonly blocksLeft: number | null;
  readonly found: number;
  readonly isWhole: boolean;
};

/** Goes on from where it was read; false where somebody else has, and nothing is stored. */
export async function storeProgress(
  tx: Tx,
  { gapId, chain, cursor }: Reading,
  next: Progress,
  now: Date,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'gap_readings_store',
    text: `update gap_readings
      set cursor = $4, blocks_left = $5, found = found + $6, trouble = null,
        read_at = coalesce(read_at, case when $7 then $8::timestamptz end)
      where gap_id = $1 and chain = $2 and cursor is not distinct from $3
      returning 1 as one`,
    values: [gapId, chain, cursor, next.cursor, next.blocksLeft, next.found, next.isWhole, now],
  });
  return rows.length === 1;
}

export async function storeTrouble(
  tx: Tx,
  { gapId, chain }: Reading,
  trouble: string,
): Promise<void> {
  await tx.rows({
    name: 'gap_readings_trouble',
    text: 'update gap_readings set trouble = $3 where gap_id = $1 and chain = $2',
    values: [gapId, chain, trouble],
  });
}

/**
 * Hashlocks that a chain shows are used for ever: also one that was offered on a thread, where no
 * swap came of it that is known. Returns how many were not known to be.
 */
export async function useHashlocks(
  tx: Tx,
  hashlocks: readonly Hashlock[],
  chain: string,
  now: Date,
): Promise<number> {
  if (hashlocks.length === 0) return 0;
  const rows = await tx.rows({
    name: 'hashlocks_seen',
    text: `insert into hashlocks (hashlock, created_at, seen_on)
      select hashlock, $3, $2 from unnest($1::text[]) as hashlock order by hashlock
      on conflict (hashlock) do update
        set account_id = null, thread_id = null, seen_on = excluded.seen_on
        where hashlocks.account_id is not null
          and not exists (select 1 from swaps s where s.hashlock = hashlocks.hashlock)
      returning 1 as one`,
    values: [hashlocks, chain, now],
  });
  return rows.length;
}

export type Gap = {
  readonly id: number;
  readonly why: GapReason;
  readonly beganAt: Date;
  readonly endedAt: Date;
};

/** The newest first. */
export function listGaps(tx: Tx, limit: number): Promise<Gap[]> {
  return tx.rows<Gap>({
    name: 'gaps_list',
    text: `select id, why, began_at as "beganAt", ended_at as "endedAt" from gaps
      order by id desc limit $1`,
    values: [limit],
  });
}

export async function gapById(tx: Tx, id: number): Promise<Gap | null> {
  const [gap] = await tx.rows<Gap>({
    name: 'gap_by_id',
    text: `select id, why, began_at as "beganAt", ended_at as "endedAt" from gaps where id = $1`,
    values: [id],
  });
  return gap ?? null;
}

export function readingsOf(tx: Tx, gapId: number): Promise<Reading[]> {
  return tx.rows<Reading>({
    name: 'gap_readings_of',
    text: `select ${readingColumns} from gap_readings where gap_id = $1 order by chain`,
    values: [gapId],
  });
}

/** An operator's word that a chain need not be read; how many readings that ends. */
export async function skipReadings(tx: Tx, chain: string, now: Date): Promise<number> {
  const rows = await tx.rows({
    name: 'gap_readings_skip',
    text: `update gap_readings set skipped_at = $2
      where chain = $1 and read_at is null and skipped_at is null returning 1 as one`,
    values: [chain, now],
  });
  return rows.length;
}

/** An operator's word that a gap which is too long is read from `since` on; how many readings. */
export async function shortenReadings(tx: Tx, since: number): Promise<number> {
  const rows = await tx.rows({
    name: 'gap_readings_shorten',
    text: `update gap_readings set since = $1
      where since is null and read_at is null and skipped_at is null returning 1 as one`,
    values: [since],
  });
  return rows.length;
}
