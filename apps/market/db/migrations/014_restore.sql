-- That time is missing from a database, whether a backup was restored or nobody served; and what is
-- read back from the chains before anything new is agreed.

-- Which history of which cluster this is: another one after a recovery to a point in time, a
-- failover or a dump that was loaded. Null where this user may not know.
create function database_lineage() returns text language plpgsql volatile as $$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
exception when others then
  return null;
end $$;

-- One row, written every few seconds by every server process.
create table heartbeat (
  one boolean primary key default true check (one),
  -- Ascends; jumps where time was missing.
  beat bigint not null,
  -- By the servers' clocks, which a dev network moves, and by the database's.
  at timestamptz not null,
  beaten_at timestamptz not null,
  lineage text,
  -- Set by whoever brought it back: time is missing however little it looks.
  restored boolean not null default false
);

create table gaps (
  id bigint generated always as identity primary key,
  why text not null check (why in ('silence', 'went_back', 'lineage', 'restored')),
  began_at timestamptz not null,
  ended_at timestamptz not null
);

-- How far each chain was read back for a gap. Nothing is agreed while one is neither read nor
-- skipped.
create table gap_readings (
  gap_id bigint not null references gaps (id),
  chain text not null,
  -- Unix seconds; null = the gap is longer than is read without being told to.
  since bigint,
  -- Null = not begun.
  cursor text,
  blocks_left bigint,
  found integer not null default 0,
  -- Why it does not go on, as was last seen.
  trouble text,
  -- When it first came to the head; it goes on behind it for a while.
  read_at timestamptz,
  -- An operator's word that it need not be read, and when.
  skipped_at timestamptz,
  watched_until timestamptz not null,
  primary key (gap_id, chain)
);
create index gap_readings_open on gap_readings (gap_id) where read_at is null and skipped_at is null;

-- Of a hashlock that was seen on a chain and offered by nobody who is known.
alter table hashlocks
  alter column account_id drop not null,
  alter column thread_id drop not null,
  add column seen_on text;

-- `reset`: whoever listens begins anew.
alter table feed_log drop constraint feed_log_kind_check;
alter table feed_log add constraint feed_log_kind_check
  check (kind in ('created', 'cancelled', 'gone', 'reset'));
