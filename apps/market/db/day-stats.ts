// A day of the market in numbers. Ids are UUIDv7, so a day is a range of each primary key; no more
// than `limit` rows of it are read.

import { many, only } from '@parley/host/postgres/statements.ts';

/** Ids from the first on and before the second; rows at most. */
export type DayRange = { readonly from: string; readonly to: string; readonly limit: number };

export type Asking = {
  readonly rfqs: number;
  readonly publicRfqs: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly agreed: number;
};

/** RFQs that were posted, as they stand now. */
export const rfqsOfDay = only<[range: DayRange], Asking>('stats_rfqs')`
  select count(*) as rfqs, count(*) filter (where visibility = 'public') as "publicRfqs",
      count(*) filter (where status = 'cancelled') as cancelled,
      count(*) filter (where status = 'expired') as expired,
      count(*) filter (where status = 'agreed') as agreed
    from (select status, visibility from rfqs
      where id >= :from::uuid and id < :to::uuid limit :limit) day`;

export type Quoting = { readonly threads: number; readonly makers: number };

/** Threads that were opened. */
export const threadsOfDay = only<[range: DayRange], Quoting>('stats_threads')`
  select count(*) as threads, count(distinct maker_id) as makers
    from (select maker_id from threads
      where id >= :from::uuid and id < :to::uuid limit :limit) day`;

export const accountsOfDay = only<[range: DayRange], { readonly accounts: number }>(
  'stats_accounts',
)`
  select count(*) as accounts from (select 1 from accounts
    where id >= :from::uuid and id < :to::uuid limit :limit) day`;

export const swapsOfDay = many<
  [range: DayRange],
  { readonly status: string; readonly count: number }
>('stats_swaps')`
  select status, count(*) as count from (select status from swaps
      where id >= :from::uuid and id < :to::uuid limit :limit) day
    group by status order by status`;

type AssetDay = {
  readonly chain: string;
  readonly symbol: string;
  readonly assetId: string;
  readonly decimals: number;
  readonly agreed: number;
  /** Base units. */
  readonly volume: bigint;
  readonly settled: number;
  readonly settledVolume: bigint;
  readonly refunded: number;
};

/** Legs of swaps that were agreed, by asset, as they stand now. */
export const assetsOfDay = many<[range: DayRange], AssetDay>('stats_assets')`
  select a.chain, a.symbol, a.id as "assetId", a.decimals, count(*) as agreed,
      sum(l.amount)::numeric(100, 0) as volume,
      count(*) filter (where s.status = 'counterparty_claimed') as settled,
      coalesce(sum(l.amount) filter (where s.status = 'counterparty_claimed'), 0)::numeric(100, 0)
        as "settledVolume",
      count(*) filter (where s.status in ('refunded', 'half_settled')) as refunded
    from (select id, status from swaps
        where id >= :from::uuid and id < :to::uuid limit :limit) s
      join legs l on l.swap_id = s.id join assets a on a.id = l.asset_id
    group by a.id order by a.chain, a.symbol, a.id`;
