-- Accounts of people: logins beside wallets, sessions in the browser, what is told to them, and
-- which wallet of each family is paid.

-- Deleted: the row stays for the swaps that name it; nothing of it is personal.
alter table accounts add column deleted_at timestamptz;
-- What passkeys know the account by: random, made with the first of them.
alter table accounts add column passkey_user bytea;

-- A login that is no wallet. `issuer` and `subject` name the person: an e-mail address in small
-- letters (issuer ''), a provider's issuer and its `sub`, a passkey's credential id (issuer '').
create table logins (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  way text not null check (way in ('email', 'provider', 'passkey')),
  issuer text not null,
  subject text not null,
  -- What the person knows it by.
  label text not null,
  -- Telegram: where the bot may write; null = it may not.
  chat_id text,
  -- The bot was blocked, or the chat is gone.
  chat_ended_at timestamptz,
  -- Passkeys: the COSE key and what the authenticator told last.
  public_key bytea,
  counter bigint,
  transports text[],
  -- It can be, and is, on other devices too; the first never changes.
  backup_eligible boolean,
  backed_up boolean,
  added_at timestamptz not null,
  last_used_at timestamptz not null,
  unique (way, issuer, subject)
);
create index logins_by_account on logins (account_id, added_at);

-- Until when a login wallet, or one proven in a wallet session, may not receive: somebody who has
-- only stolen an e-mail login or a session could have added it. Null = it does not wait.
alter table wallets add column waits_until timestamptz;

-- Which wallet of a family is paid, newest last; none = the login wallet of the family. One whose
-- from_at has not come waits, and can be stopped.
create table payouts (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  family text not null check (family in ('evm', 'tron', 'bitcoin', 'solana')),
  address text not null,
  asked_at timestamptz not null,
  from_at timestamptz not null,
  stopped_at timestamptz
);
create index payouts_by_account on payouts (account_id, family, from_at desc);

create table sessions (
  id uuid primary key,
  account_id uuid not null references accounts (id),
  -- SHA-256 of the token.
  hash bytea not null unique check (octet_length(hash) = 32),
  made_at timestamptz not null,
  -- To the minute or so; idle sessions end 30 days later.
  last_used_at timestamptz not null,
  -- When, and by what, its person last signed in.
  signed_in_at timestamptz not null,
  signed_in_by text not null check (signed_in_by in ('email', 'provider', 'passkey', 'wallet')),
  wallet_family text,
  wallet_address text,
  -- What the browser says it is, and the network of the first use.
  device text not null,
  place text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  check ((signed_in_by = 'wallet') = (wallet_address is not null))
);
create index live_sessions_by_account on sessions (account_id) where revoked_at is null;
-- What has ended is found for pruning: at its end, when it was revoked, or idle.
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
  -- Used up, or another took its place.
  ended_at timestamptz
);
create index ceremonies_by_subject on ceremonies (way, subject, made_at);
create index ceremonies_by_expiry on ceremonies (expires_at);
create index ceremonies_by_session on ceremonies (session_id) where session_id is not null;

-- A feed ticket: stands for a session in the first frame of a socket, once, for 30 s.
create table feed_tickets (
  hash bytea primary key check (octet_length(hash) = 32),
  session_id uuid not null references sessions (id) on delete cascade,
  expires_at timestamptz not null
);
create index feed_tickets_by_expiry on feed_tickets (expires_at);
create index feed_tickets_by_session on feed_tickets (session_id, expires_at);

-- Last use of keys, to the day.
alter table api_keys add column used_on date;
alter table api_keys add column used_from text;
alter table api_keys add column reminded_at timestamptz;
create index live_keys_by_expiry on api_keys (expires_at) where revoked_at is null;

-- What is told to people, one row a channel; sent at least once.
create table messages (
  id uuid primary key,
  -- Null = a code, which belongs to nobody yet.
  account_id uuid references accounts (id),
  channel text not null check (channel in ('email', 'telegram')),
  -- Of the login that it goes to; null = a code.
  login_id uuid,
  event text not null,
  -- Address and facts, encrypted by the server's keyring; empty once it was sent or dropped.
  sealed bytea not null,
  key_version integer not null,
  state text not null check (state in ('waiting', 'sent', 'dropped')),
  -- Begun: one that a process died in counts.
  attempts integer not null default 0,
  -- When it is due; of one in hand, until when nobody else takes it.
  next_at timestamptz not null,
  made_at timestamptz not null,
  done_at timestamptz,
  error text
);
create index messages_due on messages (channel, next_at) where state = 'waiting';
create index codes_due on messages (channel, next_at)
  where state = 'waiting' and account_id is null;
create index messages_waiting on messages (account_id) where state = 'waiting';
create index messages_by_account on messages (account_id, made_at desc);
create index messages_done on messages (done_at) where state <> 'waiting';

-- Events for people, as apps/market/db/messages.ts names them.
create index outbox_people on outbox (id) where topic in (
  'key.created', 'key.revoked', 'key.expiring', 'login.added', 'login.removed', 'session.created',
  'payout.changing', 'payout.changed', 'payout.stopped', 'account.deleted', 'swap.reminder',
  'chat.ended');

-- Swaps that wait for a deadline of one side, and escrows that may be refunded: who is reminded.
create index swaps_to_fund_first on swaps (initiator_fund_by) where status = 'agreed';
create index swaps_to_fund_second on swaps (counterparty_fund_by)
  where status = 'initiator_funded';
create index swaps_to_reveal on swaps (reveal_by) where status = 'counterparty_funded';
create index escrows_refundable on escrows (chain, ((terms ->> 'timelock')::bigint))
  where not done and facts ->> 'balance' <> '0';

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
