create sequence feed_events_seq_seq as bigint increment 1;

create sequence feed_log_seq_seq as bigint increment 1;

create sequence gaps_id_seq as bigint increment 1;

create sequence keeper_attempts_id_seq as bigint increment 1;

create sequence keeper_jobs_id_seq as bigint increment 1;

create sequence operator_actions_id_seq as bigint increment 1;

create sequence outbox_id_seq as bigint increment 1;

create table accounts (
  id uuid not null,
  kind text not null,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  passkey_user bytea,
  first_wallet_at timestamp with time zone,
  blocked_at timestamp with time zone,
  blocked_for text,
  leaves_at timestamp with time zone,
  constraint accounts_blocked_check CHECK (((blocked_at IS NULL) = (blocked_for IS NULL))),
  constraint accounts_kind_check CHECK ((kind = ANY (ARRAY['wallet'::text, 'browser'::text]))),
  constraint accounts_pkey PRIMARY KEY (id)
);

create table api_keys (
  id uuid not null,
  account_id uuid not null,
  hash bytea not null,
  prefix text not null,
  name text,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  used_on date,
  used_from text,
  reminded_at timestamp with time zone,
  made_by text,
  constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint api_keys_hash_check CHECK ((octet_length(hash) = 32)),
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_pkey PRIMARY KEY (id)
);

create table assets (
  id uuid not null,
  chain text not null,
  symbol text not null,
  address text,
  decimals integer not null,
  verified boolean not null,
  source text not null,
  high_value_from numeric(78,0),
  created_at timestamp with time zone not null,
  closings jsonb default '{}'::jsonb not null,
  delisted_at timestamp with time zone,
  configured boolean default false not null,
  enabled boolean generated always as (((closings = '{}'::jsonb) AND (delisted_at IS NULL))) stored not null,
  state text generated always as (
CASE
    WHEN (delisted_at IS NOT NULL) THEN 'delisted'::text
    WHEN (closings = '{}'::jsonb) THEN 'open'::text
    ELSE 'closed'::text
END) stored not null,
  checked_at timestamp with time zone,
  next_check_at timestamp with time zone,
  constraint assets_chain_address_key UNIQUE NULLS NOT DISTINCT (chain, address),
  constraint assets_decimals_check CHECK (((decimals >= 0) AND (decimals <= 36))),
  constraint assets_pkey PRIMARY KEY (id)
);

create table candidates (
  id uuid not null,
  chain text not null,
  address text not null,
  source text not null,
  account_id uuid,
  status text not null,
  reasons jsonb default '[]'::jsonb not null,
  created_at timestamp with time zone not null,
  checked_at timestamp with time zone,
  next_check_at timestamp with time zone not null,
  gives_up_at timestamp with time zone not null,
  constraint candidates_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint candidates_chain_address_key UNIQUE (chain, address),
  constraint candidates_pkey PRIMARY KEY (id),
  constraint candidates_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'rejected'::text, 'expired'::text])))
);

create table ceremonies (
  id uuid not null,
  browser bytea not null,
  way text not null,
  purpose text not null,
  session_id uuid,
  subject text not null,
  facts jsonb not null,
  tries integer default 0 not null,
  made_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint ceremonies_browser_check CHECK ((octet_length(browser) = 32)),
  constraint ceremonies_pkey PRIMARY KEY (id),
  constraint ceremonies_purpose_check CHECK ((purpose = ANY (ARRAY['sign-in'::text, 'add'::text, 'renew'::text]))),
  constraint ceremonies_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
  constraint ceremonies_way_check CHECK ((way = ANY (ARRAY['email'::text, 'provider'::text, 'passkey'::text, 'wallet'::text, 'payout'::text])))
);

create table chain_heads (
  chain text not null,
  height bigint not null,
  hash text not null,
  clock bigint not null,
  seen_at timestamp with time zone not null,
  done_to bigint,
  constraint chain_heads_pkey PRIMARY KEY (chain)
);

create table cosignings (
  swap_id uuid not null,
  leg text not null,
  verb text not null,
  id text not null,
  request jsonb not null,
  asked_at timestamp with time zone not null,
  answer jsonb,
  answered_at timestamp with time zone,
  requests integer default 1 not null,
  constraint cosignings_leg_check CHECK ((leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint cosignings_pkey PRIMARY KEY (swap_id, leg, verb),
  constraint cosignings_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id),
  constraint cosignings_verb_check CHECK ((verb = ANY (ARRAY['claim'::text, 'refund'::text])))
);

create table deliveries (
  id uuid not null,
  webhook_id uuid not null,
  event text not null,
  subject uuid,
  "position" bigint not null,
  body text,
  attempts integer default 0 not null,
  state text default 'waiting'::text not null,
  next_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  done_at timestamp with time zone,
  behind boolean default false not null,
  constraint deliveries_pkey PRIMARY KEY (id),
  constraint deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'dropped'::text]))),
  constraint deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

