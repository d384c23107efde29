-- Where accounts want their events, and each delivery on its way there.

create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  url text not null,
  -- Event names; empty = all of them, those of later versions too.
  events text[] not null,
  -- Of the signatures; encrypted by the server's own key of this version.
  secret bytea not null,
  secret_version integer not null,
  enabled boolean not null default true,
  created_at timestamptz not null,
  -- HTTP status of the last attempt; 0 = no answer, and why.
  last_status integer,
  last_error text,
  last_delivery_at timestamptz
);
create index webhooks_account on webhooks (account_id, id);

create table deliveries (
  -- The deliveryId that receivers see.
  id uuid primary key,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event text not null,
  -- Swap or thread that it is about: of one subject a later delivery waits for the first attempt
  -- of an earlier one.
  subject uuid,
  -- Order within a subject: that of the effects.
  position bigint not null,
  -- Exactly the bytes that are signed and sent.
  body text not null,
  attempts integer not null default 0,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dropped')),
  -- While waiting: not before this, and not while somebody has it in hand.
  next_at timestamptz not null,
  leased_until timestamptz,
  created_at timestamptz not null,
  done_at timestamptz
);
create index deliveries_due on deliveries (next_at) where state = 'waiting';
create index deliveries_order on deliveries (webhook_id, subject, position) where state = 'waiting';
create index deliveries_done on deliveries (done_at) where state <> 'waiting';

create table delivery_attempts (
  delivery_id uuid not null references deliveries (id) on delete cascade,
  attempt integer not null,
  at timestamptz not null,
  milliseconds integer not null,
  -- 0 = no answer, and why.
  status integer not null,
  error text,
  primary key (delivery_id, attempt)
);

-- What waits to be handed out to webhooks; the feed's rows stay where they are.
create index outbox_webhooks on outbox (id) where account_id is not null and topic <> 'key.created';
