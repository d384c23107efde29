-- The account that asked for a link or authorize nonce: no other may use it. A mint nonce has none.
alter table nonces add column account_id uuid references accounts (id);
