-- The schema of 0.1.0. Amounts are numeric(78,0) base units: 2^256-1 has 78 digits. Times of chains
-- are bigint Unix seconds, times of the market timestamptz.

-- Accounts and people.

create table accounts (
  id uuid primary key,
  kind text not null check (kind in ('wallet', 'browser')),
  created_at timestamptz not null,
  -- The row of a deleted account stays for the swaps that name it, with nothing personal in it.
  deleted_at timestamptz,
  -- Passkeys know the account by it: random, made with the first passkey.
  passkey_user bytea,
  -- The account first had a wallet then, removed ones counted; null: it cannot have traded.
  first_wallet_at timestamptz,
  -- An operator holds the account off new business. The reason is for operators alone.
  blocked_at timestamptz,
  blocked_for text,
  -- A deletion waits until then, as payouts do.
  leaves_at timestamptz,
  constraint accounts_blocked_check check ((blocked_at is null) = (blocked_for is null))
);
create index accounts_blocked on accounts (blocked_at) where blocked_at is not null;
create index accounts_leaving on accounts (leaves_at) where leaves_at is not null;

-- A login address signs in. A proven one only trades, unless it was authorised or proven in a web
-- session. One address may be proven on one account and be the login of another.
create table wallets (
  account_id uuid not null references accounts (id),
  family text not null check (family in ('evm', 'tron', 'bitcoin', 'solana')),
  address text not null,
  standing text not null check (standing in ('login', 'proven')),
  authorised boolean not null default false,
  web boolean not null default false,
  -- Bitcoin: the compressed key, where the BIP-322 witness displayed it.
  pubkey text,
  proven_at timestamptz not null,
  -- A login wallet, or one proven in a wallet session, may not receive until then: a thief of an
  -- e-mail login or of a session could have added it. Null: it does not wait.
  waits_until timestamptz,
  -- A login wallet whose removal was asked for signs in, and is paid, until then.
  leaves_at timestamptz,
  -- EVM, TRON: it lent a lane of its own when it was last paid, and does so in the next swap.
  lends boolean not null default false,
  primary key (family, address, standing)
);
create index wallets_by_account on wallets (account_id);
create unique index one_login_a_family on wallets (account_id, family) where standing = 'login';
create index wallets_leaving on wallets (leaves_at) where leaves_at is not null;
create index wallets_waiting on wallets (waits_until) where waits_until is not null;

-- A login that is no wallet. `issuer` and `subject` name the person: an e-mail address in small
-- letters (issuer ''), a provider's issuer and its `sub`, a passkey's credential id (issuer '').
create table logins (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  way text not null check (way in ('email', 'provider', 'passkey')),
  issuer text not null,
  subject text not null,
  -- The person knows it by this.
  label text not null,
  -- Telegram: the bot may write there; null: it may not.
  chat_id text,
  -- The bot was blocked, or the chat is gone.
  chat_ended_at timestamptz,
  -- Passkeys: the COSE key, and the last report of the authenticator.
  public_key bytea,
  counter bigint,
  transports text[],
  -- The passkey can be, and is, on other devices too; the first never changes.
  backup_eligible boolean,
  backed_up boolean,
  added_at timestamptz not null,
  last_used_at timestamptz not null,
  -- A removal waits until then, as payouts do.
  leaves_at timestamptz,
  unique (way, issuer, subject)
);
create index logins_by_account on logins (account_id, added_at);
create index logins_leaving on logins (leaves_at) where leaves_at is not null;

-- The wallet of a family that is paid, newest last. An account without a row is paid at its login
-- wallet of the family. A row whose from_at has not come waits, and can be stopped.
create table payouts (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  family text not null check (family in ('evm', 'tron', 'bitcoin', 'solana')),
  address text not null,
  asked_at timestamptz not null,
  from_at timestamptz not null,
  stopped_at timestamptz,
  -- The person was told that the choice counts.
  told boolean not null default false
);
create index payouts_by_account on payouts (account_id, family, from_at desc);
create index payouts_waiting on payouts (from_at) where not told and stopped_at is null;

-- A person is reached there by a login that was removed, and hears on until `until`.
create table former_channels (
  account_id uuid not null references accounts (id),
  channel text not null check (channel in ('email', 'telegram')),
  told_to text not null,
  until timestamptz not null,
  primary key (account_id, channel, told_to)
);
create index former_channels_by_end on former_channels (until);

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  hash bytea not null unique check (octet_length(hash) = 32),
  prefix text not null,
  name text,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- The last use, to the day.
  used_on date,
  used_from text,
  reminded_at timestamptz,
  -- The maker of the key: a session, or `family:address`.
  made_by text
);
create index live_keys_by_account on api_keys (account_id) where revoked_at is null;
create index live_keys_by_expiry on api_keys (expires_at) where revoked_at is null;

