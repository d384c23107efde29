-- From when on others may know what is in a transaction of a gas key, whatever nodes show of it
-- later.

-- Null: it has not left, or every node that was asked has refused it.
alter table keeper_attempts add column shown_at timestamptz;
update keeper_attempts set shown_at = sent_at;
