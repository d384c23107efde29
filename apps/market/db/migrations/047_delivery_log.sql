-- The log of a webhook's deliveries, as its owner reads it: the newest first, with what was answered.

create index deliveries_log on deliveries (webhook_id, created_at, id);

-- How the body of the answer begins, as text.
alter table delivery_attempts add column answer text;
