-- Until when a price holds, where whoever named it said so; and when a maker withdrew its quote.

alter table threads
  add column quote_expires_at timestamptz,
  add column withdrawn_at timestamptz;
