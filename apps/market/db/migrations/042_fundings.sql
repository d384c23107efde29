-- Fundings that their funder signed and the keeper sends, claims and refunds that it sends together,
-- and the rent that a claimed escrow on Solana leaves.
alter table keeper_jobs
  drop constraint keeper_jobs_verb_check,
  drop constraint keeper_jobs_purpose_check,
  add constraint keeper_jobs_verb_check check (verb in ('claim', 'refund', 'fund')),
  add constraint keeper_jobs_purpose_check
    check (purpose in ('relay', 'secret', 'refund', 'fund', 'close')),
  -- Of a funding: its funder's, which binds all of the terms and is good until `fundBefore`.
  add column signature text check (signature is not null = (verb = 'fund')),
  -- It was in a batch that failed, on chain or when it was tried: it is in none again.
  add column alone boolean not null default false;
alter table keeper_attempts
  drop constraint keeper_attempts_verb_check,
  drop constraint keeper_attempts_purpose_check,
  add constraint keeper_attempts_verb_check check (verb in ('claim', 'refund', 'fund', 'void')),
  add constraint keeper_attempts_purpose_check
    check (purpose in ('relay', 'secret', 'refund', 'fund', 'close')),
  -- How many escrows it settles: that of its job, and those that ride on it.
  add column legs integer not null default 1 check (legs >= 1);

-- Jobs whose escrow is settled by a transaction of another job.
create table keeper_rides (
  attempt_id bigint not null references keeper_attempts (id),
  job_id bigint not null references keeper_jobs (id),
  primary key (attempt_id, job_id)
);
create index keeper_rides_of on keeper_rides (job_id);

-- A funding waits behind all others for its turn.
alter table keeper_waiters
  drop constraint keeper_waiters_kind_check,
  add constraint keeper_waiters_kind_check check (kind between 0 and 3);
alter table keeper_turns
  drop constraint keeper_turns_kind_check,
  add constraint keeper_turns_kind_check check (kind between 0 and 3);
