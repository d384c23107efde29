-- What keeps the database small: kept refusals are counted, and what ended with nothing at stake goes.
create table kept_refusals (
  account_id uuid not null,
  -- Of UTC.
  day date not null,
  count integer not null,
  primary key (account_id, day)
);
create index kept_refusals_day on kept_refusals (day);

create index rfqs_ended on rfqs (expires_at) where status in ('cancelled', 'expired');
create index swaps_unfunded on swaps (expires_at) where done and status = 'expired';
-- A hashlock outlives the thread that it was offered on.
create index hashlocks_by_thread on hashlocks (thread_id) where thread_id is not null;
-- So that a swap's rows are found when it goes.
create index keeper_jobs_by_swap on keeper_jobs (swap_id);
create index scheduled_refunds_by_swap on scheduled_refunds (swap_id);
