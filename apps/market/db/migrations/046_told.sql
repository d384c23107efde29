-- What the market tells of its trades: agreements of a pair, and how soon an account funds.

create index rfqs_agreed_by_pair on rfqs (base_asset_id, quote_asset_id, updated_at desc)
  where status = 'agreed' and visibility = 'public';

alter table escrows
  -- When its funding was first seen, and first at depth; null: not since this was kept.
  add column funding_seen_at timestamptz,
  add column funding_deep_at timestamptz;
