// Statements of the doctor, which only reads: swaps in pages, and what waits longer than it should.

import type { Tx } from './database.ts';
import type { Reading } from './gaps.ts';
import { peopleTopics } from './messages.ts';
import { count, list, many, only } from './statements.ts';

/** Ids of swaps after `after`, by id; with `done` those that have ended, newest first. */
export const openSwapIds = list<[after: string | null, limit: number], string>('doctor_open')`
  select id from swaps where not done and ($1::uuid is null or id > $1) order by id limit $2`;

export const countOpenSwaps = count<[after: string]>('doctor_open_count')`
  select count(*) as count from swaps where not done and id > $1`;

/** The same of those that have ended, newest first. */
export const endedSwapIds = list<[before: string | null, limit: number], string>('doctor_ended')`
  select id from swaps where done and ($1::uuid is null or id < $1) order by id desc limit $2`;

export type Waiting = {
  readonly count: number;
  /** Age of the oldest, seconds. */
  readonly oldest: number;
};

type Whose = 'webhooks' | 'feed' | 'people';

/** A `Waiting` of what waits since `at`; the first argument is now. */
const waitingSince = (at: string) => `count(*) as count, coalesce(ceil(extract(epoch from
    $1::timestamptz - min(${at})))::bigint, 0) as oldest`;

type Outbox = Waiting & { readonly whose: Whose };

const outbox = many<[now: Date, people: readonly string[]], Outbox>('doctor_outbox')`
  select case when account_id is null then 'feed'
      when topic = any($2::text[]) then 'people' else 'webhooks' end as whose,
      ${waitingSince('created_at')}
    from outbox group by 1`;

/** Events not handed out yet, by whom they are for. `now` is the market's clock. */
export async function waitingEvents(tx: Tx, now: Date): Promise<Readonly<Record<Whose, Waiting>>> {
  const rows = await outbox(tx, now, peopleTopics);
  const one = (whose: Whose) =>
    rows.find((each) => each.whose === whose) ?? { count: 0, oldest: 0 };
  return { webhooks: one('webhooks'), feed: one('feed'), people: one('people') };
}

/** Messages to people that are due and not taken in hand. */
export const overdueMessages = only<[now: Date], Waiting>('doctor_messages')`
  select ${waitingSince('next_at')} from messages where state = 'waiting' and next_at < $1`;

/** Deliveries that are due and not taken in hand. */
export const overdueDeliveries = only<[now: Date], Waiting>('doctor_deliveries')`
  select ${waitingSince('d.next_at')} from deliveries d join webhooks w on w.id = d.webhook_id
    where d.state = 'waiting' and not d.behind and w.enabled and d.next_at < $1`;

/** Taken in hand or due, and nobody came back to it: by what it is. */
export const overdueWork = many<[now: Date], Waiting & { what: string }>('doctor_overdue')`
  select what, count(*) as count,
      ceil(extract(epoch from $1::timestamptz - min(at)))::bigint as oldest
    from (
      select 'candidates' as what, next_check_at as at from candidates where status = 'pending'
      union all
      select 'listed tokens', next_check_at from assets
        where delisted_at is null and source <> 'curated' and next_check_at is not null
      union all
      select 'launchpads', due_at from launchpads
    ) work
    where at < $1
    group by what`;

export type KnownHead = {
  readonly chain: string;
  readonly height: number;
  readonly hash: string;
  readonly clock: number;
  readonly seen_at: Date;
};

export const knownHeads = many<[], KnownHead>('doctor_heads')`
  select chain, height, hash, clock, seen_at from chain_heads order by chain`;

export const appliedMigrations = list<[], string>('doctor_migrations')`
  select name from migrations order by name`;

export type Server = {
  readonly now: Date;
  readonly connections: number;
  readonly most: number;
  readonly recovering: boolean;
};

export const serverState = only<[], Server>('doctor_server')`
  select clock_timestamp() as now,
    (select count(*) from pg_stat_activity where backend_type = 'client backend')
      as connections,
    current_setting('max_connections')::bigint
      - current_setting('superuser_reserved_connections')::bigint as most,
    pg_is_in_recovery() as recovering`;

/** Refunds signed beforehand that are due and in nobody's hands. `wall`: Unix seconds. */
export const overdueRefunds = only<[wall: number], Waiting>('doctor_refunds')`
  select count(*) as count, coalesce($1::bigint - min(due_at), 0) as oldest
    from scheduled_refunds
    where due_at < $1::bigint and (leased_until is null or leased_until < $1::bigint)`;

/** What the operator's gas keys are to send, and did not: due for long, or failing. */
export const stuckKeeperJobs = only<[now: Date, failures: number], Waiting>('doctor_keeper')`
  select ${waitingSince('due_at')} from keeper_jobs
    where state = 'open' and (due_at < $1 or failures >= $2)`;

type Skipped = Pick<Reading, 'gapId' | 'chain' | 'skippedAt'>;

/** Chains that an operator said need not be read, since then: the newest 100. */
export const skippedReadings = many<[since: Date], Skipped>('doctor_skipped')`
  select gap_id as "gapId", chain, skipped_at as "skippedAt" from gap_readings
    where skipped_at > $1 order by skipped_at desc, chain limit 100`;

type Around = { readonly from: Date; readonly to: Date; readonly now: Date };

/** API keys revoked from `from` to `to`, and those minted until `from` that are good. */
export const keysAround = only<[around: Around], { revoked: number; alive: number }>('doctor_keys')`
  select count(*) filter (where revoked_at between :from and :to) as revoked,
      count(*) filter (where revoked_at is null and created_at <= :from and expires_at > :now)
        as alive
    from api_keys`;
