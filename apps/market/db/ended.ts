// Rows of what ended with nothing at stake: RFQs that became no swap, and swaps that nobody funded.
// Every hashlock that was ever offered stays.

import { changed } from '@parley/host/postgres/statements.ts';

/** The end of an RFQ without a trade: it became no swap, or its swap is gone. */
const cameToNothing = (rfq: string) =>
  `(${rfq}.status in ('cancelled', 'expired') or ${rfq}.swap_pruned)`;

/** Deletes at most `limit` threads of RFQs that ended before; returns how many. */
export const pruneThreads = changed<[before: Date, limit: number]>('ended_threads_prune')`
  with ended as (
      select t.id from rfqs r join threads t on t.rfq_id = r.id
      where ${cameToNothing('r')} and r.expires_at < $1
      order by r.expires_at limit $2
    ), kept as (
      update hashlocks set thread_id = null where thread_id in (select id from ended)
    )
    delete from threads where id in (select id from ended) returning id`;

/** RFQs that have no thread any more. */
export const pruneRfqs = changed<[before: Date, limit: number]>('ended_rfqs_prune')`
  delete from rfqs where id in
      (select id from rfqs r where ${cameToNothing('r')} and expires_at < $1
        and not exists (select from threads where rfq_id = r.id offset 0)
        order by expires_at limit $2)
    returning id`;

/**
 * A swap that had something at stake, once and for all: money or its secret was seen, or a relay or
 * a signed spend is kept.
 */
const wasAtStake = `(s.secret is not null
  or exists (select from keeper_jobs where swap_id = s.id offset 0)
  or exists (select from scheduled_spends where swap_id = s.id offset 0)
  or exists (select from escrows where swap_id = s.id and not (
    redeem_script is null and facts ->> 'funded' is null
    and facts ->> 'claimed' is null and facts ->> 'refunded' is null
    and facts ->> 'secret' is null
    and facts ->> 'balance' = '0' and facts -> 'fundingTold' is null) offset 0))`;

const over = `done and status = 'expired' and not stays
      and expires_at < extract(epoch from date_trunc('second', $1::timestamptz))::bigint`;

/**
 * Marks at most `limit` swaps that are never pruned, so that no further pass walks them; returns
 * how many.
 */
export const markSwapsThatStay = changed<[before: Date, limit: number]>('ended_swaps_stay')`
  update swaps set stays = true where id in
      (select id from swaps s where ${over} and ${wasAtStake}
        order by expires_at limit $2 for update skip locked)
    returning id`;

/**
 * Swaps of which no escrow was ever seen to hold anything, and whose timelocks passed before then.
 * One with an escrow on Bitcoin stays: a later payment there is lost without the redeem script.
 */
export const pruneSwaps = changed<[before: Date, limit: number]>('ended_swaps_prune')`
  with ended as (
      select id, rfq_id from swaps s where ${over} and not ${wasAtStake}
        and not exists (select from legs where swap_id = s.id
          and timelock >= extract(epoch from date_trunc('second', $1::timestamptz))::bigint
          offset 0)
      order by expires_at limit $2 for update skip locked
    ), without_legs as (
      delete from legs where swap_id in (select id from ended)
    ), without_escrows as (
      delete from escrows where swap_id in (select id from ended)
    ), released as (
      update rfqs set swap_pruned = true where id in (select rfq_id from ended)
    )
    delete from swaps where id in (select id from ended) returning id`;
