// Statements about assets.

import type { ChainKey } from '@parley/core/families.ts';
import { columns, list, many, none, one, value } from '@parley/host/postgres/statements.ts';
import { closingsOfChain } from './halts.ts';

/** Why an asset is not open, as far as customers are told. */
export type Closed = {
  /** `chain`, `halt`: the operator's switch of its chain, or of it alone. */
  readonly by: 'delisted' | 'chain' | 'halt' | 'other';
  /**
   * RFC 3339; the time of its chain's halt, where that and it alone are halted. Null of `other`.
   */
  readonly since: string | null;
};

export type Asset = {
  readonly id: string;
  readonly chain: ChainKey;
  readonly symbol: string;
  /** Token contract in canonical form; null = the chain's native asset. */
  readonly address: string | null;
  readonly decimals: number;
  readonly enabled: boolean;
  /** Null while it is open. */
  readonly closed: Closed | null;
  readonly verified: boolean;
  readonly source: string;
  /** Base units from which the chain's high-value depth applies; null = never. */
  readonly highValueFrom: bigint | null;
};

/** The column `closed` of a row of `assets`, of the alias `of` where it has one. */
function closedColumn(of: string): string {
  const by = (closer: string) => `jsonb_build_object('by', '${closer}',
      'since', ${of}closings->'${closer}'->>'at')`;
  return `case when ${of}enabled then null
    when ${of}delisted_at is not null then jsonb_build_object('by', 'delisted', 'since',
      to_char(${of}delisted_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    when ${of}closings ? 'chain' then ${by('chain')}
    when ${of}closings ? 'halt' then ${by('halt')}
    else '{"by": "other", "since": null}' end`;
}

/** The columns of an `Asset`, read from the alias `of`, in the object `into`. */
export const assetColumns = (of = '', into = '') =>
  `${columns('id chain symbol address decimals enabled verified source highValueFrom', of, into)},
  ${closedColumn(of)} as "${into}closed"`;

type AssetFilters = {
  readonly chain: string | null;
  readonly symbol: string | null;
  /** As stored, or in any case for hex. */
  readonly address: string | null;
  readonly enabled: boolean | null;
};

/** Assets after the id `after`, by id. */
export const listAssets = many<[filters: AssetFilters, after: string | null, limit: number], Asset>(
  'assets_list',
)`
  select ${assetColumns()} from assets
    where (:chain::text is null or chain = :chain)
      and (:symbol::text is null or lower(symbol) = lower(:symbol))
      and (:address::text is null or address = :address
        or (address like '0x%' and lower(address) = lower(:address)))
      and (:enabled::boolean is null or enabled = :enabled) and ($2::uuid is null or id > $2)
    order by id limit $3`;

export const findAssets = many<[ids: readonly string[]], Asset>('assets_find')`
  select ${assetColumns()} from assets where id = any($1::uuid[])`;

/** Open assets among these tokens; hex is in lower case, and '' is the chain's own coin. */
export const pricedAssets = many<
  [prices: readonly { chain: string; token: string; price: string }[]],
  { assetId: string; price: string }
>('assets_priced')`
  select a.id as "assetId", p.price
    from unnest($1.chain::text[], $1.token::text[], $1.price::text[]) p (chain, token, price)
      join assets a on a.chain = p.chain and a.enabled and p.token =
        case when a.address like '0x%' then lower(a.address) else coalesce(a.address, '') end
    order by a.id`;

/** The enabled curated asset of this id or symbol; the oldest of a symbol on several chains. */
export const findCuratedAsset = one<[idOrSymbol: string], Asset>('assets_find_curated')`
  select ${assetColumns()} from assets
    where source = 'curated' and enabled and (id::text = $1 or symbol = $1) order by id limit 1`;

/** Listed by themselves, not delisted, of these chains and due: not again before `leaseEnds`. */
export const takeDueAssets = many<
  [chains: readonly ChainKey[], now: Date, leaseEnds: Date, limit: number],
  Asset
>('assets_due')`
  update assets set next_check_at = $3
    where id in (
      select id from assets
      where delisted_at is null and next_check_at <= $2 and source <> 'curated'
        and chain = any($1::text[])
      order by next_check_at limit $4 for update skip locked)
    returning ${assetColumns()}`;

/** When its last check began. */
export const findChecked = value<[assetId: string], Date>('assets_find_checked')`
  select checked_at from assets where id = $1`;

/** When its last check began, and when it is checked next. */
export const setChecked = none<[assetId: string, checkedAt: Date, nextCheckAt: Date]>(
  'assets_checked',
)`
  update assets set checked_at = $2, next_check_at = $3 where id = $1`;

type Listed = Omit<Asset, 'enabled' | 'closed' | 'verified' | 'highValueFrom'>;

/**
 * A token that passed; null where it is an asset already. Under the shared lock of its chain, which
 * may be halted: it is closed then.
 */
export const insertListed = one<
  [asset: Listed, createdAt: Date, checkedAt: Date, nextCheckAt: Date],
  Asset
>('assets_insert_listed')`
  insert into assets (id, chain, symbol, address, decimals, verified, source, created_at,
      checked_at, next_check_at, closings)
    values (:id, :chain, :symbol, :address, :decimals, false, :source, $2, $3, $4,
      ${closingsOfChain(':chain')})
    on conflict (chain, address) do nothing
    returning ${assetColumns()}`;

/** Symbols of curated assets but for this one, each once. */
export const curatedSymbols = list<[except: string | null], string>('assets_curated_symbols')`
  select distinct symbol from assets
    where source = 'curated' and ($1::uuid is null or id <> $1) order by symbol`;

/**
 * Autovacuum looks at no table of a few rows. Without figures of this one PostgreSQL takes most
 * assets for closed. It then sorts all open RFQs for each page of the book (25 ms of 10 000).
 */
export const analyzeAssets = none('assets_analyze')`
  analyze assets`;
