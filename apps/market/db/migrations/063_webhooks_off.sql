-- Webhooks that an operator holds off: no ping of their owner switches them on again.

alter table webhooks add column off_for text;
