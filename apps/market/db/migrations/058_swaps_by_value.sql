-- Whether an amount of a swap is of high value, for who watches the market. The version before leaves
-- new swaps at the default. Alone here: this takes a moment, and keeps even readers out.

alter table swaps add column high_value boolean not null default false;