create table sessions (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  -- SHA-256 of the token.
  hash bytea not null unique check (octet_length(hash) = 32),
  made_at timestamptz not null,
  -- To the minute or so; idle sessions end 30 days later.
  last_used_at timestamptz not null,
  -- The last sign-in of the person, and its method.
  signed_in_at timestamptz not null,
  signed_in_by text not null check (signed_in_by in ('email', 'provider', 'passkey', 'wallet')),
  wallet_family text,
  wallet_address text,
  -- The browser's name for itself, and the network of the first use.
  device text not null,
  place text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  -- The login that signed in; null: a wallet did.
  login_id uuid,
  check ((signed_in_by = 'wallet') = (wallet_address is not null))
);
create index live_sessions_by_account on sessions (account_id) where revoked_at is null;
-- Pruning finds ended sessions: at their end, when they were revoked, or idle.
create index sessions_by_expiry on sessions (expires_at);
create index sessions_by_revocation on sessions (revoked_at) where revoked_at is not null;
create index sessions_by_use on sessions (last_used_at);

-- Browsers that an account was signed in from, by the SHA-256 of a cookie of their own.
create table devices (
  account_id uuid not null references accounts (id),
  hash bytea not null check (octet_length(hash) = 32),
  seen_at timestamptz not null,
  primary key (account_id, hash)
);
create index devices_by_age on devices (seen_at);

create table nonces (
  nonce text primary key,
  pool text not null check (pool in ('mint', 'link', 'authorize')),
  expires_at timestamptz not null,
  used_at timestamptz,
  -- The account that asked for a link or authorize nonce: no other may use it. Null for a mint nonce.
  account_id uuid references accounts (id),
  -- The request under an Idempotency-Key that used the nonce: it alone may present it again, as
  -- long as it has no stored reply. Null for a request without one.
  used_by bytea
);
create index nonces_by_expiry on nonces (expires_at);

-- A sign-in that was begun and waits for its proof, in the browser that began it.
create table ceremonies (
  id uuid primary key,
  -- SHA-256 of that browser's cookie.
  browser bytea not null check (octet_length(browser) = 32),
  way text not null check (way in ('email', 'provider', 'passkey', 'wallet', 'payout')),
  purpose text not null check (purpose in ('sign-in', 'add', 'renew')),
  -- The session that adds a login or is renewed.
  session_id uuid references sessions (id) on delete cascade,
  -- E-mail: the hash of the address (one live code each); a provider: the hash of its `state`;
  -- a wallet: its nonce.
  subject text not null,
  facts jsonb not null,
  tries integer not null default 0,
  made_at timestamptz not null,
  expires_at timestamptz not null,
  -- It was used up, or another took its place.
  ended_at timestamptz
);
create index ceremonies_by_subject on ceremonies (way, subject, made_at);
create index ceremonies_by_expiry on ceremonies (expires_at);
create index ceremonies_by_session on ceremonies (session_id) where session_id is not null;

-- Assets, and tokens that are to be listed.

create table assets (
  id uuid primary key,
  chain text not null,
  symbol text not null,
  address text,
  decimals integer not null check (decimals between 0 and 36),
  verified boolean not null,
  source text not null,
  -- Amounts from here on want the chain's high-value depth.
  high_value_from numeric(78, 0),
  created_at timestamptz not null,
  -- The reasons for which it is closed, by their holder:
  -- { "settings" | "checks" | "chain" | "operator": { reasons: [], at } }.
  closings jsonb not null default '{}',
  -- For ever.
  delisted_at timestamptz,
  -- The settings named it among the curated assets at the last start.
  configured boolean not null default false,
  enabled boolean not null
    generated always as (closings = '{}'::jsonb and delisted_at is null) stored,
  state text not null generated always as (
    case when delisted_at is not null then 'delisted'
      when closings = '{}'::jsonb then 'open' else 'closed' end) stored,
  checked_at timestamptz,
  -- Null: never checked by itself, as curated ones.
  next_check_at timestamptz,
  unique nulls not distinct (chain, address)
);
create index assets_due on assets (next_check_at) where delisted_at is null;

-- Tokens that are to be listed and are not, or not yet.
create table candidates (
  id uuid primary key,
  chain text not null,
  address text not null,
  -- `api` or `launchpad:<name>`: the source of the asset that it becomes.
  source text not null,
  -- The account that asked first; null: a launchpad did.
  account_id uuid references accounts (id),
  -- `rejected` is for ever; `expired`: it waited as long as it may.
  status text not null check (status in ('pending', 'rejected', 'expired')),
  reasons jsonb not null default '[]',
  created_at timestamptz not null,
  checked_at timestamptz,
  -- A candidate in hand is due again when the process that took it must be dead.
  next_check_at timestamptz not null,
  gives_up_at timestamptz not null,
  unique (chain, address)
);
-- Candidates that an account asked for come before those of launchpads.
create index candidates_due on candidates ((source = 'api'), next_check_at)
  where status = 'pending';
create index candidates_by_account on candidates (account_id) where status = 'pending';
create index candidates_by_source on candidates (source) where status = 'pending';
create index candidates_expiring on candidates (gives_up_at) where status = 'pending';
create index candidates_old on candidates (gives_up_at) where status <> 'pending';
-- Operators read the newest first.
create index candidates_by_age on candidates (created_at desc, id);

