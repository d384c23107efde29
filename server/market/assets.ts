// Assets: what may be traded. Curated ones come from the settings or the dev network at start.

import { ParleyError } from '../../core/errors.ts';
import type { AssetSettings } from '../chain-settings.ts';
import { type Asset, closeCuratedAssets, findAssets, upsertCuratedAsset } from '../db/assets.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Deps } from '../deps.ts';
import { uuidv7 } from '../ids.ts';

export type { Asset } from '../db/assets.ts';

/**
 * Makes the curated assets those of `settings`: new ones are added, known ones keep their id, and
 * curated ones that are no longer listed are closed, as are those of chains not served here.
 */
export async function seedAssets(
  db: Database,
  deps: Pick<Deps, 'adapters' | 'now' | 'randomBytes'>,
  settings: readonly AssetSettings[],
): Promise<Asset[]> {
  const at = new Date(deps.now());
  return db.transaction(async (tx) => {
    const seeded: Asset[] = [];
    for (const each of settings) {
      const adapter = deps.adapters.get(each.chain);
      if (adapter === undefined) continue;
      const { chain, symbol, decimals } = each;
      const asset: Asset = {
        id: uuidv7(at.getTime(), deps.randomBytes),
        chain,
        symbol,
        address: each.address === null ? null : adapter.parseAddress(each.address),
        decimals,
        enabled: true,
        verified: true,
        source: 'curated',
        highValueFrom: each.highValueFrom === undefined ? null : BigInt(each.highValueFrom),
      };
      seeded.push(await upsertCuratedAsset(tx, asset, at));
    }
    await closeCuratedAssets(
      tx,
      seeded.map((each) => each.id),
    );
    return seeded;
  });
}

/** The two assets of an RFQ. Throws `bad_asset` for an id that names none. */
export async function assetPair(
  tx: Tx,
  baseAssetId: string,
  quoteAssetId: string,
): Promise<{ base: Asset; quote: Asset }> {
  const found = await findAssets(tx, [baseAssetId, quoteAssetId]);
  const named = (id: string, field: string): Asset => {
    const asset = found.find((each) => each.id === id.toLowerCase());
    if (asset === undefined) {
      throw new ParleyError('bad_asset', `${field} names no asset: ${id}`, { field });
    }
    return asset;
  };
  return {
    base: named(baseAssetId, 'baseAssetId'),
    quote: named(quoteAssetId, 'quoteAssetId'),
  };
}

/** Throws `asset_closed` unless both may be traded. */
export function assertOpen(...assets: readonly Asset[]): void {
  const closed = assets.find((each) => !each.enabled);
  if (closed === undefined) return;
  const { id, symbol, chain } = closed;
  throw new ParleyError('asset_closed', `${symbol} on ${chain} (asset ${id}) is closed to trade`, {
    assetId: id,
  });
}
