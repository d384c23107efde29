// Statements about agreements: those of a pair that were funded, and how accounts kept their own.

import type { Direction } from '@parley/core/trade.ts';
import { foundFirst, list, many, none, only, value } from '@parley/host/postgres/statements.ts';
import { settledThatCount } from './settled.ts';

export type Agreement = {
  readonly direction: Direction;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
  readonly agreedAt: Date;
};

type Wanted = {
  readonly baseAssetId: string;
  readonly quoteAssetId: string;
  readonly since: Date;
  /** RFQs that are walked: agreements that nobody funds are among them. */
  readonly walked: number;
  readonly limit: number;
};

/** Both legs of a swap `s` were funded, and neither went back: both chains show both amounts. */
const isFunded = "s.status in ('counterparty_funded', 'initiator_claimed', 'counterparty_claimed')";

/** Agreements on public RFQs of this base and quote that were funded. Newest first. */
export const fundedAgreements = many<[wanted: Wanted], Agreement>('agreements_funded')`
  select r.direction, r.base_amount as "baseAmount", t.quote_amount as "quoteAmount",
      r.updated_at as "agreedAt"
    from (select id, direction, base_amount, updated_at from rfqs
        where base_asset_id = :baseAssetId and quote_asset_id = :quoteAssetId
          and status = 'agreed' and visibility = 'public' and updated_at > :since
        order by updated_at desc limit :walked) r
      join swaps s on s.rfq_id = r.id
      join threads t on t.id = s.thread_id
    where ${isFunded}
    order by r.updated_at desc limit :limit`;

/** Unix seconds: buckets of `seconds` that begin from `from` on and not after `until`. */
type Buckets = {
  readonly from: number;
  readonly until: number;
  readonly seconds: number;
  /** RFQs of each bucket that are walked, its newest. */
  readonly walked: number;
};

/** The same in the bucket that begins `at`, in no order. */
export const fundedInBuckets = many<
  [pair: Pick<Wanted, 'baseAssetId' | 'quoteAssetId'>, of: Buckets],
  Agreement & { at: number }
>('agreements_in_buckets')`
  select bucket::float8 as at, r.direction, r.base_amount as "baseAmount",
      t.quote_amount as "quoteAmount", r.updated_at as "agreedAt"
    from generate_series(:from::bigint, :until::bigint, :seconds::bigint) bucket,
      lateral (select id, direction, base_amount, updated_at from rfqs
        where base_asset_id = :baseAssetId and quote_asset_id = :quoteAssetId
          and status = 'agreed' and visibility = 'public'
          and updated_at >= to_timestamp(bucket)
          and updated_at < to_timestamp(bucket + :seconds::bigint)
        order by updated_at desc limit :walked) r
      join swaps s on s.rfq_id = r.id
      join threads t on t.id = s.thread_id
    where ${isFunded}`;

/**
 * Those of every pair of open assets, out of the market's newest swaps: ids of swaps are in order
 * of time.
 */
export const fundedLately = many<
  [of: Pick<Wanted, 'since' | 'walked'>],
  Agreement & Pick<Wanted, 'baseAssetId' | 'quoteAssetId'> & { isVerified: boolean }
>('agreements_funded_lately')`
  select r.base_asset_id as "baseAssetId", r.quote_asset_id as "quoteAssetId", r.direction,
      r.base_amount as "baseAmount", t.quote_amount as "quoteAmount", r.updated_at as "agreedAt",
      base.verified and quote.verified as "isVerified"
    from (select rfq_id, thread_id, status, created_at from swaps order by id desc limit :walked) s
      join rfqs r on r.id = s.rfq_id and r.visibility = 'public' and r.updated_at > :since
      join assets base on base.id = r.base_asset_id and base.enabled
      join assets quote on quote.id = r.quote_asset_id and quote.enabled
      join threads t on t.id = s.thread_id
    where s.created_at > :since and ${isFunded}`;