-- How far each launchpad was read, and how much of it was taken.
create table launchpads (
  name text primary key,
  -- The source as configured: another one is read from its newest entry on.
  source text not null,
  -- Null: not read yet.
  height bigint,
  hash text,
  -- A launchpad in hand is due again when the process that took it must be dead.
  due_at timestamptz not null,
  -- The next two are counted in the hour from here.
  hour_at timestamptz not null,
  taken integer not null default 0,
  left_out integer not null default 0,
  check ((height is null) = (hash is null))
);

-- Signatures of its holders that a token takes, found by trying them: `{ permit, authorization }`,
-- each the token's EIP-712 domain or null. A question that a node could not answer leaves no row.
create table token_abilities (
  chain text not null,
  token text not null,
  abilities jsonb not null,
  found_at timestamptz not null,
  primary key (chain, token)
);

-- Chains on which no new trade begins until an operator resumes them. Each of their assets is held
-- closed by it too (closings.chain), those that are listed meanwhile from their first moment on.
create table halts (
  chain text primary key,
  reason text not null,
  at timestamptz not null
);

-- The market: requests for quote, negotiations, prices.

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
  updated_at timestamptz not null,
  -- The swap of an agreed RFQ was funded by neither side and is gone: the RFQ goes as one without.
  swap_pruned boolean not null default false,
  -- Settled swaps that an account must have to quote it; null: none.
  min_settled integer check (min_settled > 0),
  -- Settled swaps of its creator, as the standing was last counted.
  creator_settled integer not null default 0
);
-- The book, newest first; UUIDv7 ids sort by creation.
create index book on rfqs (id desc)
  where visibility = 'public' and status in ('open', 'negotiating');
-- A book of creators who have settled is read by this, however many others post.
create index book_of_settled on rfqs (id desc)
  where visibility = 'public' and status in ('open', 'negotiating') and creator_settled > 0;
create index live_rfqs_by_creator on rfqs (creator_id) where status in ('open', 'negotiating');
create index live_rfqs_by_expiry on rfqs (expires_at) where status in ('open', 'negotiating');
create index live_rfqs_by_target on rfqs (target_address, id desc)
  where status in ('open', 'negotiating') and target_address is not null;
-- The orders of an asset that closes or reopens are changed in pieces.
create index live_rfqs_by_base on rfqs (base_asset_id, id)
  where status in ('open', 'negotiating');
create index live_rfqs_by_quote on rfqs (quote_asset_id, id)
  where status in ('open', 'negotiating');
create index rfqs_agreed_by_pair on rfqs (base_asset_id, quote_asset_id, updated_at desc)
  where status = 'agreed' and visibility = 'public';
create index rfqs_ended on rfqs (expires_at)
  where status in ('cancelled', 'expired') or swap_pruned;

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
  -- The rules under which the standing acceptances of the price were given; null: none stands.
  accepted_rules jsonb,
  -- The price holds until then, where its proposer set an end; and its maker's withdrawal.
  quote_expires_at timestamptz,
  withdrawn_at timestamptz,
  unique (rfq_id, maker_id)
);
create index threads_by_activity on threads (rfq_id, updated_at desc, id desc);
create index threads_open_by_maker on threads (maker_id, id desc) where status = 'open';
create index threads_open_by_taker on threads (taker_id, id desc) where status = 'open';
create index threads_closed_by_maker on threads (maker_id, id desc) where status = 'closed';
create index threads_closed_by_taker on threads (taker_id, id desc) where status = 'closed';

-- Every hashlock ever offered, for ever: reusing one whose secret is public is theft. It outlives
-- the thread that it was offered on.
create table hashlocks (
  hashlock text primary key check (hashlock ~ '^[0-9a-f]{64}$'),
  account_id uuid not null references accounts (id),
  thread_id uuid references threads (id),
  created_at timestamptz not null
);
create index hashlocks_by_thread on hashlocks (thread_id) where thread_id is not null;

-- Indicative prices that makers publish. A level rests on its key or its session, and on a wallet
-- that gives what its maker would; without one of them it is not displayed.
create table levels (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  -- A pair is stored one way round, whichever of both its maker calls the base: smaller id first.
  low_asset_id uuid not null references assets (id),
  high_asset_id uuid not null references assets (id),
  base_is_low boolean not null,
  -- The taker gives the low asset.
  gives_low boolean not null,
  low_amount numeric not null check (low_amount > 0),
  high_amount numeric not null check (high_amount > 0),
  -- Of the base; null: its maker named none.
  least_amount numeric check (least_amount > 0),
  published_at timestamptz not null,
  expires_at timestamptz not null,
  -- The taker's price for what it gets: the smaller, the better. Two prices of amounts below 2^256
  -- differ by more than 1e-155, so their order is exact.
  rank numeric not null generated always as (
    case when gives_low then -div(high_amount * 1e155, low_amount)
    else div(high_amount * 1e155, low_amount) end) stored,
  -- Null: a session published it.
  key_id uuid references api_keys (id),
  -- The family of that wallet.
  given_family text,
  -- Null: a key published it. No reference: a session is dropped days after its end, and a level
  -- lasts an hour at most.
  session_id uuid,
  check (low_asset_id < high_asset_id)
);
create index levels_by_pair on levels (low_asset_id, high_asset_id, gives_low, rank, id);
create index levels_by_account on levels (account_id, low_asset_id, high_asset_id);
create index levels_by_end on levels (expires_at);

