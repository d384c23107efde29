// Nonces of a gas key before one that has to land: no block takes it before all of them.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type NonceOf = {
  readonly chain: ChainKey;
  readonly address: string;
  readonly nonce: number;
};

/** A nonce that no block has, of no relay; `jobId` null: nothing but its gap was filled. */
export type Blocker = { readonly jobId: number | null; readonly held: bigint };

/** Relays are left out: each has a reserve that takes it into a block. */
export async function blockersOf(tx: Tx, of: NonceOf): Promise<Blocker[]> {
  const rows = await tx.rows<{ jobId: number | null; held: string }>({
    name: 'keeper_blockers_of',
    text: `select a.job_id as "jobId", coalesce(max(j.reserve), 0) as held
      from keeper_attempts a left join keeper_jobs j on j.id = a.job_id
      where a.chain = $1 and a.address = $2 and a.nonce < $3
        and a.fate in ('unknown', 'pending') and j.purpose is distinct from 'relay'
      group by a.nonce, a.job_id`,
    values: [of.chain, of.address, of.nonce],
  });
  return rows.map(({ jobId, held }) => ({ jobId, held: BigInt(held) }));
}

/** What relays that wait behind this nonce have reserved. */
export async function reservedBehind(tx: Tx, of: NonceOf, jobId: number | null): Promise<bigint> {
  const rows = await tx.rows<{ sum: string }>({
    name: 'keeper_reserved_behind',
    text: `select coalesce(sum(reserve), 0) as sum from keeper_jobs
      where state = 'open' and purpose = 'relay' and id is distinct from $4 and id in (
        select job_id from keeper_attempts
        where chain = $1 and address = $2 and nonce > $3
          and fate in ('unknown', 'pending', 'mined'))`,
    values: [of.chain, of.address, of.nonce, jobId],
  });
  return BigInt(rows[0]?.sum ?? 0);
}

/** Keeps for each of these jobs at least what freeing its nonce may take; they are due now. */
export async function holdToFree(
  tx: Tx,
  jobIds: readonly number[],
  of: { readonly least: bigint; readonly now: Date },
): Promise<void> {
  if (jobIds.length === 0) return;
  await tx.rows({
    name: 'keeper_hold_to_free',
    text: `update keeper_jobs set reserve = greatest(reserve, $2), due_at = least(due_at, $3)
      where id = any($1) and state = 'open'`,
    values: [jobIds, of.least.toString(), of.now],
  });
}

/** What waits before this nonce is looked at by then, however often it has failed. */
export async function hastenBlockers(tx: Tx, of: NonceOf, by: Date): Promise<void> {
  await tx.rows({
    name: 'keeper_hasten_blockers',
    text: `update keeper_jobs set due_at = $4
      where id in (
        select id from keeper_jobs where state = 'open' and due_at > $4 and id in (
          select job_id from keeper_attempts
          where chain = $1 and address = $2 and nonce < $3 and fate in ('unknown', 'pending'))
        for update skip locked)`,
    values: [of.chain, of.address, of.nonce, by],
  });
}
