// Statements about indicative levels. A pair is stored one way round (`low`, `high`), and seen from
// whichever asset is asked for as the base.

import type { Family } from '@parley/core/families.ts';
import type { Direction } from '@parley/core/trade.ts';
import {
  changed,
  columns,
  count,
  many,
  none,
  plannedAnew,
} from '@parley/host/postgres/statements.ts';
import type { Standing } from './agreements.ts';

export type Pair = { readonly baseAssetId: string; readonly quoteAssetId: string };

/** Both ids of a pair as they are stored, and whether the base is the first. */
export function stored({ baseAssetId, quoteAssetId }: Pair) {
  const baseIsLow = baseAssetId < quoteAssetId;
  const [low, high] = baseIsLow ? [baseAssetId, quoteAssetId] : [quoteAssetId, baseAssetId];
  return { low, high, baseIsLow };
}

type StoredPair = ReturnType<typeof stored>;

export type NewLevel = {
  readonly id: string;
  readonly givesLow: boolean;
  /** The family of the asset that the maker would give. */
  readonly givenFamily: Family | null;
  readonly lowAmount: bigint;
  readonly highAmount: bigint;
  readonly leastAmount: bigint | null;
  readonly expiresAt: Date;
};

export const deleteLevelsOfPair = none<[accountId: string, pair: StoredPair]>('levels_drop')`
  delete from levels where account_id = $1 and low_asset_id = :low and high_asset_id = :high`;

/** All of an account; returns how many of them had not ended. */
export const deleteLevels = count<[accountId: string, now: Date]>('levels_drop_all')`
  with gone as (delete from levels where account_id = $1 returning expires_at)
    select count(*) from gone where expires_at > $2`;

/** Other pairs on which the account has levels that have not ended. */
export const countOtherPairs = count<[accountId: string, pair: StoredPair, now: Date]>(
  'levels_pairs',
)`
  select count(*) from (select distinct low_asset_id, high_asset_id from levels
    where account_id = $1 and expires_at > $3
      and (low_asset_id, high_asset_id) <> (:low::uuid, :high::uuid)) pairs`;

/** The publisher: by a key or by a session, the other one is null. */
export type Publisher = {
  readonly accountId: string;
  readonly keyId: string | null;
  readonly sessionId: string | null;
};

export const insertLevels = none<
  [by: Publisher, pair: StoredPair, levels: readonly NewLevel[], at: Date]
>('levels_insert')`
  insert into levels (id, account_id, key_id, session_id, low_asset_id, high_asset_id, base_is_low,
      gives_low, given_family, low_amount, high_amount, least_amount, published_at, expires_at)
    select n.id, :accountId::uuid, :keyId::uuid, :sessionId::uuid,
      :low::uuid, :high::uuid, :baseIsLow::boolean,
      n.gives, n.family, n.low, n.high, n.least, $4::timestamptz, n.ends
    from unnest($3.id::uuid[], $3.givesLow::boolean[], $3.givenFamily::text[],
        $3.lowAmount::numeric[], $3.highAmount::numeric[], $3.leastAmount::numeric[],
        $3.expiresAt::timestamptz[]) n (id, gives, family, low, high, least, ends)`;

export type Level = {
  readonly id: string;
  readonly makerId: string;
  readonly makerStanding: Standing | null;
  /** The rank is a whole number: the order of prices. */
  readonly rank: bigint;
  readonly baseIsLow: boolean;
  readonly lowAmount: bigint;
  readonly highAmount: bigint;
  readonly leastAmount: bigint | null;
  readonly publishedAt: Date;
  readonly expiresAt: Date;
};

type LevelFilters = {
  readonly now: Date;
  readonly direction: Direction;
  /** The amount of the base that is asked for; null = any. */
  readonly baseAmount: bigint | null;
  readonly minSettled: number;
  readonly makerId: string | null;
};

type From = { readonly rank: string; readonly id: string } | null;

// In base units of what is asked for as the base (`:baseIsLow`), and of the other asset.
const base = 'case when :baseIsLow::boolean then l.low_amount else l.high_amount end';
const other = 'case when :baseIsLow::boolean then l.high_amount else l.low_amount end';

/** Its maker still has the key or the session that published it, and a wallet that gives. */
const stands = `l.expires_at > :now
      and not exists (select from api_keys key
        where key.id = l.key_id and (key.revoked_at is not null or key.expires_at <= :now) offset 0)
      and not exists (select from sessions s
        where s.id = l.session_id and (s.revoked_at is not null or s.expires_at <= :now) offset 0)
      and (l.given_family is null or exists (select from wallets w
        where w.account_id = l.account_id and w.family = l.given_family offset 0))`;

