-- The request under an Idempotency-Key that used the nonce: it alone may present it again, as long as
-- it has no stored reply. Null for a request without one.
alter table nonces add column used_by bytea;
