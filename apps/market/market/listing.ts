// Closing and reopening an asset. It is open when nobody holds it closed: the settings do while it
// is not among their curated assets, the checks while it fails one, an operator until it lifts
// that. Its orders leave the book with it and come back with it, in one transaction with what the
// feed tells of them; their status never changes, and swaps that were agreed go on. A process that
// serves makers calls these through `feedWriting` (book.ts), so that it tells at once.

import { ParleyError } from '@parley/core/errors.ts';
import { dropCandidate } from '../db/candidates.ts';
import type { Tx } from '../db/database.ts';
import {
  type Closer,
  type Closings,
  findListing,
  type Listing,
  listOrders,
  lockAsset,
  lockListings,
  setCurated,
  setListing,
} from '../db/listing.ts';
import type { Rfq } from '../db/rfqs.ts';
import { tellMany } from './feed-log.ts';

/** Orders told of with one statement: some 20 ms of work. */
const batch = 500;

export type Change = {
  readonly assetId: string;
  readonly by: Closer;
  readonly at: Date;
};

export type Changed = Listing & {
  /** False where it was so already. */
  readonly changed: boolean;
  /** RFQs that left the book or came back to it. */
  readonly orders: number;
};

type Stand = Pick<Listing, 'closings' | 'delistedAt'>;

export type Closing = Change & {
  readonly reasons: readonly string[];
  readonly rejected?: true;
};

/** `by` holds the asset closed, for these reasons. */
export function closeAsset(tx: Tx, change: Closing): Promise<Changed> {
  return move(tx, change, ({ closings, delistedAt }) => ({
    closings: withClosing(closings, change),
    delistedAt,
  }));
}

/** For ever: it is never reopened. */
export function delistAsset(tx: Tx, change: Closing): Promise<Changed> {
  return move(tx, change, ({ closings, delistedAt }) => ({
    closings: delistedAt === null ? withClosing(closings, change) : closings,
    delistedAt: delistedAt ?? change.at,
  }));
}

/**
 * `by` holds it closed no longer; an operator lifts what the checks hold too. It may stay closed by
 * somebody else. Throws `asset_closed` where it is delisted.
 */
export function reopenAsset(tx: Tx, change: Change): Promise<Changed> {
  const lifted: readonly Closer[] = change.by === 'operator' ? ['operator', 'checks'] : [change.by];
  return move(tx, change, (before) => {
    assertNotDelisted(before);
    const kept = Object.entries(before.closings).filter(([by]) => !lifted.includes(by as Closer));
    return { closings: Object.fromEntries(kept), delistedAt: null };
  });
}

/** Curated by an operator; opens nothing. Throws `asset_closed` where it is delisted. */
export async function curateAsset(
  tx: Tx,
  assetId: string,
  highValueFrom: bigint | null,
): Promise<Changed> {
  await lockListings(tx);
  const before = await readListing(tx, assetId);
  assertNotDelisted(before);
  const listing = await setCurated(tx, assetId, highValueFrom);
  const { chain, address } = listing.asset;
  if (address !== null) await dropCandidate(tx, chain, address);
  const changed = (['source', 'verified', 'highValueFrom'] as const).some(
    (each) => before.asset[each] !== listing.asset[each],
  );
  return { ...listing, changed, orders: 0 };
}

function withClosing(closings: Closings, { by, at, reasons, rejected }: Closing): Closings {
  const known = closings[by];
  const same = known !== undefined && JSON.stringify(known.reasons) === JSON.stringify(reasons);
  if (same && known.rejected === rejected) return closings;
  const ending = rejected === undefined ? {} : { rejected };
  // Another reason does not make it a later halt.
  const since = by === 'halt' && known !== undefined ? known.at : at.toISOString();
  return { ...closings, [by]: { reasons, at: since, ...ending } };
}

function assertNotDelisted({ asset, delistedAt }: Listing): void {
  if (delistedAt === null) return;
  const { id, symbol, chain } = asset;
  throw new ParleyError(
    'asset_closed',
    `${symbol} on ${chain} (asset ${id}) was delisted at ${delistedAt.toISOString()}, for ever`,
    { assetId: id },
  );
}

async function readListing(tx: Tx, assetId: string): Promise<Listing> {
  const listing = await findListing(tx, assetId);
  if (listing !== null) return listing;
  throw new ParleyError('bad_asset', `there is no asset ${assetId}`, { assetId });
}

async function move(
  tx: Tx,
  { assetId, at }: Change,
  decide: (before: Listing) => Stand,
): Promise<Changed> {
  await lockListings(tx);
  const before = await readListing(tx, assetId);
  const { closings, delistedAt } = decide(before);
  const opens = delistedAt === null && Object.keys(closings).length === 0;
  if (JSON.stringify(closings) === JSON.stringify(before.closings)) {
    if (delistedAt === before.delistedAt) return { ...before, changed: false, orders: 0 };
  }
  const wasOpen = before.state === 'open';
  if (opens === wasOpen) {
    return { ...(await setListing(tx, assetId, closings, delistedAt)), changed: true, orders: 0 };
  }
  await lockAsset(tx, assetId);
  const after = await setListing(tx, assetId, closings, delistedAt);
  const kind = opens ? 'created' : 'cancelled';
  const orders =
    (await tellOrders(tx, kind, 'base', assetId, at)) +
    (await tellOrders(tx, kind, 'quote', assetId, at));
  return { ...after, changed: true, orders };
}

/** Reads the next while the last are being written. */
export async function tellOrders(
  tx: Tx,
  kind: 'created' | 'cancelled',
  side: 'base' | 'quote',
  assetId: string,
  at: Date,
): Promise<number> {
  let told = 0;
  let after: string | null = null;
  let writing: Promise<void> = Promise.resolve();
  for (;;) {
    const reading: Promise<Rfq[]> = listOrders[side](tx, assetId, { after, limit: batch }, at);
    await Promise.all([reading, writing]);
    const orders = await reading;
    writing = tellMany(tx, kind, orders, at);
    told += orders.length;
    after = orders.at(-1)?.id ?? null;
    if (orders.length < batch) break;
  }
  await writing;
  return told;
}
