// The work that is due for the watchtower: escrows with a public secret, or past their timelock
// with something in them, found by index and taken up as jobs, once each.

import type { ChainKey } from '@parley/core/families.ts';
import type { Reopening } from '@parley/watchtower/port.ts';
import type { Tx } from './database.ts';

const jobColumns = `chain, escrow, verb, swap_id, leg, purpose, state, due_at,
          created_at`;

type Due = Record<'revealed' | 'refund', boolean>;
export type TakingUp = {
  readonly chains: readonly ChainKey[];
  readonly now: Date;
};

/** Makes jobs for what is due, once each; returns the most taken up of one kind. */
export async function takeUp(tx: Tx, of: TakingUp, limit: number): Promise<number> {
  const { chains } = of;
  const [due] = await tx.rows<Due>({
    name: 'keeper_is_due',
    text: `select
        exists (select 1 from swaps where secret is not null and not done and not kept)
          as revealed,
        exists (select 1 from ${expired}) as refund`,
    values: [chains],
  });
  const revealed = due?.revealed ? await takeUpRevealed(tx, chains, of.now, limit) : 0;
  const refunds = due?.refund ? await takeUpExpired(tx, chains, of.now, limit) : 0;
  return Math.max(revealed, refunds);
}

/**
 * Takes up swaps whose secret is public: a claim job for each leg on one of these chains. Whether
 * there is anything to claim is the job's own question.
 */
async function takeUpRevealed(
  tx: Tx,
  chains: readonly ChainKey[],
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows<{ id: string }>({
    name: 'keeper_take_up_revealed',
    text: `with s as (
        select id from swaps
        where secret is not null and not done and not kept
        order by id limit $3 for update skip locked
      ), made as (
        insert into keeper_jobs (${jobColumns})
        select l.chain, l.escrow, 'claim', s.id, l.leg, 'secret', 'open', $2, $2
        from s join legs l on l.swap_id = s.id
        where l.escrow is not null and l.chain = any($1)
        on conflict (chain, escrow, verb) do update set state = 'open', purpose = 'secret'
          where keeper_jobs.state = 'dropped'
      )
      update swaps set kept = true where id in (select id from s) returning id`,
    values: [chains, now, limit],
  });
  return rows.length;
}

/**
 * The claim jobs that are missing of swaps which were taken up: by a process without a key on one
 * of these chains, which does not reopen a relay that was dropped there either; and those that were
 * dropped while they could still land.
 */
export async function takeUpMissed(
  tx: Tx,
  { mostFailed, above }: Reopening,
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows({
    name: 'keeper_take_up_missed',
    text: `insert into keeper_jobs (${jobColumns})
      select l.chain, l.escrow, 'claim', s.id, l.leg, 'secret', 'open', $2, $2
      from swaps s join legs l on l.swap_id = s.id
        join unnest($1::text[], $4::bigint[]) as k (chain, above) on k.chain = l.chain
      where s.secret is not null and not s.done and s.kept
        and l.escrow is not null
        and not exists (
          select 1 from keeper_jobs j
          where j.chain = l.chain and j.escrow = l.escrow and j.verb = 'claim'
            and (j.state <> 'dropped' or (j.purpose <> 'relay' and l.timelock <= k.above)
              or (select count(*) from keeper_attempts a where a.job_id = j.id
                and a.fate = 'failed' and a.verb <> 'void') >= $5))
      order by s.id limit $3
      on conflict (chain, escrow, verb) do update set state = 'open', purpose = 'secret',
          due_at = $2
        where keeper_jobs.state = 'dropped'
      returning id`,
    values: [[...above.keys()], now, limit, [...above.values()], mostFailed],
  });
  return rows.length;
}

/** Escrows of these chains that hold money past their timelock by their chain's clock. */
const expired = `chain_heads h join escrows e on e.chain = h.chain
        where h.chain = any($1) and not e.kept and not e.done and e.facts ->> 'balance' <> '0'
          and (e.terms ->> 'timelock')::bigint <= h.clock`;

async function takeUpExpired(
  tx: Tx,
  chains: readonly ChainKey[],
  now: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows<{ address: string }>({
    name: 'keeper_take_up_expired',
    text: `with found as (
        select e.chain, e.address, e.swap_id, e.leg from ${expired}
        order by (e.terms ->> 'timelock')::bigint limit $3 for update of e skip locked
      ), made as (
        insert into keeper_jobs (${jobColumns})
        select f.chain, f.address, 'refund', f.swap_id, f.leg, 'refund', 'open', $2, $2
        from found f
        on conflict (chain, escrow, verb) do nothing
      )
      update escrows e set kept = true from found f
      where e.chain = f.chain and e.address = f.address returning e.address`,
    values: [chains, now, limit],
  });
  return rows.length;
}

export async function takeUpAnew(tx: Tx): Promise<void> {
  await tx.rows({
    name: 'keeper_anew_swaps',
    text: `update swaps set kept = false where secret is not null and not done and kept`,
    values: [],
  });
}

/** False: its secret is public. */
export async function lockWithoutSecret(tx: Tx, swapId: string): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_lock_secret',
    text: 'select id from swaps where id = $1 and secret is null for update',
    values: [swapId],
  });
  return rows.length === 1;
}

type Timelock = { readonly address: string; readonly timelock: number };

export function timelocksOf(
  tx: Tx,
  chain: ChainKey,
  addresses: readonly string[],
): Promise<Timelock[]> {
  return tx.rows<Timelock>({
    name: 'keeper_timelocks',
    text: `select address, (terms ->> 'timelock')::bigint as timelock from escrows
      where chain = $1 and address = any($2)`,
    values: [chain, addresses],
  });
}

/** Whether time since then is missing from the database. */
export async function lacksTimeSince(tx: Tx, since: Date): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_lacks_time',
    text: 'select 1 from gaps where ended_at >= $1 limit 1',
    values: [since],
  });
  return rows.length > 0;
}
