-- Swaps of an account that are not settled, by the time of their agreement: what it may still have to
-- fund, and what it abandoned. However many it has settled since, none of them is forgotten.

create index swaps_unsettled_by_maker on swaps (maker_id, agreed_at desc)
  where status in ('agreed', 'initiator_funded', 'counterparty_funded', 'expired', 'refunded');
create index swaps_unsettled_by_taker on swaps (taker_id, agreed_at desc)
  where status in ('agreed', 'initiator_funded', 'counterparty_funded', 'expired', 'refunded');
