-- One transaction of a gas key is in flight on a chain with nonces: whoever signs has the row of
-- its chain in `keeper_turns` by a lease, and no queue is written down.
--
-- Servers of the version before may go on beside those of this one: both take `holder` and `until`
-- of the same row. `relays`, `relays_wait`, `others_wait`, `kind` and `keeper_waiters` are for them
-- alone.

alter table keeper_turns
  -- When a relay was last refused for what is in flight.
  add column wanted_at timestamptz,
  -- Since when nodes count a transaction of the key that no row has, and when that was asked last.
  add column unknown_since timestamptz,
  add column unknown_seen timestamptz;

-- What waits for what is in flight.
create index keeper_jobs_busy on keeper_jobs (chain, due_at)
  where state = 'open' and last_failure = 'busy';

-- What a server without gas keys asks a watchtower in a process of its own to send, and its answer.
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

-- What a watchtower sends for others on each chain, said again as long as it runs.
create table keeper_posts (
  chain text primary key,
  address text not null,
  funds boolean not null,
  seen_at timestamptz not null
);