create table delivery_attempts (
  delivery_id uuid not null,
  attempt integer not null,
  at timestamp with time zone not null,
  milliseconds integer not null,
  status integer not null,
  error text,
  answer text,
  constraint delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES deliveries(id) ON DELETE CASCADE,
  constraint delivery_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

create table delivery_bodies (
  id bigint not null,
  rest text not null,
  constraint delivery_bodies_pkey PRIMARY KEY (id)
);

create table devices (
  account_id uuid not null,
  hash bytea not null,
  seen_at timestamp with time zone not null,
  constraint devices_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint devices_hash_check CHECK ((octet_length(hash) = 32)),
  constraint devices_pkey PRIMARY KEY (account_id, hash)
);

create table escrows (
  chain text not null,
  address text not null,
  swap_id uuid not null,
  leg text not null,
  terms jsonb not null,
  redeem_script text,
  facts jsonb not null,
  created_at timestamp with time zone not null,
  created_xact xid8 default pg_current_xact_id() not null,
  done boolean default false not null,
  lane_signature text,
  built_at timestamp with time zone,
  sent_at timestamp with time zone,
  kept boolean default false not null,
  authorized_at timestamp with time zone,
  funding_seen_at timestamp with time zone,
  funding_deep_at timestamp with time zone,
  constraint escrows_leg_check CHECK ((leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint escrows_pkey PRIMARY KEY (chain, address),
  constraint escrows_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id)
);

create table feed_events (
  seq bigint generated always as identity not null,
  account_id uuid not null,
  number bigint not null,
  topic text not null,
  payload jsonb not null,
  at timestamp with time zone not null,
  constraint feed_events_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint feed_events_account_id_number_key UNIQUE (account_id, number),
  constraint feed_events_pkey PRIMARY KEY (seq)
);

create table feed_log (
  seq bigint generated always as identity not null,
  kind text not null,
  rfq_id uuid not null,
  creator_id uuid not null,
  target_address text,
  body text not null,
  at timestamp with time zone not null,
  number bigint not null,
  constraint feed_log_kind_check CHECK ((kind = ANY (ARRAY['created'::text, 'cancelled'::text, 'gone'::text, 'reset'::text]))),
  constraint feed_log_pkey PRIMARY KEY (seq)
);

create table feed_processes (
  id uuid not null,
  seen_at timestamp with time zone not null,
  constraint feed_processes_pkey PRIMARY KEY (id)
);

create table feed_subscriptions (
  account_id uuid not null,
  number bigint default 0 not null,
  asked jsonb not null,
  constraint feed_subscriptions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint feed_subscriptions_pkey PRIMARY KEY (account_id)
);

create table feed_switches (
  id uuid not null,
  account_id uuid not null,
  process_id uuid not null,
  grace_seconds integer not null,
  due_at timestamp with time zone,
  fired boolean default false not null,
  constraint feed_switches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint feed_switches_grace_seconds_check CHECK (((grace_seconds >= 5) AND (grace_seconds <= 60))),
  constraint feed_switches_pkey PRIMARY KEY (id),
  constraint feed_switches_process_id_fkey FOREIGN KEY (process_id) REFERENCES feed_processes(id)
);

create table feed_tickets (
  hash bytea not null,
  session_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint feed_tickets_hash_check CHECK ((octet_length(hash) = 32)),
  constraint feed_tickets_pkey PRIMARY KEY (hash),
  constraint feed_tickets_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
);

create table former_channels (
  account_id uuid not null,
  channel text not null,
  told_to text not null,
  until timestamp with time zone not null,
  constraint former_channels_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint former_channels_channel_check CHECK ((channel = ANY (ARRAY['email'::text, 'telegram'::text]))),
  constraint former_channels_pkey PRIMARY KEY (account_id, channel, told_to)
);

create table gaps (
  id bigint generated always as identity not null,
  why text not null,
  began_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  holds boolean default false not null,
  constraint gaps_pkey PRIMARY KEY (id),
  constraint gaps_why_check CHECK ((why = ANY (ARRAY['silence'::text, 'went_back'::text, 'lineage'::text])))
);

create table halts (
  chain text not null,
  reason text not null,
  at timestamp with time zone not null,
  constraint halts_pkey PRIMARY KEY (chain)
);

create table hashlocks (
  hashlock text not null,
  account_id uuid not null,
  thread_id uuid,
  created_at timestamp with time zone not null,
  constraint hashlocks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint hashlocks_hashlock_check CHECK ((hashlock ~ '^[0-9a-f]{64}$'::text)),
  constraint hashlocks_pkey PRIMARY KEY (hashlock),
  constraint hashlocks_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(id)
);

create table heartbeat (
  one boolean default true not null,
  beat bigint not null,
  at timestamp with time zone not null,
  beaten_at timestamp with time zone not null,
  lineage text,
  constraint heartbeat_one_check CHECK (one),
  constraint heartbeat_pkey PRIMARY KEY (one)
);

create table idempotency (
  account_id uuid not null,
  key text not null,
  body_hash bytea not null,
  status integer not null,
  reply bytea not null,
  key_version integer,
  created_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (account_id, key)
);

create table jobs (
  id text not null,
  kind text not null,
  account_id uuid,
  about jsonb not null,
  sealed bytea,
  key_version integer,
  due_at timestamp with time zone not null,
  attempts integer default 0 not null,
  made_at timestamp with time zone not null,
  failure text,
  gave_up_at timestamp with time zone,
  constraint jobs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint jobs_check CHECK (((sealed IS NULL) = (key_version IS NULL))),
  constraint jobs_pkey PRIMARY KEY (id)
);

create table keeper_asked (
  id uuid not null,
  verb text not null,
  account_id uuid not null,
  swap_id uuid not null,
  leg text not null,
  sealed bytea,
  sealed_version integer,
  asked_at timestamp with time zone not null,
  answer jsonb,
  constraint keeper_asked_leg_check CHECK ((leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint keeper_asked_pkey PRIMARY KEY (id),
  constraint keeper_asked_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id),
  constraint keeper_asked_verb_check CHECK ((verb = ANY (ARRAY['claim'::text, 'fund'::text])))
);

create table keeper_attempts (
  id bigint generated always as identity not null,
  chain text not null,
  address text not null,
  job_id bigint,
  verb text not null,
  txid text not null,
  nonce bigint,
  sealed bytea,
  sealed_version integer,
  offer numeric(78,0) not null,
  most_cost numeric(78,0) not null,
  charged numeric(78,0) not null,
  dies_at bigint,
  signed_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  fate text default 'unknown'::text not null,
  shown_at timestamp with time zone,
  purpose text,
  constraint keeper_attempts_chain_txid_key UNIQUE (chain, txid),
  constraint keeper_attempts_fate_check CHECK ((fate = ANY (ARRAY['unknown'::text, 'pending'::text, 'mined'::text, 'deep'::text, 'failed'::text, 'gone'::text]))),
  constraint keeper_attempts_job_id_fkey FOREIGN KEY (job_id) REFERENCES keeper_jobs(id),
  constraint keeper_attempts_pkey PRIMARY KEY (id),
  constraint keeper_attempts_purpose_check CHECK ((purpose = ANY (ARRAY['relay'::text, 'secret'::text, 'refund'::text, 'fund'::text]))),
  constraint keeper_attempts_verb_check CHECK ((verb = ANY (ARRAY['claim'::text, 'refund'::text, 'fund'::text, 'void'::text])))
);

create table keeper_jobs (
  id bigint generated always as identity not null,
  chain text not null,
  escrow text not null,
  verb text not null,
  swap_id uuid not null,
  leg text not null,
  purpose text not null,
  state text not null,
  reserve numeric(78,0) default 0 not null,
  secret bytea,
  secret_version integer,
  due_at timestamp with time zone not null,
  failures integer default 0 not null,
  last_failure text,
  created_at timestamp with time zone not null,
  signature text,
  constraint keeper_jobs_chain_escrow_fkey FOREIGN KEY (chain, escrow) REFERENCES escrows(chain, address),
  constraint keeper_jobs_chain_escrow_verb_key UNIQUE (chain, escrow, verb),
  constraint keeper_jobs_check CHECK (((signature IS NOT NULL) = (verb = 'fund'::text))),
  constraint keeper_jobs_leg_check CHECK ((leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint keeper_jobs_pkey PRIMARY KEY (id),
  constraint keeper_jobs_purpose_check CHECK ((purpose = ANY (ARRAY['relay'::text, 'secret'::text, 'refund'::text, 'fund'::text]))),
  constraint keeper_jobs_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'dropped'::text]))),
  constraint keeper_jobs_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id),
  constraint keeper_jobs_verb_check CHECK ((verb = ANY (ARRAY['claim'::text, 'refund'::text, 'fund'::text])))
);