/**
 * Levels that stand, of assets that are open; the best for the taker first, those of one price by
 * id.
 */
export const listLevels = many<
  [pair: StoredPair, filters: LevelFilters & { givesLow: boolean }, from: From, limit: number],
  Level
>('levels_list')`
  select ${columns('id rank baseIsLow lowAmount highAmount leastAmount publishedAt expiresAt', 'l.')},
      l.account_id as "makerId", k.counts as "makerStanding"
    from levels l
      join assets a on a.id = l.low_asset_id and a.enabled
      join assets b on b.id = l.high_asset_id and b.enabled
      left join standings k on k.account_id = l.account_id
    where l.low_asset_id = :low and l.high_asset_id = :high and l.gives_low = :givesLow
      and ${stands}
      and ($3.rank::numeric is null or (l.rank, l.id) > ($3.rank::numeric, $3.id::uuid))
      and (:makerId::uuid is null or l.account_id = :makerId)
      and (:minSettled::integer = 0
        or coalesce((k.counts ->> 'settled')::integer, 0) >= :minSettled::integer)
      and (:baseAmount::numeric is null or ${base} >= :baseAmount::numeric
        and (l.least_amount is null or case when l.base_is_low = :baseIsLow::boolean
          then l.least_amount <= :baseAmount::numeric
          else l.least_amount * (${base}) <= :baseAmount::numeric * (${other}) end))
    order by l.rank, l.id limit $4`;

/** Base units of both assets of a pair. */
type Amounts = { readonly low: string; readonly high: string };

export type QuotedPair = {
  readonly low: string;
  readonly high: string;
  readonly isVerified: boolean;
  /** The taker gives the first asset, or gets it. */
  readonly bid: Amounts | null;
  readonly ask: Amounts | null;
  /** Makers of the levels that are weighed. */
  readonly makers: number;
};

/** The first levels of one side in order of price, and whether their makers have settled swaps. */
const weighed = (takerGivesLow: boolean) => `(
        select l.gives_low, l.low_amount, l.high_amount, l.rank, l.id, l.account_id,
            coalesce((k.counts ->> 'settled')::integer, 0) > 0 as known
          from levels l left join standings k on k.account_id = l.account_id
          where l.low_asset_id = p.low and l.high_asset_id = p.high
            and l.gives_low = ${takerGivesLow} and ${stands}
          order by l.rank, l.id limit :weighed)`;

/**
 * The best level of a maker that has settled swaps, else the best: a level costs nothing, and may be
 * a lie.
 */
const bestOf = (side: string) => `(array_agg(jsonb_build_object('low', low_amount::text,
          'high', high_amount::text) order by known desc, rank, id) filter (where ${side}))[1]`;

/**
 * Pairs of open assets with levels, by their ids: the index is entered once a pair. 1 000 pairs with
 * 17 levels each take 0.2 s, and by a plan for any limits 2 s.
 */
export const quotedPairs = plannedAnew(
  many<[of: { now: Date; walked: number; weighed: number }], QuotedPair>('levels_pairs_quoted')`
  with recursive pairs (low, high, nth) as (
      (select low_asset_id, high_asset_id, 1 from levels
        order by low_asset_id, high_asset_id limit 1)
      union all
      select next.low_asset_id, next.high_asset_id, p.nth + 1 from pairs p, lateral (
          select low_asset_id, high_asset_id from levels
            where (low_asset_id, high_asset_id) > (p.low, p.high)
            order by low_asset_id, high_asset_id limit 1) next
        where p.nth < :walked::integer)
  select p.low, p.high, a.verified and b.verified as "isVerified", q.bid, q.ask, q.makers
    from pairs p
      join assets a on a.id = p.low and a.enabled
      join assets b on b.id = p.high and b.enabled,
      lateral (select ${bestOf('gives_low')} as bid, ${bestOf('not gives_low')} as ask,
          count(distinct account_id)::integer as makers
        from (${weighed(true)} union all ${weighed(false)}) w) q
    where q.makers > 0`,
);

export const pruneLevels = changed<[before: Date, limit: number]>('levels_prune')`
  delete from levels where id in (select id from levels
    where expires_at < $1 order by expires_at limit $2)
    returning 1 as one`;
