-- The lanes of each funder in a contract that holds all escrows of its chain. A row outlives its
-- swap: its counter only rises. What a chain shows of a lane wins over it.
create table lanes (
  chain text not null,
  contract text not null,
  funder text not null,
  -- 24 hex digits: 16 of the account, 8 of the index.
  number text not null,
  -- Of the escrow that has the lane.
  counter integer not null check (counter between 1 and 1073741823),
  escrow text not null,
  primary key (chain, contract, funder, number)
);