-- How accounts kept what they agreed to, in whole days that are over: displayed with RFQs and
-- threads.
create table standings (
  account_id uuid primary key references accounts (id),
  -- Unix seconds, the beginning of a UTC day: agreements before it are counted.
  counted_until bigint not null,
  counts jsonb not null
);

-- Swaps and their escrows.

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
  -- Time alone next changes something then (Unix seconds); null: only a chain event can.
  due_at bigint,
  -- Every escrow it ever had is empty at depth and nothing can follow.
  done boolean not null default false,
  -- Counts the changes, so that facts read before a change are never stored over it.
  revision bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The watchtower has taken it up; it is found by index until then.
  kept boolean not null default false,
  -- An expired swap that is never pruned is read once, and not in every pass.
  stays boolean not null default false,
  -- The rules it was agreed under, as packages/core/rules.ts has them.
  rules jsonb not null,
  -- The side that named the swap's last address too late for the other side to fund.
  named_late_by text check (named_late_by in ('maker', 'taker')),
  -- An amount of it is of high value.
  high_value boolean not null default false
);
create index swaps_by_maker on swaps (maker_id, id desc);
create index swaps_by_taker on swaps (taker_id, id desc);
create index swaps_due on swaps (due_at) where due_at is not null;
-- Open swaps are counted by status and value from this index alone.
create index swaps_not_done on swaps (status, high_value) where not done;
-- A request beyond a budget asks whether its account is a party of an open swap.
create index swaps_open_by_maker on swaps (maker_id) where not done and status <> 'expired';
create index swaps_open_by_taker on swaps (taker_id) where not done and status <> 'expired';
-- An account's rate limit and its record count its settled swaps by the time of agreement.
create index swaps_settled_by_maker on swaps (maker_id, agreed_at desc)
  where status = 'counterparty_claimed';
create index swaps_settled_by_taker on swaps (taker_id, agreed_at desc)
  where status = 'counterparty_claimed';
-- Swaps that an account may still have to fund, or abandoned: however many it has settled since,
-- each of them is found.
create index swaps_unsettled_by_maker on swaps (maker_id, agreed_at desc)
  where status in ('agreed', 'initiator_funded', 'counterparty_funded', 'expired', 'refunded');
create index swaps_unsettled_by_taker on swaps (taker_id, agreed_at desc)
  where status in ('agreed', 'initiator_funded', 'counterparty_funded', 'expired', 'refunded');
-- Parties are reminded of the deadlines of these.
create index swaps_to_fund_first on swaps (initiator_fund_by) where status = 'agreed';
create index swaps_to_fund_second on swaps (counterparty_fund_by)
  where status = 'initiator_funded';
create index swaps_to_reveal on swaps (reveal_by) where status = 'counterparty_funded';
create index swaps_to_keep on swaps (id) where secret is not null and not done and not kept;
-- Swaps with a public secret that one server has taken up, for those with keys of other chains.
create index swaps_revealed on swaps (id) where secret is not null and not done;
create index swaps_unfunded on swaps (expires_at)
  where done and status = 'expired' and not stays;

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
  -- Bitcoin: which side asks for an escrow of Taproot.
  payout_form text check (payout_form = 'p2tr'),
  refund_form text check (refund_form = 'p2tr'),
  -- EVM, TRON: the payee lends a lane of its own.
  own_lane boolean not null default false,
  -- The current escrow; null until both destinations are known.
  escrow text,
  -- packages/core/release.ts: the payee will not go on, and its signature for the funder.
  release_asked_at bigint,
  released_at bigint,
  release_signature text,
  -- A claim of it that shows the secret was first given or sent by the market then.
  shown_at timestamptz,
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
  -- EVM, TRON: the payee's signature for its lane.
  lane_signature text,
  -- A funding of it was first built then: no lane is chosen anew.
  built_at timestamptz,
  -- A funding of it was last handed to the chain then: its leg does not move for a while.
  sent_at timestamptz,
  -- The watchtower has taken it up.
  kept boolean not null default false,
  -- The text of an authorization for it was given, or a signature over one was seen, first. The leg
  -- does not move off until that signature can open nothing any more.
  authorized_at timestamptz,
  -- Its funding was first seen, and first at depth; null: not yet.
  funding_seen_at timestamptz,
  funding_deep_at timestamptz,
  primary key (chain, address)
);
create index escrows_by_swap on escrows (swap_id, leg);
create index escrows_followed on escrows (chain, created_xact, address) where not done;
create index escrows_to_refund on escrows (chain, ((terms ->> 'timelock')::bigint))
  where not done and not kept and facts ->> 'balance' <> '0';
