-- Settled swaps of an account by the time of their agreement: what its rate limit and its record count.

create index swaps_settled_by_maker on swaps (maker_id, agreed_at desc)
  where status = 'counterparty_claimed';
create index swaps_settled_by_taker on swaps (taker_id, agreed_at desc)
  where status = 'counterparty_claimed';
