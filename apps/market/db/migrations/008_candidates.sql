-- Tokens that are to be listed and are not, or not yet; and when those that are listed by
-- themselves are looked at again.

create table candidates (
  id uuid primary key,
  chain text not null,
  address text not null,
  -- `api` or `launchpad:<name>`: the source of the asset that it becomes.
  source text not null,
  -- Whoever asked first; null of a launchpad.
  account_id uuid references accounts (id),
  -- `rejected` is for ever; `expired`: waited as long as it may.
  status text not null check (status in ('pending', 'rejected', 'expired')),
  reasons jsonb not null default '[]',
  created_at timestamptz not null,
  checked_at timestamptz,
  -- Taken in hand, a candidate is due again when the one who took it must be dead.
  next_check_at timestamptz not null,
  gives_up_at timestamptz not null,
  unique (chain, address)
);
create index candidates_due on candidates (next_check_at) where status = 'pending';
create index candidates_by_account on candidates (account_id) where status = 'pending';
create index candidates_old on candidates (gives_up_at) where status <> 'pending';

alter table assets
  add column checked_at timestamptz,
  -- Null: never looked at by itself, as curated ones.
  add column next_check_at timestamptz;
create index assets_due on assets (next_check_at) where delisted_at is null;
