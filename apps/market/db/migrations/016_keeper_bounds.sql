-- What relays take in a day, and whose turn to sign is next.

-- When it was taken on as a relay: what it takes counts against that day.
alter table keeper_jobs add column relayed_at timestamptz;
update keeper_jobs set relayed_at = created_at where purpose = 'relay';
-- How often it was, that day: given up, it can be asked for again.
alter table keeper_jobs add column relays integer not null default 1;
-- Solana: whether it pays for the receiver's token account.
alter table keeper_jobs add column makes_account boolean not null default false;
-- Whatever was promised before may need one made.
update keeper_jobs set makes_account = true where purpose = 'relay' and state = 'open';
create index keeper_jobs_relayed on keeper_jobs (chain, relayed_at) where relayed_at is not null;
-- What its job was for when it was signed: of which bound it takes, whatever the job is for later.
-- Null: it has no job.
alter table keeper_attempts add column purpose text
  check (purpose in ('relay', 'secret', 'refund'));
update keeper_attempts a set purpose = j.purpose from keeper_jobs j where j.id = a.job_id;

-- Until when somebody waits who signs a relay, and somebody who signs anything else.
alter table keeper_turns add column relays_wait timestamptz;
alter table keeper_turns add column others_wait timestamptz;

-- Swaps with a public secret that one server has taken up, for those with keys of other chains.
create index swaps_revealed on swaps (id) where secret is not null and not done;
