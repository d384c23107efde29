-- RFQs that were agreed and whose swap, which nobody funded, is gone: they go as those without one.
alter table rfqs add column swap_pruned boolean not null default false;
drop index rfqs_ended;
create index rfqs_ended on rfqs (expires_at)
  where status in ('cancelled', 'expired') or swap_pruned;
-- So that a webhook's deliveries that used up their attempts are found.
create index deliveries_dropped on deliveries (webhook_id, done_at) where state = 'dropped';
