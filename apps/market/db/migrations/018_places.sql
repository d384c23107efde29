-- Whose request a place in the queue for a turn is: one account has a share of the places. Servers of
-- the version before write none.
alter table keeper_waiters
  add column account_id uuid;
