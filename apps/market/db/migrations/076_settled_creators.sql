-- Settled swaps of whoever posted an RFQ, as its standing was last counted: a book of those alone is
-- read by an index, however many others post.

alter table rfqs add column creator_settled integer not null default 0;