create table keeper_posts (
  chain text not null,
  address text not null,
  seen_at timestamp with time zone not null,
  constraint keeper_posts_pkey PRIMARY KEY (chain)
);

create table keeper_turns (
  chain text not null,
  holder uuid,
  until timestamp with time zone not null,
  wanted_at timestamp with time zone,
  unknown_since timestamp with time zone,
  unknown_seen timestamp with time zone,
  constraint keeper_turns_pkey PRIMARY KEY (chain)
);

create table kept_replies (
  account_id uuid not null,
  day date not null,
  refusals integer not null,
  bytes bigint default 0 not null,
  constraint kept_replies_pkey PRIMARY KEY (account_id, day)
);

create table lanes (
  chain text not null,
  contract text not null,
  owner text not null,
  number text not null,
  counter integer not null,
  escrow text not null,
  constraint lanes_counter_check CHECK (((counter >= 1) AND (counter <= 1073741823))),
  constraint lanes_pkey PRIMARY KEY (chain, contract, owner, number)
);

create table launchpads (
  name text not null,
  source text not null,
  height bigint,
  hash text,
  due_at timestamp with time zone not null,
  hour_at timestamp with time zone not null,
  taken integer default 0 not null,
  left_out integer default 0 not null,
  constraint launchpads_check CHECK (((height IS NULL) = (hash IS NULL))),
  constraint launchpads_pkey PRIMARY KEY (name)
);

