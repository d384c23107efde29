-- What is dropped with age leaves dead entries at the left end of an index, and each batch walks over
-- all of them: 2 600 pages where a fifth of ten million rows may be dead. 3 % is the least at which
-- vacuum cleans indexes too: it leaves them alone while fewer than 2 % of the pages have dead rows.

alter table rfqs set (autovacuum_vacuum_scale_factor = 0.03);
alter table threads set (autovacuum_vacuum_scale_factor = 0.03);
alter table outbox set (autovacuum_vacuum_scale_factor = 0.03);
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.03);
alter table delivery_attempts set (autovacuum_vacuum_scale_factor = 0.03);
alter table idempotency set (autovacuum_vacuum_scale_factor = 0.03);
