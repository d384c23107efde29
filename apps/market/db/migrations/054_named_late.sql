-- Who named the swap's last address too late for the other side to fund; null: nobody did.

alter table swaps add column named_late_by text check (named_late_by in ('maker', 'taker'));
