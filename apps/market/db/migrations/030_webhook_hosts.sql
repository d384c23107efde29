-- What a host that webhooks name is sent over all accounts, and webhooks that fail. Servers of the
-- version before count nothing and switch nothing off.
create table webhook_hosts (
  -- A name or an address.
  host text primary key,
  -- Whether it ever answered a delivery 2xx.
  answered boolean not null default false,
  -- Deliveries begun since then; the window is a minute long.
  window_at timestamptz not null,
  sent integer not null
);
create index webhook_hosts_window on webhook_hosts (window_at);

alter table webhooks
  -- No delivery begins before it; what was begun is tried again at its times.
  add column held_until timestamptz,
  -- The first failure after which nothing was answered 2xx.
  add column failing_since timestamptz;
create index webhooks_failing on webhooks (failing_since) where enabled and failing_since is not null;
create index deliveries_again on deliveries (webhook_id, next_at)
  where state = 'waiting' and not behind and attempts > 0;
