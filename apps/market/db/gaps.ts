// Statements about the heartbeat, and about time that is missing from the database.

import type { Family } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { changed, count, many, none, one, only, value } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { notifyWork } from './work.ts';

export type GapReason = 'silence' | 'went_back' | 'lineage';

export type Heartbeat = {
  readonly beat: number;
  /** By the clock of the server that wrote it. */
  readonly at: Date;
  /** Seconds since then, by the database's clock. */
  readonly age: number;
  readonly lineage: string | null;
  readonly lineageNow: string | null;
};

const beginHeartbeat = none<[now: Date]>('heartbeat_first')`
  insert into heartbeat (beat, at, beaten_at, lineage)
    select 0, coalesce((select max(seen_at) from chain_heads), $1), clock_timestamp(),
      database_lineage()
    where not exists (select 1 from heartbeat)
    on conflict do nothing`;

const lockRow = only<[], Heartbeat>('heartbeat_lock')`
  select beat, at, extract(epoch from clock_timestamp() - beaten_at)::float8 as age,
      lineage, database_lineage() as "lineageNow"
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
    where beat >= $1 and lineage is not distinct from database_lineage()
    returning beat`;

/** `jump`: besides the one. Returns the new number. */
export const storeBeat = count<[now: Date, jump: number]>('heartbeat_store')`
  update heartbeat set beat = beat + 1 + $2, at = $1, beaten_at = clock_timestamp(),
      lineage = database_lineage()
    returning beat`;

export type Gap = {
  readonly why: GapReason;
  readonly beganAt: Date;
  readonly endedAt: Date;
};

/** `holds`: agreements wait for an operator. */
export const insertGap = none<[gap: Gap & { readonly holds: boolean }]>('gaps_insert')`
  insert into gaps (why, began_at, ended_at, holds) values (:why, :beganAt, :endedAt, :holds)`;

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
          and known.abilities ->> 'authorization' is null offset 0)`;

/**
 * In the time that is missing the payee of the long leg may have given it back, by what its funder
 * holds now. Where the other leg was not funded it is given up, so that nothing more goes in.
 */
export const giveUpUnfunded = none<[at: UnixSeconds, takeReleases: readonly Family[]]>(
  'legs_give_up_unfunded',
)`
  with given as (
    update legs as l set release_asked_at = $1 from swaps s
      where s.id = l.swap_id and s.long_leg = l.leg and not s.done and s.secret is null
        and l.release_asked_at is null
        and (l.family = any($2) or (l.payout_form = 'p2tr' and l.refund_form = 'p2tr'))
        and not exists (select 1 from escrows e where e.swap_id = l.swap_id
          and e.leg <> l.leg and e.facts ->> 'funded' is not null offset 0)
      returning l.swap_id
  )
  update swaps set revision = revision + 1, updated_at = to_timestamp($1)
    where id in (select swap_id from given)`;

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
  readonly isLineageSame: boolean;
  readonly holds: readonly Gap[];
};

type Read = Omit<Continuity, 'holds' | 'beat'> & { readonly beat: number; readonly held: boolean };

const readContinuity = one<[], Read>('heartbeat_continuity')`
  select beat, coalesce(lineage = database_lineage(), true) as "isLineageSame",
      exists (select 1 from gaps where holds) as held
    from heartbeat`;

export async function continuity(tx: Tx): Promise<Continuity> {
  const row = await readContinuity(tx);
  if (row === null) return { beat: null, isLineageSame: true, holds: [] };
  const { held, ...read } = row;
  return { ...read, holds: held ? await holdingGaps(tx) : [] };
}

/** The newest of those that hold agreements, a server's start each. */
export const holdingGaps = many<[], Gap>('gaps_holding')`
  select why, began_at as "beganAt", ended_at as "endedAt" from gaps where holds
    order by id desc limit 20`;

/** An operator's word that agreements are made again; how many gaps that ends. */
export const endHolds = changed('gaps_end_holds')`
  update gaps set holds = false where holds returning 1 as one`;
