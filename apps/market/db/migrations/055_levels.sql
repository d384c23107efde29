-- Indicative prices that makers publish. All instants are of the database's own clock.

create table levels (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  -- A pair is stored one way round, whichever of both its maker calls the base: the smaller id first.
  low_asset_id uuid not null references assets (id),
  high_asset_id uuid not null references assets (id),
  base_is_low boolean not null,
  -- Which of both the taker gives.
  gives_low boolean not null,
  low_amount numeric not null check (low_amount > 0),
  high_amount numeric not null check (high_amount > 0),
  -- Of the base; null: its maker named none.
  least_amount numeric check (least_amount > 0),
  published_at timestamptz not null,
  expires_at timestamptz not null,
  -- What the taker pays for what it gets: the smaller, the better. Two prices of amounts below 2^256
  -- differ by more than 1e-155, so their order is exact.
  rank numeric not null generated always as (
    case when gives_low then -div(high_amount * 1e155, low_amount)
    else div(high_amount * 1e155, low_amount) end) stored,
  check (low_asset_id < high_asset_id)
);
create index levels_by_pair on levels (low_asset_id, high_asset_id, gives_low, rank, id);
create index levels_by_account on levels (account_id, low_asset_id, high_asset_id);
create index levels_by_end on levels (expires_at);
