-- The log of a webhook's deliveries, as its owner reads it: the newest first.

create index deliveries_log on deliveries (webhook_id, created_at, id);
