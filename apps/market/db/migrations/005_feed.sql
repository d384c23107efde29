-- The log of the maker feed: what every maker is told, in an order that all processes share.

create table feed_log (
  -- Ascends in the order of commits, because one process at a time appends; some numbers are left
  -- out.
  seq bigint generated always as identity primary key,
  kind text not null check (kind in ('created', 'cancelled', 'gone')),
  rfq_id uuid not null,
  creator_id uuid not null,
  -- Null = public; otherwise only accounts that hold it are told.
  target_address text,
  -- The RFQ as JSON, exactly as it is sent; of `gone` the reason.
  body text not null,
  at timestamptz not null
);

-- What waits to be appended. Rows of a time when nobody listened are told to nobody.
delete from outbox where account_id is null;
create index outbox_feed on outbox (id) where account_id is null;

create index live_rfqs_by_target on rfqs (target_address, id desc)
  where status in ('open', 'negotiating') and target_address is not null;
