// Statements about assets.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type Asset = {
  readonly id: string;
  readonly chain: ChainKey;
  readonly symbol: string;
  /** Token contract in canonical form; null = the chain's native asset. */
  readonly address: string | null;
  readonly decimals: number;
  readonly enabled: boolean;
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
  readonly verified: boolean;
  readonly source: string;
  readonly high_value_from: string | null;
};

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
    text: `select id, chain, symbol, address, decimals, enabled, verified, source, high_value_from
      from assets
      where ($1::text is null or chain = $1)
        and ($2::text is null or symbol = $2)
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
    text: `select id, chain, symbol, address, decimals, enabled, verified, source, high_value_from
      from assets where id = any($1::uuid[])`,
    values: [ids],
  });
  return rows.map(assetOf);
}

/** The enabled curated asset of this id or symbol; the oldest of a symbol on several chains. */
export async function findCuratedAsset(tx: Tx, idOrSymbol: string): Promise<Asset | null> {
  const rows = await tx.rows<AssetRow>({
    name: 'assets_find_curated',
    text: `select id, chain, symbol, address, decimals, enabled, verified, source, high_value_from
      from assets
      where source = 'curated' and enabled and (id::text = $1 or symbol = $1)
      order by id
      limit 1`,
    values: [idOrSymbol],
  });
  return rows[0] === undefined ? null : assetOf(rows[0]);
}
