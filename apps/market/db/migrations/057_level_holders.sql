-- What a level rests on: its key, null where none published it, and the family of a wallet that gives
-- what its maker would. Once one of them is gone it is not shown. Instants of levels are the market's.

alter table levels add column key_id uuid references api_keys (id), add column given_family text;