-- Funders are reminded that these may be refunded.
create index escrows_refundable on escrows (chain, ((terms ->> 'timelock')::bigint))
  where not done and facts ->> 'balance' <> '0';

-- The lanes of each owner in a contract that holds all escrows of its chain. A row outlives its
-- swap: its counter only rises. A lane's state on the chain wins over it.
create table lanes (
  chain text not null,
  contract text not null,
  owner text not null,
  -- 24 hex digits: 16 of the account, 8 of the index.
  number text not null,
  -- Of the escrow that has the lane.
  counter integer not null check (counter between 1 and 1073741823),
  escrow text not null,
  primary key (chain, contract, owner, number)
);

-- A claim or refund of a Taproot escrow that both sides sign: the newest request of each, and its
-- answer.
create table cosignings (
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  verb text not null check (verb in ('claim', 'refund')),
  -- SHA-256 of the request.
  id text not null,
  -- { escrow, verb, outputs, feeSats, nonces }: public ones.
  request jsonb not null,
  asked_at timestamptz not null,
  -- { nonces, signatures }.
  answer jsonb,
  answered_at timestamptz,
  -- Requests so far.
  requests integer not null default 1,
  primary key (swap_id, leg, verb)
);

-- Claims and refunds that a party signed beforehand, at rising fees, one ladder of each an escrow;
-- sent when due.
create table scheduled_spends (
  chain text not null,
  escrow text not null,
  verb text not null check (verb in ('claim', 'refund')),
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  -- Lowest fee first: [{ txid, raw, feeSats, feeRateSatPerVbyte }]. They can only pay the party
  -- that signed them; a claim lacks its secret.
  rungs jsonb not null,
  -- Of the rungs, so that reading a swap reads no transactions.
  count integer not null,
  lowest_fee_rate double precision not null,
  highest_fee_rate double precision not null,
  -- Counts postings: a pass that read a former ladder writes nothing over a newer one.
  version integer not null default 1,
  -- The last of these that was sent; null: none yet.
  sent_txid text,
  -- The unconfirmed spend that was last seen or sent, of any sender: { txid, at, height }.
  tried jsonb,
  posted_at timestamptz not null,
  primary key (chain, escrow, verb)
);
-- A pruned swap finds its rows by this.
create index scheduled_spends_by_swap on scheduled_spends (swap_id);

-- Deadlines that a party was reminded of.
create table reminders (
  swap_id uuid not null references swaps (id) on delete cascade,
  account_id uuid not null,
  event text not null,
  -- The deadline that was told.
  deadline bigint not null,
  told_at timestamptz not null,
  primary key (swap_id, account_id, event)
);

-- The follower's last reading of each chain.
create table chain_heads (
  chain text primary key,
  height bigint not null,
  hash text not null,
  -- Unix seconds; Bitcoin: median time past.
  clock bigint not null,
  seen_at timestamptz not null,
  -- The blocks up to this height were read, and all that they told is stored.
  done_to bigint
);

-- Which server process follows each chain, and the swaps that time changes. One that is gone or
-- silent loses it to another.
create table leases (
  -- A chain's key, or `time`.
  name text primary key,
  -- The number of the process, by which its listening connection holds a lock.
  holder integer not null,
  -- Whether it held that lock at its last renewal: if it does so no more, it is gone.
  is_shown boolean not null,
  -- Counts the holders.
  turn bigint not null,
  ends_at timestamptz not null,
  -- When its work was last done to the end.
  done_at timestamptz not null
);

-- The watchtower: transactions that the operator's gas keys send for parties. They are claims once
-- a secret is public, claims and fundings that a party asked to have relayed, and refunds.

-- One for each escrow and verb, made once the need for it was found.
create table keeper_jobs (
  id bigint generated always as identity primary key,
  chain text not null,
  escrow text not null,
  verb text not null check (verb in ('claim', 'refund', 'fund')),
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  -- A `relay` has to land: its reserve is kept for it, outside the day's cap.
  purpose text not null check (purpose in ('relay', 'secret', 'refund', 'fund')),
  -- `done`: nothing is left to do; `dropped`: given up, a relay before its secret was public.
  state text not null check (state in ('open', 'done', 'dropped')),
  -- Base units of the native coin: the sum at hand for it, at fees that 99.9 % of times stay below;
  -- 0 until something is signed for it.
  reserve numeric(78, 0) not null default 0,
  -- A relay's secret until it is public; sealed by the server's keyring.
  secret bytea,
  secret_version integer,
  due_at timestamptz not null,
  -- Failures in a row, and the code of the last.
  failures integer not null default 0,
  last_failure text,
  created_at timestamptz not null,
  -- Of a funding: its funder's, which binds all of the terms and is good until `fundBefore`.
  signature text check ((signature is not null) = (verb = 'fund')),
  unique (chain, escrow, verb),
  foreign key (chain, escrow) references escrows (chain, address)
);
create index keeper_jobs_due on keeper_jobs (chain, (purpose = 'relay'), due_at)
  where state = 'open';
