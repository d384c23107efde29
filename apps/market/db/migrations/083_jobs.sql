-- One table has the work that waits for any process: messages to people and signed refunds.
-- small scheduled_refunds: a row for each escrow whose refund was signed beforehand
-- compatible from 081: nothing was released that reads or writes what goes

create table jobs (
  id text primary key,
  kind text not null,
  account_id uuid references accounts (id),
  about jsonb not null,
  sealed bytea,
  key_version integer,
  due_at timestamptz not null,
  attempts integer not null default 0,
  made_at timestamptz not null,
  failure text,
  gave_up_at timestamptz,
  check ((sealed is null) = (key_version is null))
);
create index jobs_due on jobs (kind, due_at) where gave_up_at is null;
create index jobs_of_accounts on jobs (account_id, kind);
create index jobs_given_up on jobs (gave_up_at) where gave_up_at is not null;

insert into jobs (id, kind, account_id, about, sealed, key_version, due_at, attempts, made_at)
  select id::text, case when account_id is null then 'code' else channel end, account_id,
      jsonb_build_object('event', event, 'loginId', login_id), sealed, key_version, next_at,
      attempts, made_at
    from messages where state = 'waiting';
drop table messages;

insert into jobs (id, kind, account_id, about, due_at, made_at)
  select 'refund ' || chain || ' ' || escrow, 'refund ' || chain,
      (select id from accounts a where a.id = r.account_id),
      jsonb_build_object('chain', chain, 'escrow', escrow, 'swapId', swap_id), to_timestamp(due_at), posted_at
    from scheduled_refunds r where due_at is not null;
drop index scheduled_refunds_due;
drop index scheduled_refunds_leased;
alter table scheduled_refunds drop column due_at, drop column leased_until, drop column account_id;
