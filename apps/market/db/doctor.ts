// Statements of the doctor, the probes and the status, which only read: swaps in pages, what waits
// longer than it should, and the database itself.

import { above, below, list, many, only } from '@parley/host/postgres/statements.ts';
import { forWebhooks } from './deliveries.ts';
import { forPeople } from './messages.ts';

/** Ids of swaps after `after`, by id; ids of swaps that have ended, newest first. */
export const openSwapIds = list<[after: string | null, limit: number], string>('doctor_open')`
  select id from swaps where not done and ${above('id', '$1')} order by id limit $2`;

export const endedSwapIds = list<[before: string | null, limit: number], string>('doctor_ended')`
  select id from swaps where done and ${below('id', '$1')} order by id desc limit $2`;

type Outbox = 'events' | 'feed' | 'people';
type Work = 'messages' | 'deliveries' | 'candidates' | 'tokens' | 'launchpads';
export type Waits = Outbox | Work | 'keeper' | 'refunds';
/** Age of the oldest in seconds. */
type Waiting = { readonly of: Waits; readonly count: number; readonly oldest: number };
type About = { readonly people: readonly string[]; readonly failures: number };

/** The work that is due by now and in nobody's hands. `people`: topics of events for people. */
export const waiting = many<[now: Date, about: About], Waiting>('doctor_waiting')`
  select of, count(*) as count,
      ceil(extract(epoch from $1::timestamptz - min(at)))::bigint as oldest
    from (
      select case when account_id is null then 'feed' when topic = any(:people::text[])
          then 'people' else 'events' end as of, created_at as at from outbox
      union all select 'messages', due_at from jobs
        where kind in ('code', 'email', 'telegram') and gave_up_at is null
      union all select 'deliveries', d.next_at from deliveries d
        join webhooks w on w.id = d.webhook_id
        where d.state = 'waiting' and not d.behind and w.enabled
      union all select 'candidates', next_check_at from candidates where status = 'pending'
      union all select 'tokens', next_check_at from assets
        where delisted_at is null and source <> 'curated' and next_check_at is not null
      union all select 'launchpads', due_at from launchpads
      union all select 'keeper', case when failures >= :failures then created_at else due_at end
        from keeper_jobs where state = 'open'
      union all select 'refunds', due_at from jobs where kind like 'refund %' or kind like 'claim %'
    ) work
    where at < $1
    group by of`;

type GivenUp = { readonly kind: string; readonly count: number; readonly failure: string };

/** Jobs that were given up since then, by kind, and why the last one was. */
export const givenUpSince = many<[since: Date], GivenUp>('doctor_given_up')`
  select kind, count(*) as count, (array_agg(failure order by gave_up_at desc))[1] as failure
    from jobs where gave_up_at >= $1 group by kind`;

const oldest = (audience: string, events: string) => `(select '${audience}' as audience,
    created_at as at from outbox where ${events} order by id limit 1)`;

type OldestEvent = { readonly audience: 'webhooks' | 'feed' | 'messages'; readonly at: Date };

/** The event of each audience that waits longest to be handed out. */
export const oldestEvents = many<[], OldestEvent>('status_oldest_events')`
  ${oldest('webhooks', forWebhooks)} union all ${oldest('feed', 'account_id is null')}
    union all ${oldest('messages', forPeople)}`;

export const appliedMigrations = list<[], string>('doctor_migrations')`
  select name from migrations order by name`;

export type DatabaseState = {
  readonly migrations: readonly string[];
  /** The number of the least migration that a version must know; null: any. */
  readonly compatibleFrom: string | null;
  readonly isStandby: boolean;
};

/** For probes: the applied migrations, and whether the database takes writes. */
export const databaseState = only<[], DatabaseState>('health_database')`
  select array(select name from migrations) as migrations,
    (select max(compatible_from) from migrations) as "compatibleFrom",
    pg_is_in_recovery() as "isStandby"`;

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
