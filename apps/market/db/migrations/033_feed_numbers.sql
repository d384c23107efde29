-- What sockets are told as `seq`: it counts the entries that are for everybody. A private one goes
-- by the number of the one for everybody before it, so that numbers say nothing of strangers.
alter table feed_log add column number bigint;
-- As they were told.
update feed_log set number = seq;
alter table feed_log alter column number set not null;
create unique index feed_log_numbers on feed_log (number) where target_address is null;

-- `seq` goes on far away: nobody has a number that the version before gives out from here on.
select setval('feed_log_seq_seq', last_value + 1000000000) from feed_log_seq_seq where is_called;

-- Also for what the version before appends. Under the lock of who appends each of these looks sees
-- all that was appended. A log without entries goes on behind every number there was: none of them
-- is greater than `seq`.
create function feed_log_number() returns trigger language plpgsql volatile as $$
begin
  select feed_log.number into new.number from feed_log order by seq desc limit 1;
  new.number := coalesce(new.number, new.seq - 1)
    + case when new.target_address is null then 1 else 0 end;
  return new;
end $$;
create trigger feed_log_number before insert on feed_log
  for each row execute function feed_log_number();

-- So that there is an entry to go on from.
insert into feed_log (kind, rfq_id, creator_id, body, at)
  select 'reset', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000',
    '', now()
  where not exists (select 1 from feed_log);
