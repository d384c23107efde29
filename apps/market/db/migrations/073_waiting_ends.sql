-- An account that is to be deleted, and a login that is to be removed, wait as payouts do. A session
-- knows the login that signed in, and a key who made it: a session, or `family:address`.
-- small accounts: one narrow row for each customer, read within a second at a million.
-- small logins: a few rows for each customer, read as soon.

alter table accounts add column leaves_at timestamptz;
alter table logins add column leaves_at timestamptz;
alter table sessions add column login_id uuid;
alter table api_keys add column made_by text;

create index accounts_leaving on accounts (leaves_at) where leaves_at is not null;
create index logins_leaving on logins (leaves_at) where leaves_at is not null;
