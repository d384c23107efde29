-- Whether an account is a party of an open swap: asked for each request beyond a budget.
create index swaps_open_by_maker on swaps (maker_id) where not done and status <> 'expired';
create index swaps_open_by_taker on swaps (taker_id) where not done and status <> 'expired';
