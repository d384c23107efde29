-- What is next of each webhook is found without reading what waits behind it.

-- True while an earlier delivery of the same webhook and subject has not had its first attempt.
alter table deliveries add column behind boolean not null default false;
-- Taken in hand, a delivery is not due until the one who took it must be dead: next_at says so.
update deliveries set next_at = greatest(next_at, leased_until)
  where state = 'waiting' and leased_until is not null;
drop index deliveries_due;
drop index deliveries_order;
alter table deliveries drop column leased_until;
update deliveries d set behind = true
  where state = 'waiting' and attempts = 0 and exists (
    select 1 from deliveries e
    where e.webhook_id = d.webhook_id and e.subject = d.subject and e.state = 'waiting'
      and e.attempts = 0 and e.position < d.position);
create index deliveries_ready on deliveries (webhook_id, next_at, position)
  where state = 'waiting' and not behind;
create index deliveries_untried on deliveries (webhook_id, subject, position)
  where state = 'waiting' and attempts = 0;

-- How many wait, which is bounded, and how long the last attempt took: the slow wait among
-- themselves.
alter table webhooks add column waiting integer not null default 0;
alter table webhooks add column last_milliseconds integer;
update webhooks w set waiting = (
  select count(*) from deliveries d where d.webhook_id = w.id and d.state = 'waiting');
