-- What is kept under the Idempotency-Keys of an account in a day: refusals by number, replies of
-- success by bytes, each with its row.
alter table kept_refusals rename to kept_replies;
alter table kept_replies rename column count to refusals;
alter table kept_replies add column bytes bigint not null default 0;
