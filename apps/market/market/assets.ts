// Assets: the things that may be traded. Curated ones come from the settings or the dev network at
// start.

import { within } from '@parley/chains/nodes/time-limit.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type Asset, type Closed, findAssets } from '../db/assets.ts';
import { dropCandidate } from '../db/candidates.ts';
import type { Database, Tx } from '../db/database.ts';
import {
  type Listing,
  lockListings,
  shareAssets,
  unconfigure,
  upsertConfigured,
} from '../db/listing.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import type { AssetSettings } from '../settings/chains.ts';
import { closeAsset, reopenAsset } from './listing.ts';

const notConfigured = 'no longer among the curated assets of the settings';

/**
 * Makes the curated assets those of `settings`: new ones are added, known ones keep their id and
 * reopen where the settings had closed them, and those that are no longer listed are closed, as are
 * those of chains not served here. An asset that checks or operators have closed stays closed.
 */
export async function seedAssets(
  db: Database,
  deps: Pick<Deps, 'adapters' | 'now' | 'randomBytes' | 'log'>,
  settings: readonly AssetSettings[],
): Promise<Asset[]> {
  const at = new Date(deps.now());
  return db.transaction(async (tx) => {
    await lockListings(tx);
    const seeded: Asset[] = [];
    for (const each of settings) {
      const adapter = deps.adapters.get(each.chain);
      if (adapter === undefined) continue;
      const { chain, symbol, decimals } = each;
      const asset = {
        id: uuidv7(at.getTime(), deps.randomBytes),
        chain,
        symbol,
        address: each.address === null ? null : adapter.parseAddress(each.address),
        decimals,
        highValueFrom: each.highValueFrom === undefined ? null : BigInt(each.highValueFrom),
      };
      const listing = await upsertConfigured(tx, asset, at);
      if (asset.address !== null) await dropCandidate(tx, chain, asset.address);
      seeded.push(await reopened(tx, deps, listing, at));
    }
    const ids = seeded.map((each) => each.id);
    for (const assetId of await unconfigure(tx, ids)) {
      await closeAsset(tx, { assetId, by: 'settings', at, reasons: [notConfigured] });
    }
    return seeded;
  });
}

/** The settings hold it closed no longer. */
async function reopened(
  tx: Tx,
  { log }: Pick<Deps, 'log'>,
  before: Listing,
  at: Date,
): Promise<Asset> {
  const lifts = before.state === 'closed' && before.closings.settings !== undefined;
  const assetId = before.asset.id;
  const { asset, state, closings } = lifts
    ? await reopenAsset(tx, { assetId, by: 'settings', at })
    : before;
  if (state !== 'open') {
    const { chain, symbol } = asset;
    log.warn({ chain, symbol, state, closings }, 'a configured asset is not open to trade');
  }
  return asset;
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

/** Both, open until the transaction ends. Throws as above, and `asset_closed`. */
export async function holdOpen(
  tx: Tx,
  baseAssetId: string,
  quoteAssetId: string,
): Promise<{ base: Asset; quote: Asset }> {
  const ids = [baseAssetId.toLowerCase(), quoteAssetId.toLowerCase()];
  // Sent together, and in this order: the rows are those of the time when the lock was had.
  const [held, pair] = await Promise.all([
    shareAssets(tx, ids),
    assetPair(tx, baseAssetId, quoteAssetId),
  ]);
  assertOpen(pair.base, pair.quote);
  if (held) return pair;
  throw new ParleyError(
    'asset_closed',
    `${pair.base.symbol} or ${pair.quote.symbol} is being closed or reopened: try in a second`,
  );
}

/** Throws `asset_closed` unless both may be traded. */
export function assertOpen(...assets: readonly Asset[]): void {
  const closed = assets.find((each) => !each.enabled);
  if (closed === undefined) return;
  const { id, symbol, chain } = closed;
  const sentence = `${symbol} on ${chain} (asset ${id}) ${closedWords(closed.closed)}`;
  throw new ParleyError('asset_closed', sentence, { assetId: id });
}

/** Why an operator halts may name what an attacker would like to know: it is told to nobody. */
function closedWords(closed: Closed | null): string {
  const again = 'GET /v1/assets shows it enabled again when it is open, and its RFQs return then';
  const halted = `the market takes no new swap of it, agreed ones go on; ${again}`;
  const since = closed?.since ? ` since ${closed.since}` : '';
  switch (closed?.by) {
    case 'delisted':
      return `is delisted${since}, for ever: trade another asset`;
    case 'chain':
      return `is halted by the operator for now with its whole chain${since}: ${halted}`;
    case 'halt':
      return `is halted by the operator for now${since}: ${halted}`;
    case 'other':
    case undefined:
      return `is closed to trade for now: ${again}`;
  }
}

type AmountOf = { readonly asset: Asset; readonly amount: bigint };

/**
 * Whether amounts can settle on their chains: dust, fees above the value. Throws
 * `amount_too_small`, `asset_closed`, `chain_timeout` or `chain_unavailable`.
 */
export async function checkAmounts(
  deps: Pick<Deps, 'adapters'>,
  amounts: readonly AmountOf[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(amounts.map((each) => checkAmount(deps, each, signal)));
}

/** The same of one. */
export async function checkAmount(
  { adapters }: Pick<Deps, 'adapters'>,
  { asset: { chain, address }, amount }: AmountOf,
  signal: AbortSignal,
): Promise<void> {
  const adapter = adapters.get(chain);
  if (adapter === undefined) {
    throw new ParleyError('asset_closed', `${chain} is not served here at the moment`, { chain });
  }
  await within(signal, chain, adapter.checkAmount(address, amount, signal));
}
