-- Connections of makers whose quotes are withdrawn once they are gone for a while, and the server
-- processes that have them. All instants are of the database's own clock.

create table feed_processes (
  id uuid primary key,
  seen_at timestamptz not null
);

create table feed_switches (
  -- Of the connection.
  id uuid primary key,
  account_id uuid not null references accounts (id),
  process_id uuid not null references feed_processes (id),
  grace_seconds integer not null check (grace_seconds between 5 and 60),
  -- The end of its grace; null while it is there. While it is `fired`, when that is tried again.
  due_at timestamptz,
  -- The grace of all the account's connections is over: its quotes are being withdrawn.
  fired boolean not null default false
);
create index feed_switches_by_account on feed_switches (account_id);
create index feed_switches_by_process on feed_switches (process_id);
