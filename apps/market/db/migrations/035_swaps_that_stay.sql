-- Expired swaps that are never pruned are looked at once, and not in every pass.
alter table swaps add column stays boolean not null default false;
drop index swaps_unfunded;
create index swaps_unfunded on swaps (expires_at)
  where done and status = 'expired' and not stays;
