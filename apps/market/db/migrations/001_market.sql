-- Amounts are numeric(78,0) base units (2^256-1 has 78 digits). Chain times are bigint Unix seconds.

create table accounts (
  id uuid primary key,
  kind text not null check (kind in ('wallet', 'browser')),
  created_at timestamptz not null
);

-- A login address signs in; a proven one only trades, unless authorised or proven in a web session.
-- One address may be proven on one account and be the login of another.
create table wallets (
  account_id uuid not null references accounts (id),
  family text not null check (family in ('evm', 'tron', 'bitcoin', 'solana')),
  address text not null,
  standing text not null check (standing in ('login', 'proven')),
  authorised boolean not null default false,
  web boolean not null default false,
  -- Bitcoin: the compressed key, where the BIP-322 witness showed it.
  pubkey text,
  proven_at timestamptz not null,
  primary key (family, address, standing)
);
create index wallets_by_account on wallets (account_id);
create unique index one_login_a_family on wallets (account_id, family) where standing = 'login';

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  hash bytea not null unique check (octet_length(hash) = 32),
  prefix text not null,
  name text,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index live_keys_by_account on api_keys (account_id) where revoked_at is null;

create table nonces (
  nonce text primary key,
  pool text not null check (pool in ('mint', 'link', 'authorize')),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index nonces_by_expiry on nonces (expires_at);

create table assets (
  id uuid primary key,
  chain text not null,
  symbol text not null,
  address text,
  decimals integer not null check (decimals between 0 and 36),
  enabled boolean not null default true,
  verified boolean not null,
  source text not null,
  -- Amounts from here on want the chain's high-value depth.
  high_value_from numeric(78, 0),
  created_at timestamptz not null,
  unique nulls not distinct (chain, address)
);

create table rfqs (
  id uuid primary key,
  creator_id uuid not null references accounts (id),
  direction text not null check (direction in ('sell_base', 'buy_base')),
  base_asset_id uuid not null references assets (id),
  base_amount numeric(78, 0) not null,
  quote_asset_id uuid not null references assets (id),
  visibility text not null check (visibility in ('public', 'private')),
  ask_amount numeric(78, 0),
  target_address text,
  -- `expired` follows from expires_at; it is stored later, to keep the partial indexes small.
  status text not null
    check (status in ('open', 'negotiating', 'agreed', 'cancelled', 'expired')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  updated_at timestamptz not null
);
-- The book, newest first; UUIDv7 ids sort by creation.
create index book on rfqs (id desc)
  where visibility = 'public' and status in ('open', 'negotiating');
create index live_rfqs_by_creator on rfqs (creator_id) where status in ('open', 'negotiating');
create index live_rfqs_by_expiry on rfqs (expires_at) where status in ('open', 'negotiating');

create table threads (
  id uuid primary key,
  rfq_id uuid not null references rfqs (id),
  -- Accounts, without foreign keys: a key's check writes a lock into the account's row, and a busy
  -- taker would get one from every quote. Accounts are never deleted.
  maker_id uuid not null,
  taker_id uuid not null,
  status text not null check (status in ('open', 'agreed', 'closed')),
  quote_amount numeric(78, 0) not null,
  proposed_by text not null check (proposed_by in ('maker', 'taker')),
  maker_accepted_at timestamptz,
  taker_accepted_at timestamptz,
  -- The hashlock the initiator's standing acceptance carries.
  hashlock text,
  -- The price history, newest last, the latest 100: [{ by, quoteAmount, at }].
  messages jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (rfq_id, maker_id)
);
create index threads_by_activity on threads (rfq_id, updated_at desc, id desc);

-- Every hashlock ever offered, for ever: reusing one whose secret is public is theft.
create table hashlocks (
  hashlock text primary key check (hashlock ~ '^[0-9a-f]{64}$'),
  account_id uuid not null references accounts (id),
  thread_id uuid not null references threads (id),
  created_at timestamptz not null
);

create table swaps (
  id uuid primary key,
  thread_id uuid not null unique references threads (id),
  rfq_id uuid not null unique references rfqs (id),
  hashlock text not null unique references hashlocks (hashlock),
  maker_id uuid not null references accounts (id),
  taker_id uuid not null references accounts (id),
  long_leg text not null check (long_leg in ('a', 'b')),
  -- A cache of packages/core/status.ts over the legs' facts.
  status text not null,
  -- Once seen anywhere public: never forgotten.
  secret text,
  lapsed boolean not null default false,
  agreed_at bigint not null,
  initiator_fund_by bigint not null,
  expires_at bigint not null,
  counterparty_fund_by bigint not null,
  reveal_by bigint not null,
  -- When time alone next changes something (Unix seconds); null = only a chain event can.
  due_at bigint,
  -- Every escrow it ever had is empty at depth and nothing can follow.
  done boolean not null default false,
  -- Counts the changes, so that facts read before a change are never stored over it.
  revision bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index swaps_by_maker on swaps (maker_id, id desc);
create index swaps_by_taker on swaps (taker_id, id desc);
create index swaps_due on swaps (due_at) where due_at is not null;

create table legs (
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  chain text not null,
  family text not null check (family in ('evm', 'tron', 'bitcoin', 'solana')),
  asset_id uuid not null references assets (id),
  token text,
  amount numeric(78, 0) not null,
  timelock bigint not null,
  required_confirmations integer not null,
  payout_address text,
  payout_pubkey text,
  refund_address text,
  refund_pubkey text,
  -- The current escrow; null until both destinations are known.
  escrow text,
  primary key (swap_id, leg)
);

-- Every escrow a leg ever had, former ones too, until it is empty at depth.
create table escrows (
  chain text not null,
  address text not null,
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  -- packages/core/terms.ts EscrowTerms, amounts as strings.
  terms jsonb not null,
  redeem_script text,
  -- packages/core/facts.ts EscrowFacts, amounts as strings; the cache of the last read.
  facts jsonb not null,
  created_at timestamptz not null,
  -- The transaction from which it is followed: a follower asks for those it cannot have seen yet.
  created_xact xid8 not null default pg_current_xact_id(),
  -- No longer followed.
  done boolean not null default false,
  -- When a funding of it was last handed to the chain: its leg does not move for a while.
  sent_at timestamptz,
  primary key (chain, address)
);
create index escrows_by_swap on escrows (swap_id, leg);
create index escrows_followed on escrows (chain, created_xact, address) where not done;

-- What the follower last saw of each chain.
create table chain_heads (
  chain text primary key,
  height bigint not null,
  hash text not null,
  -- Unix seconds; Bitcoin: median time past.
  clock bigint not null,
  seen_at timestamptz not null
);

-- Written in the transaction of the effect; read by the feed and the webhook delivery.
create table outbox (
  id bigint generated always as identity primary key,
  topic text not null,
  -- Account the event is for; null = every maker on the feed.
  account_id uuid,
  payload jsonb not null,
  created_at timestamptz not null
);

create table idempotency (
  account_id uuid not null,
  method text not null,
  path text not null,
  key text not null,
  body_hash bytea not null,
  -- A request that still runs has no row: it holds an advisory lock (market/idempotency.ts).
  status integer not null,
  reply bytea not null,
  -- Version of the key that encrypted `reply`; null = not encrypted.
  key_version integer,
  created_at timestamptz not null,
  primary key (account_id, method, path, key)
);
create index idempotency_by_age on idempotency (created_at);
