-- no transaction: both tables are large

drop index concurrently if exists deliveries_shared;
create index concurrently deliveries_shared on deliveries (position) where body is null;

drop index concurrently if exists book_of_settled;
create index concurrently book_of_settled on rfqs (id desc)
  where visibility = 'public' and status in ('open', 'negotiating') and creator_settled > 0;
