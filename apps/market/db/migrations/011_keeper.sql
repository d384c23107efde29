-- What the operator's gas keys send for parties that have not: claims once a secret is public,
-- claims that a party asked to have relayed, and refunds.

-- One for each escrow and verb, made once the need for it was found.
create table keeper_jobs (
  id bigint generated always as identity primary key,
  chain text not null,
  escrow text not null,
  verb text not null check (verb in ('claim', 'refund')),
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  -- Whom it pays: no account may use up more than its share of a day.
  account_id uuid not null,
  -- A `relay` has to land: its reserve is kept for it, outside the day's cap.
  purpose text not null check (purpose in ('relay', 'secret', 'refund')),
  -- `done`: nothing is left to do; `dropped`: given up, a relay before its secret was public.
  state text not null check (state in ('open', 'done', 'dropped')),
  -- Base units of the native coin: what is at hand for it at fees that 99.9 % of times stay below;
  -- 0 until something is signed for it.
  reserve numeric(78, 0) not null default 0,
  -- A relay's secret until it is public; sealed by server/keyring.ts.
  secret bytea,
  secret_version integer,
  due_at timestamptz not null,
  -- Failures in a row, and the code of the last.
  failures integer not null default 0,
  last_failure text,
  created_at timestamptz not null,
  unique (chain, escrow, verb),
  foreign key (chain, escrow) references escrows (chain, address)
);
create index keeper_jobs_due on keeper_jobs (chain, (purpose = 'relay'), due_at)
  where state = 'open';

-- Every transaction that a gas key has signed. Committed before its bytes are sent.
create table keeper_attempts (
  id bigint generated always as identity primary key,
  chain text not null,
  -- Of the key, to which nonces belong.
  address text not null,
  -- Null: only takes a nonce that nothing else needs.
  job_id bigint references keeper_jobs (id),
  verb text not null check (verb in ('claim', 'refund', 'void')),
  txid text not null,
  nonce bigint,
  -- The transaction as the adapter takes it, sealed; null once nothing will be sent of it.
  sealed bytea,
  sealed_version integer,
  offer numeric(78, 0) not null,
  most_cost numeric(78, 0) not null,
  -- What of it counts against the day: what it may cost, then what it did.
  charged numeric(78, 0) not null,
  -- Unix seconds after which no block takes it.
  dies_at bigint,
  signed_at timestamptz not null,
  -- Set before its bytes may have left; null: no node can have it.
  sent_at timestamptz,
  fate text not null default 'unknown'
    check (fate in ('unknown', 'pending', 'mined', 'deep', 'failed', 'gone')),
  unique (chain, txid)
);
create index keeper_attempts_by_job on keeper_attempts (job_id, id);
create index keeper_attempts_live on keeper_attempts (chain, address, nonce)
  where fate in ('unknown', 'pending', 'mined');
create index keeper_attempts_by_age on keeper_attempts (chain, signed_at);
create index keeper_attempts_sealed on keeper_attempts (id) where sealed is not null;
create index keeper_jobs_sealed on keeper_jobs (id) where secret is not null;

-- Who signs on a chain now: one at a time, whichever process.
create table keeper_turns (
  chain text primary key,
  holder uuid,
  -- Whether it signs a relay, which takes the turn from anything else.
  relays boolean not null default false,
  until timestamptz not null
);

-- Whether the keeper has taken it up; found by index until then.
alter table swaps add column kept boolean not null default false;
create index swaps_to_keep on swaps (id) where secret is not null and not done and not kept;
alter table escrows add column kept boolean not null default false;
create index escrows_to_refund on escrows (chain, ((terms ->> 'timelock')::bigint))
  where not done and not kept and facts ->> 'balance' <> '0';
