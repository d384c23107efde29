// Cancel on disconnect: connections whose maker's quotes are withdrawn once all of them are gone.
// Instants are of the database's clock alone, so that clocks of processes may differ.

import { did, list, many, none, value } from '@parley/host/postgres/statements.ts';
import { notifying } from './work.ts';

const now = 'clock_timestamp()';
const after = (ms: string) => `${ms}::integer * interval '1 millisecond'`;
const grace = `grace_seconds * interval '1 second'`;

/**
 * The process is there and has these connections: those it has no more are gone. Returns those of
 * them that count still; the others were taken for lost, and their quotes withdrawn.
 */
export const beat = list<[processId: string, ids: readonly string[]], string>('switches_beat')`
  with seen as (
      insert into feed_processes (id, seen_at) values ($1, ${now})
        on conflict (id) do update set seen_at = excluded.seen_at
    ), left_it as (
      update feed_switches set due_at = ${now} + ${grace}
        where process_id = $1 and due_at is null and id <> all($2::uuid[])
    ), back as (
      update feed_switches set due_at = null
        where id = any($2::uuid[]) and due_at is not null and not fired
    )
    select id from feed_switches where id = any($2::uuid[]) and not fired`;

/** It was last heard `silentMs` ago. */
export const beginGrace = none<[id: string, silentMs: number]>('switches_gone')`
  update feed_switches set due_at = ${now} + ${grace} - ${after('$2')}
    where id = $1 and due_at is null`;

/**
 * Connections of processes not seen for `silentMs` are gone: not since before the beat that did
 * not come, `beatMs` after the last. Forgets processes without connections.
 */
export const markLost = none<[silentMs: number, beatMs: number]>('switches_lost')`
  with silent as (
      select id, seen_at from feed_processes where seen_at < ${now} - ${after('$1')}
    ), lost as (
      update feed_switches s set due_at = p.seen_at + ${after('$2')} + ${grace}
        from silent p where s.process_id = p.id and s.due_at is null
    )
    delete from feed_processes p using silent
      where p.id = silent.id and p.seen_at = silent.seen_at
        and not exists (select from feed_switches where process_id = p.id offset 0)`;

/** At most `limit` accounts all of whose connections are gone for as long as they said. */
export const dueAccounts = list<[limit: number], string>('switches_due')`
  select account_id from feed_switches group by account_id
    having bool_and(coalesce(due_at <= ${now}, false)) limit $1`;

/** Milliseconds until any may be due: 0 and less = now; null = there is none to look after. */
export const nextLook = value<[beatMs: number], number>('switches_next')`
  select ceil(extract(epoch from min(due) - ${now}) * 1000)::integer
    from (select max(coalesce(due_at, ${now} + ${after('$1')})) as due
      from feed_switches group by account_id) accounts
    having count(*) > 0`;

export type Switch = {
  readonly id: string;
  readonly fired: boolean;
  /** It is gone, and its grace is over. */
  readonly isOver: boolean;
};

/** Those of an account, locked. */
export const lockSwitches = many<[accountId: string], Switch>('switches_lock')`
  select id, fired, coalesce(due_at <= ${now}, false) as "isOver" from feed_switches
    where account_id = $1 order by id for update`;

/** They fire; if whoever withdraws dies, that is gone on with after `leaseMs`. */
export const fireSwitches = none<[accountId: string, leaseMs: number]>('switches_fire')`
  update feed_switches set fired = true, due_at = ${now} + ${after('$2')} where account_id = $1`;

/** Whether they have fired and the maker is not back; holds off its return until the commit. */
export const holdFired = did<[accountId: string]>('switches_hold')`
  select from feed_switches where account_id = $1 and fired for share`;

export const dropFired = none<[accountId: string]>('switches_drop_fired')`
  delete from feed_switches where account_id = $1 and fired`;

export const postponeFired = none<[accountId: string, ms: number]>('switches_postpone')`
  update feed_switches set due_at = ${now} + ${after('$2')} where account_id = $1 and fired`;

export type Armed = {
  readonly id: string;
  readonly accountId: string;
  readonly processId: string;
  readonly graceSeconds: number;
};

/** A connection is there: those of its account that are gone count no more. Wakes who looks. */
export const insertSwitch = none<[armed: Armed]>('switches_insert')`
  with seen as (
      insert into feed_processes (id, seen_at) values (:processId, ${now})
        on conflict (id) do update set seen_at = excluded.seen_at returning id
    ), before as (
      delete from feed_switches
        where account_id = :accountId and id <> :id and (fired or due_at is not null)
    ), armed as (
      insert into feed_switches (id, account_id, process_id, grace_seconds)
        select :id::uuid, :accountId::uuid, id, :graceSeconds::integer from seen
        on conflict (id) do update
          set grace_seconds = excluded.grace_seconds, due_at = null, fired = false
    )
    select ${notifying('feed switches')}`;

/** The connection asks no more, and is back for those of its account whose grace is not over. */
export const endSwitch = none<[accountId: string, id: string]>('switches_end')`
  delete from feed_switches where account_id = $1 and not fired
    and (id = $2 or due_at is not null and exists (select from feed_switches o
      where o.account_id = $1 and (o.due_at is null or o.due_at > ${now}) offset 0))`;