-- Jobs that wait for what is in flight.
create index keeper_jobs_busy on keeper_jobs (chain, due_at)
  where state = 'open' and last_failure = 'busy';
create index keeper_jobs_by_swap on keeper_jobs (swap_id);
create index keeper_jobs_sealed on keeper_jobs (id) where secret is not null;

-- Every transaction that a gas key has signed. Committed before its bytes are sent.
create table keeper_attempts (
  id bigint generated always as identity primary key,
  chain text not null,
  -- Of the key, to which nonces belong.
  address text not null,
  -- Null: it only takes a nonce that nothing else needs.
  job_id bigint references keeper_jobs (id),
  verb text not null check (verb in ('claim', 'refund', 'fund', 'void')),
  txid text not null,
  nonce bigint,
  -- The transaction as the adapter takes it, sealed; null once nothing will be sent of it.
  sealed bytea,
  sealed_version integer,
  offer numeric(78, 0) not null,
  most_cost numeric(78, 0) not null,
  -- Its part of the day's cap: what it may cost, then what it did.
  charged numeric(78, 0) not null,
  -- Unix seconds after which no block takes it.
  dies_at bigint,
  signed_at timestamptz not null,
  -- Set before its bytes may have left; null: no node can have it.
  sent_at timestamptz,
  fate text not null default 'unknown'
    check (fate in ('unknown', 'pending', 'mined', 'deep', 'failed', 'gone')),
  -- Others may know its content from then on, whatever nodes say of it later. Null: it has not
  -- left, or every node that was asked has refused it.
  shown_at timestamptz,
  -- The purpose of its job when it was signed; null: it has no job.
  purpose text check (purpose in ('relay', 'secret', 'refund', 'fund')),
  unique (chain, txid)
);
create index keeper_attempts_by_job on keeper_attempts (job_id, id);
create index keeper_attempts_live on keeper_attempts (chain, address, nonce)
  where fate in ('unknown', 'pending', 'mined');
create index keeper_attempts_by_age on keeper_attempts (chain, signed_at);
create index keeper_attempts_sealed on keeper_attempts (id) where sealed is not null;
-- The highest nonce that a key has signed, without reading all that it ever did.
create index keeper_attempts_by_nonce on keeper_attempts (chain, address, nonce);

-- One transaction of a gas key is in flight on a chain with nonces: a process that signs has the
-- chain's row by a lease.
create table keeper_turns (
  chain text primary key,
  holder uuid,
  until timestamptz not null,
  -- A relay was last refused then for a transaction in flight.
  wanted_at timestamptz,
  -- Nodes count a transaction of the key that no row has, since then; and were asked last.
  unknown_since timestamptz,
  unknown_seen timestamptz
);

-- Requests of a server without gas keys to a watchtower in a process of its own, and its answers.
create table keeper_asked (
  id uuid primary key,
  verb text not null check (verb in ('claim', 'fund')),
  account_id uuid not null,
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  -- Its secret, or the funder's signature and its escrow, sealed; null once it is answered.
  sealed bytea,
  sealed_version integer,
  asked_at timestamptz not null,
  -- Null: it waits. As JSON: the transaction's id, or the code, sentence and facts of a refusal.
  answer jsonb
);
create index keeper_asked_waiting on keeper_asked (asked_at) where answer is null;

-- The address that a watchtower sends from on each chain, said again as long as it runs.
create table keeper_posts (
  chain text primary key,
  address text not null,
  seen_at timestamptz not null
);

-- Events, the feed and webhooks.

-- Written in the transaction of the effect; read by the feed and the webhook delivery.
create table outbox (
  id bigint generated always as identity primary key,
  topic text not null,
  -- The account that the event is for; null: every maker on the feed.
  account_id uuid,
  payload jsonb not null,
  created_at timestamptz not null
);
create index outbox_feed on outbox (id) where account_id is null;
-- Webhooks take these; the feed's rows stay where they are.
create index outbox_webhooks on outbox (id) where account_id is not null and topic <> 'key.created';
-- Events for people, as apps/market/db/messages.ts names them.
create index outbox_people on outbox (id) where topic in (
  'key.created', 'key.revoked', 'key.expiring', 'login.added', 'login.removed', 'session.created',
  'payout.changing', 'payout.changed', 'payout.stopped', 'account.deleted', 'swap.reminder',
  'chat.ended');

-- The log of the maker feed, in an order that all processes share.
create table feed_log (
  -- Ascends in the order of commits, because one process at a time appends; some numbers are left
  -- out.
  seq bigint generated always as identity primary key,
  -- `reset`: every listener begins anew.
  kind text not null check (kind in ('created', 'cancelled', 'gone', 'reset')),
  rfq_id uuid not null,
  creator_id uuid not null,
  -- Null: public; otherwise only accounts that hold it get it.
  target_address text,
  -- The RFQ as JSON, exactly as it is sent; of `gone` the reason.
  body text not null,
  at timestamptz not null,
  -- Sockets get it as `seq`: it counts the entries that are for everybody. A private one has the
  -- number of the last public one before it, so that numbers say nothing of strangers.
  number bigint not null
);
create unique index feed_log_numbers on feed_log (number) where target_address is null;

