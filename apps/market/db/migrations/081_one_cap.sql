-- Each transaction of a gas key settles one escrow, one cap of a day bounds all that it sends, and
-- what a claim leaves on Solana is its funder's to fetch.
-- compatible from 077: nothing was released that reads or writes what goes
-- small keeper_jobs: some rows for each swap
-- small keeper_attempts: some rows for each swap

drop table keeper_rides;
drop table keeper_waiters;
drop index escrows_to_close;
drop index keeper_jobs_due;

delete from keeper_attempts a using keeper_jobs j where j.id = a.job_id and j.purpose = 'close';
delete from keeper_jobs where purpose = 'close';
alter table keeper_jobs
  drop constraint keeper_jobs_purpose_check,
  add constraint keeper_jobs_purpose_check check (purpose in ('relay', 'secret', 'refund', 'fund')),
  drop column account_id,
  drop column alone,
  drop column makes_account,
  drop column relayed_at,
  drop column relays;
alter table keeper_attempts
  drop constraint keeper_attempts_purpose_check,
  add constraint keeper_attempts_purpose_check
    check (purpose in ('relay', 'secret', 'refund', 'fund')),
  drop column legs;
alter table keeper_turns
  drop column kind,
  drop column relays,
  drop column relays_wait,
  drop column others_wait;
alter table keeper_posts drop column funds;

create index keeper_jobs_due on keeper_jobs (chain, (purpose = 'relay'), due_at)
  where state = 'open';