create table leases (
  name text not null,
  holder integer not null,
  is_shown boolean not null,
  turn bigint not null,
  ends_at timestamp with time zone not null,
  done_at timestamp with time zone not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table legs (
  swap_id uuid not null,
  leg text not null,
  chain text not null,
  family text not null,
  asset_id uuid not null,
  token text,
  amount numeric(78,0) not null,
  timelock bigint not null,
  required_confirmations integer not null,
  payout_address text,
  payout_pubkey text,
  refund_address text,
  refund_pubkey text,
  payout_form text,
  refund_form text,
  own_lane boolean default false not null,
  escrow text,
  release_asked_at bigint,
  released_at bigint,
  release_signature text,
  shown_at timestamp with time zone,
  constraint legs_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id),
  constraint legs_family_check CHECK ((family = ANY (ARRAY['evm'::text, 'tron'::text, 'bitcoin'::text, 'solana'::text]))),
  constraint legs_leg_check CHECK ((leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint legs_payout_form_check CHECK ((payout_form = 'p2tr'::text)),
  constraint legs_pkey PRIMARY KEY (swap_id, leg),
  constraint legs_refund_form_check CHECK ((refund_form = 'p2tr'::text)),
  constraint legs_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id)
);

create table levels (
  id uuid not null,
  account_id uuid not null,
  low_asset_id uuid not null,
  high_asset_id uuid not null,
  base_is_low boolean not null,
  gives_low boolean not null,
  low_amount numeric not null,
  high_amount numeric not null,
  least_amount numeric,
  published_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  rank numeric generated always as (
CASE
    WHEN gives_low THEN (- div((high_amount * '100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric), low_amount))
    ELSE div((high_amount * '100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric), low_amount)
END) stored not null,
  key_id uuid,
  given_family text,
  session_id uuid,
  constraint levels_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint levels_check CHECK ((low_asset_id < high_asset_id)),
  constraint levels_high_amount_check CHECK ((high_amount > (0)::numeric)),
  constraint levels_high_asset_id_fkey FOREIGN KEY (high_asset_id) REFERENCES assets(id),
  constraint levels_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint levels_least_amount_check CHECK ((least_amount > (0)::numeric)),
  constraint levels_low_amount_check CHECK ((low_amount > (0)::numeric)),
  constraint levels_low_asset_id_fkey FOREIGN KEY (low_asset_id) REFERENCES assets(id),
  constraint levels_pkey PRIMARY KEY (id)
);

create table logins (
  id uuid not null,
  account_id uuid not null,
  way text not null,
  issuer text not null,
  subject text not null,
  label text not null,
  chat_id text,
  chat_ended_at timestamp with time zone,
  public_key bytea,
  counter bigint,
  transports text[],
  backup_eligible boolean,
  backed_up boolean,
  added_at timestamp with time zone not null,
  last_used_at timestamp with time zone not null,
  leaves_at timestamp with time zone,
  constraint logins_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint logins_pkey PRIMARY KEY (id),
  constraint logins_way_check CHECK ((way = ANY (ARRAY['email'::text, 'provider'::text, 'passkey'::text]))),
  constraint logins_way_issuer_subject_key UNIQUE (way, issuer, subject)
);

create table migrations (
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone default now() not null,
  version text,
  compatible_from text,
  constraint migrations_pkey PRIMARY KEY (name)
);

create table nonces (
  nonce text not null,
  pool text not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  account_id uuid,
  used_by bytea,
  constraint nonces_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint nonces_pkey PRIMARY KEY (nonce),
  constraint nonces_pool_check CHECK ((pool = ANY (ARRAY['mint'::text, 'link'::text, 'authorize'::text])))
);

create table operator_actions (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  operator text not null,
  os_user text not null,
  host text not null,
  command text not null,
  arguments jsonb not null,
  outcome text not null,
  facts jsonb not null,
  constraint operator_actions_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'unchanged'::text, 'refused'::text]))),
  constraint operator_actions_pkey PRIMARY KEY (id)
);

create table outbox (
  id bigint generated always as identity not null,
  topic text not null,
  account_id uuid,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  constraint outbox_pkey PRIMARY KEY (id)
);

create table payouts (
  id uuid not null,
  account_id uuid not null,
  family text not null,
  address text not null,
  asked_at timestamp with time zone not null,
  from_at timestamp with time zone not null,
  stopped_at timestamp with time zone,
  told boolean default false not null,
  constraint payouts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint payouts_family_check CHECK ((family = ANY (ARRAY['evm'::text, 'tron'::text, 'bitcoin'::text, 'solana'::text]))),
  constraint payouts_pkey PRIMARY KEY (id)
);

create table reminders (
  swap_id uuid not null,
  account_id uuid not null,
  event text not null,
  deadline bigint not null,
  told_at timestamp with time zone not null,
  constraint reminders_pkey PRIMARY KEY (swap_id, account_id, event),
  constraint reminders_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id) ON DELETE CASCADE
);

create table rfqs (
  id uuid not null,
  creator_id uuid not null,
  direction text not null,
  base_asset_id uuid not null,
  base_amount numeric(78,0) not null,
  quote_asset_id uuid not null,
  visibility text not null,
  ask_amount numeric(78,0),
  target_address text,
  status text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  swap_pruned boolean default false not null,
  min_settled integer,
  creator_settled integer default 0 not null,
  constraint rfqs_base_asset_id_fkey FOREIGN KEY (base_asset_id) REFERENCES assets(id),
  constraint rfqs_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES accounts(id),
  constraint rfqs_direction_check CHECK ((direction = ANY (ARRAY['sell_base'::text, 'buy_base'::text]))),
  constraint rfqs_min_settled_check CHECK ((min_settled > 0)),
  constraint rfqs_pkey PRIMARY KEY (id),
  constraint rfqs_quote_asset_id_fkey FOREIGN KEY (quote_asset_id) REFERENCES assets(id),
  constraint rfqs_status_check CHECK ((status = ANY (ARRAY['open'::text, 'negotiating'::text, 'agreed'::text, 'cancelled'::text, 'expired'::text]))),
  constraint rfqs_visibility_check CHECK ((visibility = ANY (ARRAY['public'::text, 'private'::text])))
);

create table scheduled_spends (
  chain text not null,
  escrow text not null,
  verb text not null,
  swap_id uuid not null,
  leg text not null,
  rungs jsonb not null,
  count integer not null,
  lowest_fee_rate double precision not null,
  highest_fee_rate double precision not null,
  version integer default 1 not null,
  sent_txid text,
  tried jsonb,
  posted_at timestamp with time zone not null,
  constraint scheduled_spends_leg_check CHECK ((leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint scheduled_spends_pkey PRIMARY KEY (chain, escrow, verb),
  constraint scheduled_spends_swap_id_fkey FOREIGN KEY (swap_id) REFERENCES swaps(id),
  constraint scheduled_spends_verb_check CHECK ((verb = ANY (ARRAY['claim'::text, 'refund'::text])))
);

create table server_key (
  one boolean default true not null,
  digest text not null,
  constraint server_key_one_check CHECK (one),
  constraint server_key_pkey PRIMARY KEY (one)
);

create table sessions (
  id uuid not null,
  account_id uuid not null,
  hash bytea not null,
  made_at timestamp with time zone not null,
  last_used_at timestamp with time zone not null,
  signed_in_at timestamp with time zone not null,
  signed_in_by text not null,
  wallet_family text,
  wallet_address text,
  device text not null,
  place text not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  login_id uuid,
  constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint sessions_check CHECK (((signed_in_by = 'wallet'::text) = (wallet_address IS NOT NULL))),
  constraint sessions_hash_check CHECK ((octet_length(hash) = 32)),
  constraint sessions_hash_key UNIQUE (hash),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_signed_in_by_check CHECK ((signed_in_by = ANY (ARRAY['email'::text, 'provider'::text, 'passkey'::text, 'wallet'::text])))
);

create table standings (
  account_id uuid not null,
  counted_until bigint not null,
  counts jsonb not null,
  constraint standings_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint standings_pkey PRIMARY KEY (account_id)
);

create table swaps (
  id uuid not null,
  thread_id uuid not null,
  rfq_id uuid not null,
  hashlock text not null,
  maker_id uuid not null,
  taker_id uuid not null,
  long_leg text not null,
  status text not null,
  secret text,
  lapsed boolean default false not null,
  agreed_at bigint not null,
  initiator_fund_by bigint not null,
  expires_at bigint not null,
  counterparty_fund_by bigint not null,
  reveal_by bigint not null,
  due_at bigint,
  done boolean default false not null,
  revision bigint default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  kept boolean default false not null,
  stays boolean default false not null,
  rules jsonb not null,
  named_late_by text,
  high_value boolean default false not null,
  constraint swaps_hashlock_fkey FOREIGN KEY (hashlock) REFERENCES hashlocks(hashlock),
  constraint swaps_hashlock_key UNIQUE (hashlock),
  constraint swaps_long_leg_check CHECK ((long_leg = ANY (ARRAY['a'::text, 'b'::text]))),
  constraint swaps_maker_id_fkey FOREIGN KEY (maker_id) REFERENCES accounts(id),
  constraint swaps_named_late_by_check CHECK ((named_late_by = ANY (ARRAY['maker'::text, 'taker'::text]))),
  constraint swaps_pkey PRIMARY KEY (id),
  constraint swaps_rfq_id_fkey FOREIGN KEY (rfq_id) REFERENCES rfqs(id),
  constraint swaps_rfq_id_key UNIQUE (rfq_id),
  constraint swaps_taker_id_fkey FOREIGN KEY (taker_id) REFERENCES accounts(id),
  constraint swaps_thread_id_fkey FOREIGN KEY (thread_id) REFERENCES threads(id),
  constraint swaps_thread_id_key UNIQUE (thread_id)
);

create table threads (
  id uuid not null,
  rfq_id uuid not null,
  maker_id uuid not null,
  taker_id uuid not null,
  status text not null,
  quote_amount numeric(78,0) not null,
  proposed_by text not null,
  maker_accepted_at timestamp with time zone,
  taker_accepted_at timestamp with time zone,
  hashlock text,
  messages jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  accepted_rules jsonb,
  quote_expires_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  constraint threads_pkey PRIMARY KEY (id),
  constraint threads_proposed_by_check CHECK ((proposed_by = ANY (ARRAY['maker'::text, 'taker'::text]))),
  constraint threads_rfq_id_fkey FOREIGN KEY (rfq_id) REFERENCES rfqs(id),
  constraint threads_rfq_id_maker_id_key UNIQUE (rfq_id, maker_id),
  constraint threads_status_check CHECK ((status = ANY (ARRAY['open'::text, 'agreed'::text, 'closed'::text])))
);

create table token_abilities (
  chain text not null,
  token text not null,
  abilities jsonb not null,
  found_at timestamp with time zone not null,
  constraint token_abilities_pkey PRIMARY KEY (chain, token)
);

create table wallets (
  account_id uuid not null,
  family text not null,
  address text not null,
  standing text not null,
  authorised boolean default false not null,
  web boolean default false not null,
  pubkey text,
  proven_at timestamp with time zone not null,
  waits_until timestamp with time zone,
  leaves_at timestamp with time zone,
  lends boolean default false not null,
  constraint wallets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint wallets_family_check CHECK ((family = ANY (ARRAY['evm'::text, 'tron'::text, 'bitcoin'::text, 'solana'::text]))),
  constraint wallets_pkey PRIMARY KEY (family, address, standing),
  constraint wallets_standing_check CHECK ((standing = ANY (ARRAY['login'::text, 'proven'::text])))
);

create table webhook_hosts (
  host text not null,
  answered boolean default false not null,
  window_at timestamp with time zone not null,
  sent integer not null,
  constraint webhook_hosts_pkey PRIMARY KEY (host)
);

create table webhooks (
  id uuid not null,
  account_id uuid not null,
  url text not null,
  events text[] not null,
  secret bytea not null,
  secret_version integer not null,
  enabled boolean default true not null,
  created_at timestamp with time zone not null,
  last_status integer,
  last_error text,
  last_delivery_at timestamp with time zone,
  waiting integer default 0 not null,
  last_milliseconds integer,
  held_until timestamp with time zone,
  failing_since timestamp with time zone,
  off_for text,
  answered boolean default false not null,
  constraint webhooks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint webhooks_pkey PRIMARY KEY (id)
);

alter table deliveries set (autovacuum_vacuum_scale_factor=0.03);

alter table delivery_attempts set (autovacuum_vacuum_scale_factor=0.03);

alter table idempotency set (autovacuum_vacuum_scale_factor=0.03);

alter table outbox set (autovacuum_vacuum_scale_factor=0.03);

alter table rfqs set (autovacuum_vacuum_scale_factor=0.03);

alter table threads set (autovacuum_vacuum_scale_factor=0.03);

CREATE INDEX accounts_blocked ON public.accounts USING btree (blocked_at) WHERE (blocked_at IS NOT NULL);

CREATE INDEX accounts_leaving ON public.accounts USING btree (leaves_at) WHERE (leaves_at IS NOT NULL);

CREATE INDEX assets_due ON public.assets USING btree (next_check_at) WHERE (delisted_at IS NULL);

CREATE INDEX book ON public.rfqs USING btree (id DESC) WHERE ((visibility = 'public'::text) AND (status = ANY (ARRAY['open'::text, 'negotiating'::text])));

CREATE INDEX book_of_settled ON public.rfqs USING btree (id DESC) WHERE ((visibility = 'public'::text) AND (status = ANY (ARRAY['open'::text, 'negotiating'::text])) AND (creator_settled > 0));

CREATE INDEX candidates_by_account ON public.candidates USING btree (account_id) WHERE (status = 'pending'::text);

CREATE INDEX candidates_by_age ON public.candidates USING btree (created_at DESC, id);

CREATE INDEX candidates_by_source ON public.candidates USING btree (source) WHERE (status = 'pending'::text);

CREATE INDEX candidates_due ON public.candidates USING btree (((source = 'api'::text)), next_check_at) WHERE (status = 'pending'::text);

CREATE INDEX candidates_expiring ON public.candidates USING btree (gives_up_at) WHERE (status = 'pending'::text);

CREATE INDEX candidates_old ON public.candidates USING btree (gives_up_at) WHERE (status <> 'pending'::text);

CREATE INDEX ceremonies_by_expiry ON public.ceremonies USING btree (expires_at);

CREATE INDEX ceremonies_by_session ON public.ceremonies USING btree (session_id) WHERE (session_id IS NOT NULL);

CREATE INDEX ceremonies_by_subject ON public.ceremonies USING btree (way, subject, made_at);

CREATE INDEX deliveries_again ON public.deliveries USING btree (webhook_id, next_at) WHERE ((state = 'waiting'::text) AND (NOT behind) AND (attempts > 0));

CREATE INDEX deliveries_done ON public.deliveries USING btree (done_at) WHERE (state <> 'waiting'::text);

CREATE INDEX deliveries_dropped ON public.deliveries USING btree (webhook_id, done_at) WHERE (state = 'dropped'::text);

CREATE INDEX deliveries_log ON public.deliveries USING btree (webhook_id, created_at, id);

CREATE INDEX deliveries_of_event ON public.deliveries USING btree ("position") WHERE (body IS NULL);

CREATE INDEX deliveries_ready ON public.deliveries USING btree (webhook_id, next_at, "position") WHERE ((state = 'waiting'::text) AND (NOT behind));

CREATE INDEX deliveries_untried ON public.deliveries USING btree (webhook_id, subject, "position") WHERE ((state = 'waiting'::text) AND (attempts = 0));

CREATE INDEX devices_by_age ON public.devices USING btree (seen_at);

CREATE INDEX escrows_by_swap ON public.escrows USING btree (swap_id, leg);

CREATE INDEX escrows_followed ON public.escrows USING btree (chain, created_xact, address) WHERE (NOT done);

CREATE INDEX escrows_refundable ON public.escrows USING btree (chain, (((terms ->> 'timelock'::text))::bigint)) WHERE ((NOT done) AND ((facts ->> 'balance'::text) <> '0'::text));

CREATE INDEX escrows_to_refund ON public.escrows USING btree (chain, (((terms ->> 'timelock'::text))::bigint)) WHERE ((NOT done) AND (NOT kept) AND ((facts ->> 'balance'::text) <> '0'::text));

CREATE UNIQUE INDEX feed_log_numbers ON public.feed_log USING btree (number) WHERE (target_address IS NULL);

CREATE INDEX feed_switches_by_account ON public.feed_switches USING btree (account_id);

CREATE INDEX feed_switches_by_process ON public.feed_switches USING btree (process_id);

CREATE INDEX feed_tickets_by_expiry ON public.feed_tickets USING btree (expires_at);

CREATE INDEX feed_tickets_by_session ON public.feed_tickets USING btree (session_id, expires_at);

CREATE INDEX former_channels_by_end ON public.former_channels USING btree (until);

CREATE INDEX hashlocks_by_thread ON public.hashlocks USING btree (thread_id) WHERE (thread_id IS NOT NULL);

CREATE INDEX idempotency_by_age ON public.idempotency USING btree (created_at);

CREATE INDEX jobs_due ON public.jobs USING btree (kind, due_at) WHERE (gave_up_at IS NULL);

CREATE INDEX jobs_given_up ON public.jobs USING btree (gave_up_at) WHERE (gave_up_at IS NOT NULL);

CREATE INDEX jobs_of_accounts ON public.jobs USING btree (account_id, kind);

CREATE INDEX keeper_asked_waiting ON public.keeper_asked USING btree (asked_at) WHERE (answer IS NULL);

CREATE INDEX keeper_attempts_by_age ON public.keeper_attempts USING btree (chain, signed_at);

CREATE INDEX keeper_attempts_by_job ON public.keeper_attempts USING btree (job_id, id);

CREATE INDEX keeper_attempts_by_nonce ON public.keeper_attempts USING btree (chain, address, nonce);

CREATE INDEX keeper_attempts_live ON public.keeper_attempts USING btree (chain, address, nonce) WHERE (fate = ANY (ARRAY['unknown'::text, 'pending'::text, 'mined'::text]));

CREATE INDEX keeper_attempts_sealed ON public.keeper_attempts USING btree (id) WHERE (sealed IS NOT NULL);

CREATE INDEX keeper_jobs_busy ON public.keeper_jobs USING btree (chain, due_at) WHERE ((state = 'open'::text) AND (last_failure = 'busy'::text));

CREATE INDEX keeper_jobs_by_swap ON public.keeper_jobs USING btree (swap_id);

CREATE INDEX keeper_jobs_due ON public.keeper_jobs USING btree (chain, ((purpose = 'relay'::text)), due_at) WHERE (state = 'open'::text);

CREATE INDEX keeper_jobs_sealed ON public.keeper_jobs USING btree (id) WHERE (secret IS NOT NULL);

CREATE INDEX kept_replies_by_day ON public.kept_replies USING btree (day);

CREATE INDEX levels_by_account ON public.levels USING btree (account_id, low_asset_id, high_asset_id);

CREATE INDEX levels_by_end ON public.levels USING btree (expires_at);

CREATE INDEX levels_by_pair ON public.levels USING btree (low_asset_id, high_asset_id, gives_low, rank, id);

CREATE INDEX live_keys_by_account ON public.api_keys USING btree (account_id) WHERE (revoked_at IS NULL);

CREATE INDEX live_keys_by_expiry ON public.api_keys USING btree (expires_at) WHERE (revoked_at IS NULL);

CREATE INDEX live_rfqs_by_base ON public.rfqs USING btree (base_asset_id, id) WHERE (status = ANY (ARRAY['open'::text, 'negotiating'::text]));

CREATE INDEX live_rfqs_by_creator ON public.rfqs USING btree (creator_id) WHERE (status = ANY (ARRAY['open'::text, 'negotiating'::text]));

CREATE INDEX live_rfqs_by_expiry ON public.rfqs USING btree (expires_at) WHERE (status = ANY (ARRAY['open'::text, 'negotiating'::text]));

CREATE INDEX live_rfqs_by_quote ON public.rfqs USING btree (quote_asset_id, id) WHERE (status = ANY (ARRAY['open'::text, 'negotiating'::text]));

CREATE INDEX live_rfqs_by_target ON public.rfqs USING btree (target_address, id DESC) WHERE ((status = ANY (ARRAY['open'::text, 'negotiating'::text])) AND (target_address IS NOT NULL));

CREATE INDEX live_sessions_by_account ON public.sessions USING btree (account_id) WHERE (revoked_at IS NULL);

CREATE INDEX logins_by_account ON public.logins USING btree (account_id, added_at);

CREATE INDEX logins_leaving ON public.logins USING btree (leaves_at) WHERE (leaves_at IS NOT NULL);

CREATE INDEX nonces_by_expiry ON public.nonces USING btree (expires_at);

CREATE UNIQUE INDEX one_login_a_family ON public.wallets USING btree (account_id, family) WHERE (standing = 'login'::text);

CREATE INDEX outbox_feed ON public.outbox USING btree (id) WHERE (account_id IS NULL);

CREATE INDEX outbox_people ON public.outbox USING btree (id) WHERE (topic = ANY (ARRAY['key.created'::text, 'key.revoked'::text, 'key.expiring'::text, 'login.added'::text, 'login.removed'::text, 'session.created'::text, 'payout.changing'::text, 'payout.changed'::text, 'payout.stopped'::text, 'account.deleted'::text, 'swap.reminder'::text, 'chat.ended'::text]));

CREATE INDEX outbox_webhooks ON public.outbox USING btree (id) WHERE ((account_id IS NOT NULL) AND (topic <> 'key.created'::text));

CREATE INDEX payouts_by_account ON public.payouts USING btree (account_id, family, from_at DESC);

CREATE INDEX payouts_waiting ON public.payouts USING btree (from_at) WHERE ((NOT told) AND (stopped_at IS NULL));

CREATE INDEX rfqs_agreed_by_pair ON public.rfqs USING btree (base_asset_id, quote_asset_id, updated_at DESC) WHERE ((status = 'agreed'::text) AND (visibility = 'public'::text));

CREATE INDEX rfqs_ended ON public.rfqs USING btree (expires_at) WHERE ((status = ANY (ARRAY['cancelled'::text, 'expired'::text])) OR swap_pruned);

CREATE INDEX scheduled_spends_by_swap ON public.scheduled_spends USING btree (swap_id);

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_by_revocation ON public.sessions USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);

CREATE INDEX sessions_by_use ON public.sessions USING btree (last_used_at);

CREATE INDEX swaps_by_maker ON public.swaps USING btree (maker_id, id DESC);

CREATE INDEX swaps_by_taker ON public.swaps USING btree (taker_id, id DESC);

CREATE INDEX swaps_due ON public.swaps USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX swaps_not_done ON public.swaps USING btree (status, high_value) WHERE (NOT done);

CREATE INDEX swaps_open_by_maker ON public.swaps USING btree (maker_id) WHERE ((NOT done) AND (status <> 'expired'::text));

CREATE INDEX swaps_open_by_taker ON public.swaps USING btree (taker_id) WHERE ((NOT done) AND (status <> 'expired'::text));

CREATE INDEX swaps_revealed ON public.swaps USING btree (id) WHERE ((secret IS NOT NULL) AND (NOT done));

CREATE INDEX swaps_settled_by_maker ON public.swaps USING btree (maker_id, agreed_at DESC) WHERE (status = 'counterparty_claimed'::text);

CREATE INDEX swaps_settled_by_taker ON public.swaps USING btree (taker_id, agreed_at DESC) WHERE (status = 'counterparty_claimed'::text);

CREATE INDEX swaps_to_fund_first ON public.swaps USING btree (initiator_fund_by) WHERE (status = 'agreed'::text);

CREATE INDEX swaps_to_fund_second ON public.swaps USING btree (counterparty_fund_by) WHERE (status = 'initiator_funded'::text);

CREATE INDEX swaps_to_keep ON public.swaps USING btree (id) WHERE ((secret IS NOT NULL) AND (NOT done) AND (NOT kept));

CREATE INDEX swaps_to_reveal ON public.swaps USING btree (reveal_by) WHERE (status = 'counterparty_funded'::text);

CREATE INDEX swaps_unfunded ON public.swaps USING btree (expires_at) WHERE (done AND (status = 'expired'::text) AND (NOT stays));

CREATE INDEX swaps_unsettled_by_maker ON public.swaps USING btree (maker_id, agreed_at DESC) WHERE (status = ANY (ARRAY['agreed'::text, 'initiator_funded'::text, 'counterparty_funded'::text, 'expired'::text, 'refunded'::text]));

CREATE INDEX swaps_unsettled_by_taker ON public.swaps USING btree (taker_id, agreed_at DESC) WHERE (status = ANY (ARRAY['agreed'::text, 'initiator_funded'::text, 'counterparty_funded'::text, 'expired'::text, 'refunded'::text]));

CREATE INDEX threads_by_activity ON public.threads USING btree (rfq_id, updated_at DESC, id DESC);

CREATE INDEX threads_closed_by_maker ON public.threads USING btree (maker_id, id DESC) WHERE (status = 'closed'::text);

CREATE INDEX threads_closed_by_taker ON public.threads USING btree (taker_id, id DESC) WHERE (status = 'closed'::text);

CREATE INDEX threads_open_by_maker ON public.threads USING btree (maker_id, id DESC) WHERE (status = 'open'::text);

CREATE INDEX threads_open_by_taker ON public.threads USING btree (taker_id, id DESC) WHERE (status = 'open'::text);

CREATE INDEX wallets_by_account ON public.wallets USING btree (account_id);

CREATE INDEX wallets_leaving ON public.wallets USING btree (leaves_at) WHERE (leaves_at IS NOT NULL);

CREATE INDEX wallets_waiting ON public.wallets USING btree (waits_until) WHERE (waits_until IS NOT NULL);

CREATE INDEX webhook_hosts_window ON public.webhook_hosts USING btree (window_at);

CREATE INDEX webhooks_account ON public.webhooks USING btree (account_id, id);

CREATE INDEX webhooks_failing ON public.webhooks USING btree (failing_since) WHERE (enabled AND (failing_since IS NOT NULL));

CREATE OR REPLACE FUNCTION public.database_lineage()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
exception when others then
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.delivery_bodies_unused()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from gone where body is null) then
    perform pg_advisory_xact_lock(hashtext('bodies of deliveries'));
    delete from delivery_bodies b where id in (select position from gone where body is null)
      and not exists (select from deliveries where position = b.id and body is null);
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.feed_log_number()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  select feed_log.number into new.number from feed_log order by seq desc limit 1;
  new.number := coalesce(new.number, new.seq - 1)
    + case when new.target_address is null then 1 else 0 end;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.operator_actions_stand()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'operator_actions is only added to: % is refused', lower(tg_op);
end $function$
;

CREATE TRIGGER delivery_bodies_unused AFTER DELETE ON public.deliveries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delivery_bodies_unused();

CREATE TRIGGER feed_log_number BEFORE INSERT ON public.feed_log FOR EACH ROW EXECUTE FUNCTION feed_log_number();

CREATE TRIGGER operator_actions_stand BEFORE DELETE OR UPDATE OR TRUNCATE ON public.operator_actions FOR EACH STATEMENT EXECUTE FUNCTION operator_actions_stand();
