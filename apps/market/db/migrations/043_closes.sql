-- What a claim leaves of an escrow's account on Solana, found once its timelock has passed.
create index escrows_to_close on escrows (chain, ((terms ->> 'timelock')::bigint))
  where done and not kept and redeem_script is null and facts -> 'claimed' ->> 'deep' = 'true';

-- They wait behind everything else, in a part of the index of their own.
drop index keeper_jobs_due;
create index keeper_jobs_due
  on keeper_jobs (chain, (purpose = 'relay'), (purpose = 'close'), due_at) where state = 'open';
