// Statements of the doctor, which only reads: swaps in pages, and what waits longer than it should.

import type { Tx } from './database.ts';
import type { Reading } from './gaps.ts';
import { peopleTopics } from './messages.ts';

/** Ids of swaps after `after`, by id; with `done` those that have ended, newest first. */
export async function openSwapIds(tx: Tx, after: string | null, limit: number): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>({
    name: 'doctor_open',
    text: `select id from swaps where not done and ($1::uuid is null or id > $1)
      order by id limit $2`,
    values: [after, limit],
  });
  return rows.map(({ id }) => id);
}

export async function countOpenSwaps(tx: Tx, after: string): Promise<number> {
  const [row] = await tx.rows<{ count: number }>({
    name: 'doctor_open_count',
    text: 'select count(*) as count from swaps where not done and id > $1',
    values: [after],
  });
  return row?.count ?? 0;
}

/** The same of those that have ended, newest first. */
export async function endedSwapIds(tx: Tx, before: string | null, limit: number) {
  const rows = await tx.rows<{ id: string }>({
    name: 'doctor_ended',
    text: `select id from swaps where done and ($1::uuid is null or id < $1)
      order by id desc limit $2`,
    values: [before, limit],
  });
  return rows.map(({ id }) => id);
}

export type Waiting = {
  readonly count: number;
  /** Age of the oldest, seconds. */
  readonly oldest: number;
};

type Whose = 'webhooks' | 'feed' | 'people';

/** Events not handed out yet, by whom they are for. `now` is the market's clock. */
export async function waitingEvents(tx: Tx, now: Date): Promise<Readonly<Record<Whose, Waiting>>> {
  const rows = await tx.rows<{ whose: Whose; count: number; oldest: number }>({
    name: 'doctor_outbox',
    text: `select case when account_id is null then 'feed'
          when topic = any($2::text[]) then 'people' else 'webhooks' end as whose,
        count(*) as count,
        ceil(extract(epoch from $1::timestamptz - min(created_at)))::bigint as oldest
      from outbox group by 1`,
    values: [now, peopleTopics],
  });
  const one = (whose: Whose) =>
    rows.find((each) => each.whose === whose) ?? { count: 0, oldest: 0 };
  return { webhooks: one('webhooks'), feed: one('feed'), people: one('people') };
}

/** Messages to people that are due and not taken in hand. */
export async function overdueMessages(tx: Tx, now: Date): Promise<Waiting> {
  const [row] = await tx.rows<{ count: number; oldest: number | null }>({
    name: 'doctor_messages',
    text: `select count(*) as count,
        ceil(extract(epoch from $1::timestamptz - min(next_at)))::bigint as oldest
      from messages where state = 'waiting' and next_at < $1`,
    values: [now],
  });
  return { count: row?.count ?? 0, oldest: row?.oldest ?? 0 };
}

/** Deliveries that are due and not taken in hand. */
export async function overdueDeliveries(tx: Tx, now: Date): Promise<Waiting> {
  const [row] = await tx.rows<{ count: number; oldest: number | null }>({
    name: 'doctor_deliveries',
    text: `select count(*) as count,
        ceil(extract(epoch from $1::timestamptz - min(d.next_at)))::bigint as oldest
      from deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'waiting' and not d.behind and w.enabled and d.next_at < $1`,
    values: [now],
  });
  return { count: row?.count ?? 0, oldest: row?.oldest ?? 0 };
}

/** Taken in hand or due, and nobody came back to it: by what it is. */
export async function overdueWork(tx: Tx, now: Date): Promise<(Waiting & { what: string })[]> {
  return tx.rows({
    name: 'doctor_overdue',
    text: `select what, count(*) as count,
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
      group by what`,
    values: [now],
  });
}

export type KnownHead = {
  readonly chain: string;
  readonly height: number;
  readonly hash: string;
  readonly clock: number;
  readonly seen_at: Date;
};

export async function knownHeads(tx: Tx): Promise<KnownHead[]> {
  return tx.rows({
    name: 'doctor_heads',
    text: 'select chain, height, hash, clock, seen_at from chain_heads order by chain',
    values: [],
  });
}

export async function appliedMigrations(tx: Tx): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>({
    name: 'doctor_migrations',
    text: 'select name from migrations order by name',
    values: [],
  });
  return rows.map(({ name }) => name);
}

export type Server = {
  readonly now: Date;
  readonly connections: number;
  readonly most: number;
  readonly recovering: boolean;
};

export async function serverState(tx: Tx): Promise<Server> {
  const [row] = await tx.rows<Server>({
    name: 'doctor_server',
    text: `select clock_timestamp() as now,
        (select count(*) from pg_stat_activity where backend_type = 'client backend')
          as connections,
        current_setting('max_connections')::bigint
          - current_setting('superuser_reserved_connections')::bigint as most,
        pg_is_in_recovery() as recovering`,
    values: [],
  });
  return row!;
}

/** Refunds signed beforehand that are due and in nobody's hands. `wall`: Unix seconds. */
export async function overdueRefunds(tx: Tx, wall: number): Promise<Waiting> {
  const [row] = await tx.rows<{ count: number; oldest: number | null }>({
    name: 'doctor_refunds',
    text: `select count(*) as count, $1::bigint - min(due_at) as oldest from scheduled_refunds
      where due_at < $1::bigint and (leased_until is null or leased_until < $1::bigint)`,
    values: [wall],
  });
  return { count: row?.count ?? 0, oldest: row?.oldest ?? 0 };
}

/** What the operator's gas keys are to send, and did not: due for long, or failing. */
export async function stuckKeeperJobs(tx: Tx, now: Date, failures: number): Promise<Waiting> {
  const [row] = await tx.rows<{ count: number; oldest: number | null }>({
    name: 'doctor_keeper',
    text: `select count(*) as count,
        ceil(extract(epoch from $1::timestamptz - min(due_at)))::bigint as oldest
      from keeper_jobs where state = 'open' and (due_at < $1 or failures >= $2)`,
    values: [now, failures],
  });
  return { count: row?.count ?? 0, oldest: row?.oldest ?? 0 };
}

type Skipped = Pick<Reading, 'gapId' | 'chain' | 'skippedAt'>;

/** Chains that an operator said need not be read, since then: the newest 100. */
export async function skippedReadings(tx: Tx, since: Date): Promise<Skipped[]> {
  return tx.rows<Skipped>({
    name: 'doctor_skipped',
    text: `select gap_id as "gapId", chain, skipped_at as "skippedAt" from gap_readings
      where skipped_at > $1 order by skipped_at desc, chain limit 100`,
    values: [since],
  });
}

type Around = { readonly from: Date; readonly to: Date; readonly now: Date };

/** API keys revoked from `from` to `to`, and those minted until `from` that are good. */
export async function keysAround(
  tx: Tx,
  { from, to, now }: Around,
): Promise<{ revoked: number; alive: number }> {
  const [row] = await tx.rows<{ revoked: number; alive: number }>({
    name: 'doctor_keys',
    text: `select count(*) filter (where revoked_at between $1 and $2) as revoked,
        count(*) filter (where revoked_at is null and created_at <= $1 and expires_at > $3) as alive
      from api_keys`,
    values: [from, to, now],
  });
  return row ?? { revoked: 0, alive: 0 };
}
