// The work that is due for the watchtower: escrows with a public secret, or past their timelock
// with something in them, found by index and taken up as jobs, once each.

import type { ChainKey } from '@parley/core/families.ts';
import { changed, did, many, none, only } from '@parley/host/postgres/statements.ts';
import type { Reopening, TakenUp } from '@parley/watchtower/port.ts';
import type { Tx } from './database.ts';

const jobColumns = `chain, escrow, verb, swap_id, leg, purpose, state, due_at,
          created_at`;

type TakingUp = {
  readonly chains: readonly ChainKey[];
  readonly now: Date;
};

/** Escrows of these chains that hold money past their timelock by their chain's clock. */
const expired = (chains: string) => `chain_heads h join escrows e on e.chain = h.chain
        where h.chain = any(${chains}::text[]) and not e.kept and not e.done
          and e.facts ->> 'balance' <> '0' and (e.terms ->> 'timelock')::bigint <= h.clock`;

const isDue = only<
  [chains: readonly ChainKey[]],
  Record<'revealed' | 'refund' | 'mayCome', boolean>
>('keeper_is_due')`
  select exists (select 1 from swaps where secret is not null and not done and not kept) as revealed,
    exists (select 1 from ${expired('$1')}) as refund,
    exists (select 1 from escrows where chain = any($1::text[]) and not done) as "mayCome"`;

/** Makes jobs for what is due, once each. */
export async function takeUp(tx: Tx, of: TakingUp, limit: number): Promise<TakenUp> {
  const due = await isDue(tx, of.chains);
  const revealed = due.revealed ? await takeUpRevealed(tx, of, limit) : 0;
  const refunds = due.refund ? await takeUpExpired(tx, of, limit) : 0;
  return { most: Math.max(revealed, refunds), mayCome: due.mayCome };
}

/**
 * Takes up swaps whose secret is public: a claim job for each leg on one of these chains. Whether
 * there is anything to claim is the job's own question.
 */
const takeUpRevealed = changed<[of: TakingUp, limit: number]>('keeper_take_up_revealed')`
  with s as (
      select id from swaps
      where secret is not null and not done and not kept
      order by id limit $2 for update skip locked
    ), made as (
      insert into keeper_jobs (${jobColumns})
      select l.chain, l.escrow, 'claim', s.id, l.leg, 'secret', 'open', :now, :now
      from s join legs l on l.swap_id = s.id
      where l.escrow is not null and l.chain = any(:chains::text[])
      on conflict (chain, escrow, verb) do update set state = 'open', purpose = 'secret'
        where keeper_jobs.state = 'dropped'
    )
    update swaps set kept = true where id in (select id from s) returning id`;

type Missed = { readonly chain: ChainKey; readonly above: number };

const reopenMissed = changed<
  [chains: readonly Missed[], of: { mostFailed: number; now: Date; limit: number }]
>('keeper_take_up_missed')`
  insert into keeper_jobs (${jobColumns})
    select l.chain, l.escrow, 'claim', s.id, l.leg, 'secret', 'open', :now, :now
    from swaps s join legs l on l.swap_id = s.id
      join unnest($1.chain::text[], $1.above::bigint[]) as k (chain, above) on k.chain = l.chain
    where s.secret is not null and not s.done and s.kept
      and l.escrow is not null
      and not exists (
        select 1 from keeper_jobs j
        where j.chain = l.chain and j.escrow = l.escrow and j.verb = 'claim'
          and (j.state <> 'dropped' or (j.purpose <> 'relay' and l.timelock <= k.above)
            or (select count(*) from keeper_attempts a where a.job_id = j.id
              and a.fate = 'failed' and a.verb <> 'void') >= :mostFailed) offset 0)
    order by s.id limit :limit
    on conflict (chain, escrow, verb) do update set state = 'open', purpose = 'secret',
        due_at = :now
      where keeper_jobs.state = 'dropped'
    returning id`;

/**
 * The claim jobs that are missing of swaps which were taken up: by a process without a key on one
 * of these chains, which does not reopen a relay that was dropped there either; and those that were
 * dropped while they could still land.
 */
export function takeUpMissed(
  tx: Tx,
  { mostFailed, above }: Reopening,
  now: Date,
  limit: number,
): Promise<number> {
  const chains = [...above].map(([chain, timelock]) => ({ chain, above: timelock }));
  return reopenMissed(tx, chains, { mostFailed, now, limit });
}

const takeUpExpired = changed<[of: TakingUp, limit: number]>('keeper_take_up_expired')`
  with found as (
      select e.chain, e.address, e.swap_id, e.leg from ${expired(':chains')}
      order by (e.terms ->> 'timelock')::bigint limit $2 for update of e skip locked
    ), made as (
      insert into keeper_jobs (${jobColumns})
      select f.chain, f.address, 'refund', f.swap_id, f.leg, 'refund', 'open', :now, :now
      from found f
      on conflict (chain, escrow, verb) do nothing
    )
    update escrows e set kept = true from found f
    where e.chain = f.chain and e.address = f.address returning e.address`;

export const takeUpAnew = none('keeper_anew_swaps')`
  update swaps set kept = false where secret is not null and not done and kept`;

/** False: its secret is public. */
export const lockWithoutSecret = did<[swapId: string]>('keeper_lock_secret')`
  select id from swaps where id = $1 and secret is null for update`;

export const timelocksOf = many<
  [chain: ChainKey, addresses: readonly string[]],
  { readonly address: string; readonly timelock: number }
>('keeper_timelocks')`
  select address, (terms ->> 'timelock')::bigint as timelock from escrows
    where chain = $1 and address = any($2)`;

/** Whether time since then is missing from the database. */
export const lacksTimeSince = did<[since: Date]>('keeper_lacks_time')`
  select 1 from gaps where ended_at >= $1 limit 1`;
