-- What waits before it changes who is paid: removals too, and every wallet but the very first.

-- A login wallet whose removal was asked for: it signs in, and is paid, until then.
alter table wallets add column leaves_at timestamptz;
-- One that was authorised receives: nobody could stop its wait, and it counted as one.
update wallets set waits_until = null where authorised and waits_until is not null;
create index wallets_leaving on wallets (leaves_at) where leaves_at is not null;
create index wallets_waiting on wallets (waits_until) where waits_until is not null;

-- When the account first had a wallet, removed ones counted: null = it cannot have traded.
alter table accounts add column first_wallet_at timestamptz;
update accounts set first_wallet_at = created_at where id in (
  select account_id from wallets union select account_id from payouts
  union select maker_id from swaps union select taker_id from swaps);

-- Whether its person was told that the choice counts.
alter table payouts add column told boolean not null default false;
update payouts set told = true where from_at <= asked_at;
create index payouts_waiting on payouts (from_at) where not told and stopped_at is null;

-- Where people were reached by a login that was removed: they hear on until then.
create table former_channels (
  account_id uuid not null references accounts (id),
  channel text not null check (channel in ('email', 'telegram')),
  told_to text not null,
  until timestamptz not null,
  primary key (account_id, channel, told_to)
);
create index former_channels_by_end on former_channels (until);
