-- Events of negotiations on the feed, for accounts that ask for them by name; and threads by party.

-- An account that asked for events on the feed.
create table feed_subscriptions (
  account_id uuid primary key references accounts (id),
  -- Of its newest event: each has the next one.
  number bigint not null default 0,
  -- When a socket last asked for it, by the name of the event.
  asked jsonb not null
);

create table feed_events (
  -- Ascends in the order of commits: one process at a time appends. No socket is told of it.
  seq bigint generated always as identity primary key,
  account_id uuid not null references accounts (id),
  number bigint not null,
  topic text not null,
  payload jsonb not null,
  at timestamptz not null,
  unique (account_id, number)
);

-- An expired RFQ closes its threads from now on, so that what is stored as open is open.
update threads t set status = 'closed', updated_at = r.expires_at
  from rfqs r where r.id = t.rfq_id and t.status = 'open' and r.status = 'expired';

create index threads_open_by_taker on threads (taker_id, id desc) where status = 'open';
create index threads_closed_by_maker on threads (maker_id, id desc) where status = 'closed';
create index threads_closed_by_taker on threads (taker_id, id desc) where status = 'closed';
