// Rows of what ended with nothing at stake: RFQs that became no swap, and swaps that nobody funded.
// Every hashlock that was ever offered stays.

import type { Tx } from './database.ts';

/** Of an RFQ: it became no swap, or its swap is gone. */
const cameToNothing = (rfq: string) =>
  `(${rfq}.status in ('cancelled', 'expired') or ${rfq}.swap_pruned)`;

/** Deletes at most `limit` threads of RFQs that ended before; returns how many. */
export async function pruneThreads(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'ended_threads_prune',
    text: `with ended as (
        select t.id from rfqs r join threads t on t.rfq_id = r.id
        where ${cameToNothing('r')} and r.expires_at < $1
        order by r.expires_at limit $2
      ), kept as (
        update hashlocks set thread_id = null where thread_id in (select id from ended)
      )
      delete from threads where id in (select id from ended) returning id`,
    values: [before, limit],
  });
  return rows.length;
}

/** RFQs that have no thread any more. */
export async function pruneRfqs(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'ended_rfqs_prune',
    text: `delete from rfqs where id in
        (select id from rfqs r where ${cameToNothing('r')} and expires_at < $1
          and not exists (select from threads where rfq_id = r.id)
          order by expires_at limit $2)
      returning id`,
    values: [before, limit],
  });
  return rows.length;
}

/** Of a swap, once and for all: money or its secret was seen, or a relay or refund is kept. */
const wasAtStake = `(s.secret is not null
  or exists (select from keeper_jobs where swap_id = s.id)
  or exists (select from scheduled_refunds where swap_id = s.id)
  or exists (select from escrows where swap_id = s.id and not (
    redeem_script is null and facts ->> 'funded' is null
    and facts ->> 'claimed' is null and facts ->> 'refunded' is null
    and facts ->> 'secret' is null
    and facts ->> 'balance' = '0' and facts -> 'fundingTold' is null)))`;

/**
 * Marks at most `limit` swaps that are never pruned, so that no further pass walks them; returns
 * how many.
 */
export async function markSwapsThatStay(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'ended_swaps_stay',
    text: `update swaps set stays = true where id in
        (select id from swaps s
          where done and status = 'expired' and not stays and expires_at < $1 and ${wasAtStake}
          order by expires_at limit $2 for update skip locked)
      returning id`,
    values: [Math.floor(before.getTime() / 1_000), limit],
  });
  return rows.length;
}

/**
 * Swaps of which no escrow was ever seen to hold anything, and whose timelocks passed before then.
 * One with an escrow on Bitcoin stays: what is paid there later is lost without the redeem script.
 */
export async function pruneSwaps(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'ended_swaps_prune',
    text: `with ended as (
        select id, rfq_id from swaps s
        where done and status = 'expired' and not stays and expires_at < $1 and not ${wasAtStake}
          and not exists (select from legs where swap_id = s.id and timelock >= $1)
        order by expires_at limit $2 for update skip locked
      ), without_legs as (
        delete from legs where swap_id in (select id from ended)
      ), without_escrows as (
        delete from escrows where swap_id in (select id from ended)
      ), released as (
        update rfqs set swap_pruned = true where id in (select rfq_id from ended)
      )
      delete from swaps where id in (select id from ended) returning id`,
    values: [Math.floor(before.getTime() / 1_000), limit],
  });
  return rows.length;
}
