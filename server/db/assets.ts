// Statements about assets.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';
import { closingsOfChain } from './halts.ts';

/** Why an asset is not open, as far as customers are told. */
export type Closed = {
  /** `chain`, `halt`: the operator's switch of its chain, or of it alone. */
  readonly by: 'delisted' | 'chain' | 'halt' | 'other';
  /** RFC 3339; of its chain, where that and it alone are halted. Null of `other`. */
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

export type AssetRow = {
  readonly id: string;
  readonly chain: string;
  readonly symbol: string;
  readonly address: string | null;
  readonly decimals: number;
  readonly enabled: boolean;
  readonly closed: Closed | null;
  readonly verified: boolean;
  readonly source: string;
  readonly high_value_from: string | null;
};

/** The column `closed` of a row of `assets`, of the alias `of` where it has one. */
export function closedColumn(of = ''): string {
  const by = (closer: string) => `jsonb_build_object('by', '${closer}',
      'since', ${of}closings->'${closer}'->>'at')`;
  return `case when ${of}enabled then null
    when ${of}delisted_at is not null then jsonb_build_object('by', 'delisted', 'since',
      to_char(${of}delisted_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    when ${of}closings ? 'chain' then ${by('chain')}
    when ${of}closings ? 'halt' then ${by('halt')}
    else '{"by": "other", "since": null}' end`;
}

/** Of one table, as `assetOf` reads them. */
export const assetColumns = `id, chain, symbol, address, decimals, enabled, verified, source,
      high_value_from, ${closedColumn()} as closed`;

export function assetOf(row: AssetRow): Asset {
  const { high_value_from: high, ...rest } = row;
  return { ...rest, highValueFrom: high === null ? null : BigInt(high) };
}

export type AssetFilters = {
  readonly chain: string | null;
  readonly symbol: string | null;
  /** As stored, or in any case for hex. */
  readonly address: string | null;
  readonly enabled: boolean | null;
};

/** Assets after the id `after`, by id. */
export async function listAssets(
  tx: Tx,
  filters: AssetFilters,
  after: string | null,
  limit: number,
): Promise<Asset[]> {
  const { chain, symbol, address, enabled } = filters;
  const rows = await tx.rows<AssetRow>({
    name: 'assets_list',
    text: `select ${assetColumns}
      from assets
      where ($1::text is null or chain = $1)
        and ($2::text is null or lower(symbol) = lower($2))
        and ($3::text is null or address = $3
          or (address like '0x%' and lower(address) = lower($3)))
        and ($4::boolean is null or enabled = $4)
        and ($5::uuid is null or id > $5)
      order by id
      limit $6`,
    values: [chain, symbol, address, enabled, after, limit],
  });
  return rows.map(assetOf);
}

export async function findAssets(tx: Tx, ids: readonly string[]): Promise<Asset[]> {
  const rows = await tx.rows<AssetRow>({
    name: 'assets_find',
    text: `select ${assetColumns}
      from assets where id = any($1::uuid[])`,
    values: [ids],
  });
  return rows.map(assetOf);
}

/** The enabled curated asset of this id or symbol; the oldest of a symbol on several chains. */
export async function findCuratedAsset(tx: Tx, idOrSymbol: string): Promise<Asset | null> {
  const rows = await tx.rows<AssetRow>({
    name: 'assets_find_curated',
    text: `select ${assetColumns}
      from assets
      where source = 'curated' and enabled and (id::text = $1 or symbol = $1)
      order by id
      limit 1`,
    values: [idOrSymbol],
  });
  return rows[0] === undefined ? null : assetOf(rows[0]);
}

/** Listed by themselves, not delisted, of these chains and due: not again before `leaseEnds`. */
export async function takeDueAssets(
  tx: Tx,
  chains: readonly ChainKey[],
  now: Date,
  leaseEnds: Date,
  limit: number,
): Promise<Asset[]> {
  const rows = await tx.rows<AssetRow>({
    name: 'assets_due',
    text: `update assets set next_check_at = $3
      where id in (
        select id from assets
        where delisted_at is null and next_check_at <= $2 and source <> 'curated'
          and chain = any($1::text[])
        order by next_check_at
        limit $4
        for update skip locked)
      returning ${assetColumns}`,
    values: [chains, now, leaseEnds, limit],
  });
  return rows.map(assetOf);
}

/** When the last look at it began. */
export async function findChecked(tx: Tx, assetId: string): Promise<Date | null> {
  const [row] = await tx.rows<{ checked_at: Date | null }>({
    name: 'assets_find_checked',
    text: 'select checked_at from assets where id = $1',
    values: [assetId],
  });
  return row?.checked_at ?? null;
}

/** When the last look at it began, and when it is looked at next. */
export async function setChecked(
  tx: Tx,
  assetId: string,
  checkedAt: Date,
  nextCheckAt: Date,
): Promise<void> {
  await tx.rows({
    name: 'assets_checked',
    text: 'update assets set checked_at = $2, next_check_at = $3 where id = $1',
    values: [assetId, checkedAt, nextCheckAt],
  });
}

/**
 * A token that passed; null where it is an asset already. Under the shared lock of its chain, which
 * may be halted: it is closed then.
 */
export async function insertListed(
  tx: Tx,
  asset: Omit<Asset, 'enabled' | 'closed' | 'verified' | 'highValueFrom'>,
  createdAt: Date,
  checkedAt: Date,
  nextCheckAt: Date,
): Promise<Asset | null> {
  const { id, chain, symbol, address, decimals, source } = asset;
  const [row] = await tx.rows<AssetRow>({
    name: 'assets_insert_listed',
    text: `insert into assets (id, chain, symbol, address, decimals, verified, source, created_at,
        checked_at, next_check_at, closings)
      values ($1, $2, $3, $4, $5, false, $6, $7, $8, $9, ${closingsOfChain('$2')})
      on conflict (chain, address) do nothing
      returning ${assetColumns}`,
    values: [id, chain, symbol, address, decimals, source, createdAt, checkedAt, nextCheckAt],
  });
  return row === undefined ? null : assetOf(row);
}

/** Symbols of curated assets but for this one, each once. */
export async function curatedSymbols(tx: Tx, except: string | null): Promise<string[]> {
  const rows = await tx.rows<{ symbol: string }>({
    name: 'assets_curated_symbols',
    text: `select distinct symbol from assets
      where source = 'curated' and ($1::uuid is null or id <> $1) order by symbol`,
    values: [except],
  });
  return rows.map(({ symbol }) => symbol);
}