-- The appending process holds a lock, so each run sees all that was appended. A log without entries
-- goes on behind every number there was: none of them is greater than `seq`.
create function feed_log_number() returns trigger language plpgsql as $$
begin
  select feed_log.number into new.number from feed_log order by seq desc limit 1;
  new.number := coalesce(new.number, new.seq - 1)
    + case when new.target_address is null then 1 else 0 end;
  return new;
end $$;
create trigger feed_log_number before insert on feed_log
  for each row execute function feed_log_number();

-- The log of a new market has an entry to go on from.
insert into feed_log (kind, rfq_id, creator_id, body, at)
  values ('reset', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
    '', now());

-- Accounts that ask for events of their negotiations on the feed, by name.
create table feed_subscriptions (
  account_id uuid primary key references accounts (id),
  -- Of its newest event: each has the next one.
  number bigint not null default 0,
  -- The last time that a socket asked for it, by the name of the event.
  asked jsonb not null
);

create table feed_events (
  -- Ascends in the order of commits: one process at a time appends. No socket gets it.
  seq bigint generated always as identity primary key,
  account_id uuid not null references accounts (id),
  number bigint not null,
  topic text not null,
  payload jsonb not null,
  at timestamptz not null,
  unique (account_id, number)
);

-- A feed ticket stands for a session in the first frame of a socket, once, for 30 s.
create table feed_tickets (
  hash bytea primary key check (octet_length(hash) = 32),
  session_id uuid not null references sessions (id) on delete cascade,
  expires_at timestamptz not null
);
create index feed_tickets_by_expiry on feed_tickets (expires_at);
create index feed_tickets_by_session on feed_tickets (session_id, expires_at);

-- Server processes with connections of the next table. All instants of both are of the database's
-- own clock.
create table feed_processes (
  id uuid primary key,
  seen_at timestamptz not null
);

-- Connections of makers whose quotes are withdrawn once they are gone for a while.
create table feed_switches (
  -- Of the connection.
  id uuid primary key,
  account_id uuid not null references accounts (id),
  process_id uuid not null references feed_processes (id),
  grace_seconds integer not null check (grace_seconds between 5 and 60),
  -- The end of its grace; null while it is there. While it is `fired`, the next try.
  due_at timestamptz,
  -- The grace of all the account's connections is over: its quotes are being withdrawn.
  fired boolean not null default false
);
create index feed_switches_by_account on feed_switches (account_id);
create index feed_switches_by_process on feed_switches (process_id);

create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  url text not null,
  -- Event names; empty: all of them, those of later versions too.
  events text[] not null,
  -- Of the signatures; encrypted by the server's own key of this version.
  secret bytea not null,
  secret_version integer not null,
  enabled boolean not null default true,
  created_at timestamptz not null,
  -- HTTP status of the last attempt; 0: no answer, and why.
  last_status integer,
  last_error text,
  last_delivery_at timestamptz,
  -- Deliveries that wait, a bounded number, and the length of the last attempt: slow receivers wait
  -- among themselves.
  waiting integer not null default 0,
  last_milliseconds integer,
  -- No delivery begins before it; a begun one is tried again at its times.
  held_until timestamptz,
  -- The first failure since the last 2xx.
  failing_since timestamptz,
  -- An operator holds it off: no ping of its owner switches it on again.
  off_for text,
  -- It has answered 2xx at least once.
  answered boolean not null default false
);
create index webhooks_account on webhooks (account_id, id);
create index webhooks_failing on webhooks (failing_since)
  where enabled and failing_since is not null;

-- A host that webhooks name, over all accounts.
create table webhook_hosts (
  -- A name or an address.
  host text primary key,
  -- It has answered a delivery 2xx at least once.
  answered boolean not null default false,
  -- Deliveries begun since then; the window is a minute long.
  window_at timestamptz not null,
  sent integer not null
);
create index webhook_hosts_window on webhook_hosts (window_at);

create table deliveries (
  -- The deliveryId that receivers see.
  id uuid primary key,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event text not null,
  -- The swap or thread that it is about: a later delivery of one subject waits for the first
  -- attempt of an earlier one.
  subject uuid,
  -- Order within a subject: that of the effects.
  position bigint not null,
  -- Exactly the bytes that are signed and sent. Null: type and id, then what its event's row of
  -- delivery_bodies says.
  body text,
  attempts integer not null default 0,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dropped')),
  -- A waiting delivery begins no earlier. One in hand is not due until the process that took it
  -- must be dead.
  next_at timestamptz not null,
  created_at timestamptz not null,
  done_at timestamptz,
  -- True while an earlier delivery of the same webhook and subject has not had its first attempt.
  behind boolean not null default false
);
create index deliveries_ready on deliveries (webhook_id, next_at, position)
  where state = 'waiting' and not behind;
create index deliveries_again on deliveries (webhook_id, next_at)
  where state = 'waiting' and not behind and attempts > 0;
