-- Whether an amount of a swap is of high value, for who watches the market: open swaps are counted by
-- status and value from this index alone. The version before leaves new swaps at the default.

alter table swaps add column high_value boolean not null default false;

update swaps s set high_value = true
  where not done and exists (
    select from legs l join assets a on a.id = l.asset_id
      where l.swap_id = s.id and l.amount >= a.high_value_from);

create index swaps_not_done on swaps (status, high_value) where not done;
