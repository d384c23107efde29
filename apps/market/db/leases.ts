// Leases of server processes: each name has one holder, which renews it. All times are the
// database's, since the clocks of processes differ. A holder shows that it lives by a lock of its
// listening connection: PostgreSQL ends that lock with the process, long before the lease ends.

import { count, is, list, many, none } from '@parley/host/postgres/statements.ts';
import { notifying } from './work.ts';

/** Without a renewal for so long, as of a process that stands still, another one takes it. */
export const leaseMs = 8_000;

// Any constant will do; it only has to differ from other users of advisory locks.
const lock = 7_269_553;

/**
 * On the listening connection: others see that this process lives. False: a connection that was cut
 * off without a word holds the lock still, for hours where PostgreSQL hears nothing of the cut.
 */
export const showHolder = is<[holder: number]>('lease_show')`
  select pg_try_advisory_lock(${String(lock)}, $1)`;

/** On a listening connection that others still use. */
export const hideHolder = none<[holder: number]>('lease_hide')`
  select pg_advisory_unlock(${String(lock)}, $1)`;

/** How many other processes show themselves. */
export const countOthers = count<[holder: number]>('lease_others')`
  select count(*)::integer from pg_locks
    where locktype = 'advisory' and classid = ${String(lock)} and objsubid = 2
      and objid <> $1::bigint::oid and granted
      and database = (select oid from pg_database where datname = current_database())`;

export type Holder = { readonly holder: number; readonly isShown: boolean };

export type Taken = {
  readonly name: string;
  /** Seconds since its work was last done to the end, whoever held it. */
  readonly behindSeconds: number;
};

const until = `clock_timestamp() + interval '${leaseMs} milliseconds'`;

/** An end far ahead is one from before the clock was set back. */
const isOver = `not l.ends_at between clock_timestamp() and clock_timestamp() + interval '1 minute'`;

/**
 * Takes those of these that nobody holds: never held, over, or of a process that is gone. Where all
 * are held it writes nothing.
 */
export const takeLeases = many<[names: readonly string[], by: Holder], Taken>('lease_take')`
  with free as materialized (
      select n.name, coalesce(l.turn, 0) as turn, coalesce(l.done_at, clock_timestamp()) as done_at
      from unnest($1::text[]) as n (name) left join leases l on l.name = n.name
      where l.name is null or ${isOver}
        or (l.is_shown and pg_try_advisory_xact_lock_shared(${String(lock)}, l.holder))
    )
    insert into leases as l (name, holder, is_shown, turn, ends_at, done_at)
      select name, :holder, :isShown, turn + 1, ${until}, done_at from free order by name
    on conflict (name) do update set holder = :holder, is_shown = :isShown, turn = excluded.turn,
      ends_at = excluded.ends_at
      where l.turn = excluded.turn - 1
    returning name,
      extract(epoch from clock_timestamp() - done_at)::double precision as "behindSeconds"`;

/** Takes the chain from a holder whose last stored head still is the one of this hash. */
export const overtakeLease = many<
  [of: { readonly name: string; readonly stoodAt: string }, by: Holder],
  Taken
>('lease_overtake')`
  update leases l set holder = :holder, is_shown = :isShown, turn = l.turn + 1, ends_at = ${until}
    from chain_heads h
    where l.name = :name and l.holder <> :holder and h.chain = :name and h.hash = :stoodAt
    returning l.name,
      extract(epoch from clock_timestamp() - l.done_at)::double precision as "behindSeconds"`;

/** Names those that it still holds; the others are somebody else's. */
export const renewLeases = list<[held: readonly Taken[], by: Holder], string>('lease_renew')`
  update leases l set ends_at = ${until}, is_shown = :isShown,
      done_at = clock_timestamp() - make_interval(secs => h.behind)
    from unnest($1.name::text[], $1.behindSeconds::double precision[]) as h (name, behind)
    where l.name = h.name and l.holder = :holder returning l.name`;

/** Others may take them at once, and are told. */
export const endLeases = none<[names: readonly string[], holder: number]>('lease_end')`
  with ended as (
      update leases set ends_at = '-infinity' where name = any($1) and holder = $2 returning name
    )
    select ${notifying('leases')} from ended limit 1`;

/** In a statement: whether that process holds that lease at this moment. */
export const holdsLease = (name: string, holder: string) =>
  `exists (select from leases where name = ${name} and holder = ${holder}
        and ends_at > clock_timestamp())`;
