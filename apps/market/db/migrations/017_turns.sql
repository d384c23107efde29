-- Who waits for a turn to sign, written down, so that the turn is given in the order of waiting; and
-- whose the ladders of signed refunds are, so that those of one account hold up nobody else's.
--
-- Servers of the version before may go on beside those of this one: what they write and read is
-- all there, `relays`, `relays_wait` and `others_wait` of keeper_turns for them alone. Both take
-- turns by `holder` and `until` of the same row.

-- A place is worth nothing once its process is gone, nor after a crash of the database.
create unlogged table keeper_waiters (
  chain text not null,
  holder uuid not null,
  ordinal bigint generated always as identity,
  -- 0 signs again what was promised, 1 the keeper's own, 2 a relay that is asked for.
  kind smallint not null check (kind between 0 and 2),
  -- Its place counts until then, by the clock of turns; said again as long as it waits.
  until timestamptz not null,
  primary key (chain, holder)
);
-- The kind of the turn that is now, or was last.
alter table keeper_turns
  add column kind smallint not null default 2 check (kind between 0 and 2);

-- The highest nonce that a key has signed, without reading all that it ever did.
create index keeper_attempts_by_nonce on keeper_attempts (chain, address, nonce);

-- Its leg's funder, who posted it; of what a server of the version before keeps, nobody.
alter table scheduled_refunds
  add column account_id uuid not null default '00000000-0000-0000-0000-000000000000';
update scheduled_refunds r
  set account_id = case r.leg when 'a' then s.maker_id else s.taker_id end
  from swaps s where s.id = r.swap_id;