/** The counts of whole days. */
export type Counts = {
  /** A counterparty counts once a day. */
  readonly agreed: number;
  /** Those that count (settled.ts). */
  readonly settled: number;
  /** Every swap that ended because this account did not do what was its turn. */
  readonly abandoned: number;
  /** Every swap in which something was funded and went back. */
  readonly refunded: number;
};

export type Standing = Counts & {
  /** From its turn to fund; null where too few fundings tell. */
  readonly medianFundSeconds: number | null;
  /** The counts of those swaps that have an amount from its asset's `highValueFrom` on. */
  readonly high: Counts;
  /** Unix seconds: agreements from the first on and before the second. */
  readonly from: number;
  readonly until: number;
};

type Window = {
  readonly from: number;
  readonly until: number;
  /** Swaps of each side. */
  readonly limit: number;
  readonly leastFundings: number;
};

/** Which swaps of a side are walked, newest first. */
type Walk = { readonly where: string; readonly order: string };
const everySwap: Walk = { where: 'true', order: 'id desc' };
/** An index has these; others were settled, or half of them was. */
const unsettled: Walk = {
  where: `status in
      ('agreed', 'initiator_funded', 'counterparty_funded', 'expired', 'refunded')`,
  order: 'agreed_at desc',
};

/** Swaps of one party's side; maker funds `a`, taker `b`. */
const side = (
  account: string,
  [party, own, other]: readonly ['maker', 'a', 'b'] | readonly ['taker', 'b', 'a'],
  { where, order }: Walk,
  more: string,
) => `
  (select s.id, s.status, s.created_at, s.long_leg = '${own}' as first,
      s.${party === 'maker' ? 'taker' : 'maker'}_id as counterparty, s.agreed_at / 86400 as day,
      ${isOver('s')} as over,
      l.refund_address is not null and o.payout_address is not null as named,
      l.escrow is not null and o.escrow is not null as planned,
      coalesce(s.named_late_by = '${party}', false) as late,
      coalesce(s.named_late_by <> '${party}', false) as kept_waiting,
      ${wasFunded('e')} as paid, ${wasFunded('p')} and ${inTime(own)} as met,
      e.funding_seen_at as seen, p.funding_deep_at as due, ${more}
    from (select * from swaps where ${party}_id = ${account}
          and agreed_at >= :from and agreed_at < :until and ${where}
        order by ${order} limit :limit) s
      cross join lateral ${foundFirst('legs', `swap_id = s.id and leg = '${own}'`)} l
      cross join lateral ${foundFirst('legs', `swap_id = s.id and leg = '${other}'`)} o
      left join escrows e on e.chain = l.chain and e.address = l.escrow
      left join escrows p on p.chain = o.chain and p.address = o.escrow)`;

function wasFunded(escrow: string): string {
  const each = ['funded', 'claimed', 'refunded'].map((fact) => `${escrow}.facts ->> '${fact}'`);
  return `coalesce(${each.join(', ')}) is not null`;
}

/** The other side's funding was deep while this one had all its time to react (deadlines.ts). */
const inTime = (own: 'a' | 'b') => `coalesce(p.funding_deep_at <= to_timestamp(
    case when s.long_leg = '${own}' then s.reveal_by - s.counterparty_fund_by + s.expires_at
      else s.expires_at end), false)`;

/** Something was funded, and it goes back: the side whose turn it was has let it pass. */
const isOver = (swap: string) => `case ${swap}.status when 'refunded' then true
    when 'initiator_funded' then ${swap}.counterparty_fund_by < :until
    when 'counterparty_funded' then ${swap}.reveal_by < :until else false end`;

/**
 * It was its turn to name addresses, to fund or to reveal, and the swap ended without. If the other
 * side was too late for that, it was nobody's turn.
 */
const isAbandoned = `case
    when status = 'expired' then not named or late or (first and planned and not kept_waiting)
    when not over then false
    when first then paid and (met or not named or late)
    else met and not paid and (planned and not kept_waiting or not named) end`;

