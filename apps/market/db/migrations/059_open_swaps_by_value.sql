-- Open swaps are counted by status and value from this index alone.

create index swaps_not_done on swaps (status, high_value) where not done;
