-- Accounts that an operator holds off new business. The reason is for operators alone.
-- small accounts: one narrow row for each customer, read within a second at a million.

alter table accounts
  add column blocked_at timestamptz,
  add column blocked_for text,
  add constraint accounts_blocked_check check ((blocked_at is null) = (blocked_for is null));

create index accounts_blocked on accounts (blocked_at) where blocked_at is not null;