const countsOf = (where: string) => `jsonb_build_object(
    'agreed', (select count(*) from (select distinct counterparty, day from own where ${where}) d),
    'settled', (select count(*) from own join counting c on c.swap_id = own.id where ${where}),
    'abandoned', (select count(*) from own where ${where} and ${isAbandoned}),
    'refunded', (select count(*) from own where ${where}
      and status in ('refunded', 'half_settled')))`;

const sides = (account: string, walk: Walk, more: string) => `
      ${side(account, ['maker', 'a', 'b'], walk, more)} union all
      ${side(account, ['taker', 'b', 'a'], walk, more)}`;

const isHigh = `exists (select from legs h join assets x on x.id = h.asset_id
        where h.swap_id = s.id and h.amount >= x.high_value_from offset 0) as high`;

const standing = (account: string) => `
  with own as materialized (${sides(account, everySwap, isHigh)}),
    counting as materialized (
      select swap_id from ${settledThatCount(account, ':from::bigint', ':until::bigint')} c),
    timed as (select extract(epoch from seen - case when first then created_at else due end)
        as seconds from own where seen is not null)
  select ${countsOf('true')} || jsonb_build_object('high', ${countsOf('high')},
      'medianFundSeconds', case when (select count(*) from own where paid) >= :leastFundings then
        (select round(percentile_disc(0.5) within group (order by greatest(seconds, 0)))::int
          from timed) end,
      'from', :from::bigint, 'until', :until::bigint) as counts`;

/** Counts anew for those of these accounts that were not counted up to then; says which. */
export const countStandings = list<[accountIds: readonly string[], of: Window], string>(
  'standings_count',
)`
  insert into standings (account_id, counted_until, counts)
    select a.id, :until, s.counts
    from (select id from unnest($1::uuid[]) id order by id) a,
      lateral (${standing('a.id')}) s
    where not exists (select from standings k
      where k.account_id = a.id and k.counted_until >= :until offset 0)
    on conflict (account_id) do update
      set counted_until = excluded.counted_until, counts = excluded.counts
      where standings.counted_until < excluded.counted_until
    returning account_id`;

export const findStanding = value<[accountId: string], Standing>('standings_find')`
  select counts from standings where account_id = $1`;

/** The record of an account that was counted, and its time. */
export const findRecord = only<[accountId: string], { kept: Standing; since: Date }>(
  'standings_record',
)`
  select s.counts as kept, a.created_at as since
    from standings s join accounts a on a.id = s.account_id where s.account_id = $1`;

/** In one order, so that no two acceptances wait for each other; until the transaction ends. */
export const lockUnfunded = none<[accountIds: readonly string[]]>('agreements_lock_unfunded')`
  select pg_advisory_xact_lock(hashtextextended('unfunded/' || id, 0))
    from (select id from unnest($1::uuid[]) id order by id) a`;

export type Unfunded = {
  readonly accountId: string;
  /**
   * Swaps that this account may still have to fund. A taker that funds second has them from the
   * agreement on, until the initiator may fund no more. A maker that does has them once the
   * initiator has funded: else takers that never fund would shut it out. The count is 0 where the
   * time of the second funder has passed.
   */
  readonly unfunded: number;
  readonly settled: number;
  readonly abandoned: number;
};

const isUnfunded = `s.status in ('agreed', 'initiator_funded') and e.funding_seen_at is null
      and case when s.long_leg = l.leg then true
        when p.funding_seen_at is null then l.leg = 'b' and s.initiator_fund_by >= :until
        else s.counterparty_fund_by >= :until end as unfunded`;

/** The count for each of these accounts, up to now. */
export const unfundedOf = many<
  [accountIds: readonly string[], of: Omit<Window, 'leastFundings'>],
  Unfunded
>('agreements_unfunded')`
  select account as "accountId", c.*,
      (select count(*)::int
        from ${settledThatCount('account', ':from::bigint', ':until::bigint')} s) as settled
    from unnest($1::uuid[]) account, lateral (
      select count(*) filter (where unfunded and not ${isAbandoned})::int as unfunded,
          count(*) filter (where ${isAbandoned})::int as abandoned
        from (${sides('account', unsettled, isUnfunded)}) own) c`;