create index deliveries_untried on deliveries (webhook_id, subject, position)
  where state = 'waiting' and attempts = 0;
create index deliveries_done on deliveries (done_at) where state <> 'waiting';
-- Deliveries that used up their attempts.
create index deliveries_dropped on deliveries (webhook_id, done_at) where state = 'dropped';
-- The owner of a webhook reads its log, the newest first.
create index deliveries_log on deliveries (webhook_id, created_at, id);
create index deliveries_of_event on deliveries (position) where body is null;

-- One of each event, for all webhooks of its account.
create table delivery_bodies (
  -- The `position` of its deliveries.
  id bigint primary key,
  -- Behind type and id of the delivery.
  rest text not null
);
-- It goes with the last of its deliveries, whatever deletes that. One transaction at a time, so that
-- the last is seen as it, and two that delete of the same events in another order do not wait for
-- each other.
create function delivery_bodies_unused() returns trigger language plpgsql as $$
begin
  if exists (select from gone where body is null) then
    perform pg_advisory_xact_lock(hashtext('bodies of deliveries'));
    delete from delivery_bodies b where id in (select position from gone where body is null)
      and not exists (select from deliveries where position = b.id and body is null);
  end if;
  return null;
end $$;
create trigger delivery_bodies_unused after delete on deliveries
  referencing old table as gone for each statement execute function delivery_bodies_unused();

create table delivery_attempts (
  delivery_id uuid not null references deliveries (id) on delete cascade,
  attempt integer not null,
  at timestamptz not null,
  milliseconds integer not null,
  -- 0: no answer, and why.
  status integer not null,
  error text,
  -- How the body of the answer begins, as text.
  answer text,
  primary key (delivery_id, attempt)
);

-- Requests, and work that waits.

create table idempotency (
  account_id uuid not null,
  -- Method, path and Idempotency-Key of the request, hashed.
  key text not null,
  body_hash bytea not null,
  -- A request that still runs has no row: it holds an advisory lock.
  status integer not null,
  reply bytea not null,
  -- Version of the key that encrypted `reply`; null: not encrypted.
  key_version integer,
  created_at timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_by_age on idempotency (created_at);

-- The replies that are stored under the Idempotency-Keys of an account in a day: refusals by
-- number, replies of success by bytes, each with its row.
create table kept_replies (
  account_id uuid not null,
  -- Of UTC.
  day date not null,
  refusals integer not null,
  bytes bigint not null default 0,
  primary key (account_id, day)
);
create index kept_replies_by_day on kept_replies (day);

-- Work that waits for any process: messages to people, signed claims and refunds.
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

-- Operators, and time that is missing.

-- Deeds of operators, each in the transaction of its effect. Rows are only added: the role that
-- runs the commands may not change them, and the owner of the table must drop the trigger first.
-- They are kept for ever: a few rows a day.
create table operator_actions (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  operator text not null,
  os_user text not null,
  host text not null,
  command text not null,
  arguments jsonb not null,
  outcome text not null check (outcome in ('done', 'unchanged', 'refused')),
  facts jsonb not null
);

create function operator_actions_stand() returns trigger language plpgsql as $$
begin
  raise exception 'operator_actions is only added to: % is refused', lower(tg_op);
end $$;
create trigger operator_actions_stand before update or delete or truncate on operator_actions
  for each statement execute function operator_actions_stand();

-- The history of the cluster that this is: another one after a recovery to a point in time, a
-- failover or a dump that was loaded. Null where this user may not know.
create function database_lineage() returns text language plpgsql as $$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
exception when others then
  return null;
end $$;

-- One row, written every few seconds by every server process.
create table heartbeat (
  one boolean primary key default true check (one),
  -- Ascends; jumps where time was missing.
  beat bigint not null,
  -- By the servers' clocks, which a dev network moves, and by the database's.
  at timestamptz not null,
  beaten_at timestamptz not null,
  lineage text
);

-- One row: the server key under which the process that started last seals values.
create table server_key (
  one boolean primary key default true check (one),
  digest text not null
);

-- Times that are missing: a backup was restored, or no process served.
create table gaps (
  id bigint generated always as identity primary key,
  why text not null check (why in ('silence', 'went_back', 'lineage')),
  began_at timestamptz not null,
  ended_at timestamptz not null,
  -- Agreements wait for an operator.
  holds boolean not null default false
);

-- Rows that are dropped with age leave dead entries at the left end of an index, and each batch
-- walks over all of them: 2,600 pages where a fifth of ten million rows may be dead. 3 % is the
-- least at which vacuum cleans indexes too: it leaves them alone while fewer than 2 % of the pages
-- have dead rows.
alter table rfqs set (autovacuum_vacuum_scale_factor = 0.03);
alter table threads set (autovacuum_vacuum_scale_factor = 0.03);
alter table outbox set (autovacuum_vacuum_scale_factor = 0.03);
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.03);
alter table delivery_attempts set (autovacuum_vacuum_scale_factor = 0.03);
alter table idempotency set (autovacuum_vacuum_scale_factor = 0.03);
