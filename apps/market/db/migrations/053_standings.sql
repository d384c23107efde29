-- How accounts kept what they agreed to, in whole days that are over: shown with RFQs and threads.

create table standings (
  account_id uuid primary key references accounts (id),
  -- Unix seconds, the beginning of a UTC day: what was agreed before it is counted.
  counted_until bigint not null,
  counts jsonb not null
);

-- Settled swaps that an account must have to quote the RFQ; null: none.
alter table rfqs add column min_settled integer check (min_settled > 0);
