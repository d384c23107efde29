-- Of those that were open at the upgrade. Alone here: beside the index it would hold rows for which
-- somebody waits who has what the index waits for.

update swaps s set high_value = true
  where not done and exists (
    select from legs l join assets a on a.id = l.asset_id
      where l.swap_id = s.id and l.amount >= a.high_value_from);
