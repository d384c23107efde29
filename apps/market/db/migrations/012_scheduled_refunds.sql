-- Refunds that a funder signed beforehand, at rising fees, one ladder an escrow; sent when due.

create table scheduled_refunds (
  chain text not null,
  escrow text not null,
  swap_id uuid not null references swaps (id),
  leg text not null check (leg in ('a', 'b')),
  -- Lowest fee first: [{ txid, raw, feeSats, feeRateSatPerVbyte }]. They can only pay the funder.
  rungs jsonb not null,
  -- Of the rungs, so that reading a swap reads no transactions.
  count integer not null,
  lowest_fee_rate double precision not null,
  highest_fee_rate double precision not null,
  -- Counts postings: what a pass learnt of a former ladder is not written over a newer one.
  version integer not null default 1,
  -- The last of these that was sent; null: none yet.
  sent_txid text,
  -- The unconfirmed refund that was last seen or sent, of whoever: { txid, at, height }.
  tried jsonb,
  -- Unix seconds: looked at from then on; null: what they spend is gone at depth.
  due_at bigint,
  -- Unix seconds: in the hands of a process until then.
  leased_until bigint,
  posted_at timestamptz not null,
  primary key (chain, escrow)
);
create index scheduled_refunds_due on scheduled_refunds (chain, due_at) where due_at is not null;
create index scheduled_refunds_leased on scheduled_refunds (chain, leased_until)
  where leased_until is not null;
