// Statements about whether an asset may be traded, and about its orders. Whoever closes or reopens
// holds the lock of all such changes, then the asset's own; whoever relies on an asset being open
// until its commit shares the asset's. Both are taken behind every other lock of the market.

import { type Asset, type AssetRow, assetColumns, assetOf } from './assets.ts';
import type { Tx } from './database.ts';
import { type Closing, closingsOfChain } from './halts.ts';
import { type JoinedRfqRow, type Rfq, rfqColumns, rfqOf } from './rfqs.ts';

/**
 * Who can hold an asset closed; `halt` and `chain` are the operator's kill switch of the asset and
 * of its chain, which is for all of the chain's assets (halts.ts).
 */
export type Closer = 'settings' | 'checks' | 'operator' | 'halt' | 'chain';
export type Closings = { readonly [By in Closer]?: Closing };
export type ListingState = 'open' | 'closed' | 'delisted';

export type Listing = {
  readonly asset: Asset;
  readonly state: ListingState;
  /** Each lifts its own; an open asset has none. */
  readonly closings: Closings;
  readonly delistedAt: Date | null;
  /** When the last look at it began, and when the next one is due; null of what has none. */
  readonly checkedAt: Date | null;
  readonly nextCheckAt: Date | null;
};

type ListingRow = AssetRow & {
  readonly state: ListingState;
  readonly closings: Closings;
  readonly delisted_at: Date | null;
  readonly checked_at: Date | null;
  readonly next_check_at: Date | null;
};

const columns = `${assetColumns}, state, closings, delisted_at, checked_at, next_check_at`;

function listingOf(row: ListingRow): Listing {
  const { state, closings, delisted_at, checked_at, next_check_at, ...asset } = row;
  const times = { delistedAt: delisted_at, checkedAt: checked_at, nextCheckAt: next_check_at };
  return { asset: assetOf(asset), state, closings, ...times };
}

/** One change of what may be traded at a time: of two assets of an RFQ each sees the other's. */
export async function lockListings(tx: Tx): Promise<void> {
  await tx.rows({
    name: 'listing_lock',
    text: `select pg_advisory_xact_lock(hashtextextended('listing', 0))`,
    values: [],
  });
}

/** Every lock of this transaction is waited for so long, then it fails with 55P03. */
export async function boundLocks(tx: Tx, mostMs: number): Promise<void> {
  await tx.rows({
    name: 'listing_bound_locks',
    text: `select set_config('lock_timeout', $1, true)`,
    values: [String(mostMs)],
  });
}

/** Waits for everybody who relies on it; until the end of the transaction nobody else may. */
export async function lockAsset(tx: Tx, id: string): Promise<void> {
  await tx.rows({
    name: 'listing_lock_asset',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [id],
  });
}

/**
 * False when one of them, or its chain, is being closed or reopened. Never waits: whoever waited
 * would hold a connection that others need.
 */
export async function shareAssets(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const [row] = await tx.rows<{ shared: boolean }>({
    name: 'listing_share',
    text: `select bool_and(pg_try_advisory_xact_lock_shared(hashtextextended(a.id, 0))
          and pg_try_advisory_xact_lock_shared(hashtextextended('chain ' || known.chain, 0)))
        as shared
      from unnest($1::text[]) a (id) join assets known on known.id = a.id::uuid`,
    values: [ids],
  });
  return row?.shared ?? false;
}

export async function findListing(tx: Tx, id: string): Promise<Listing | null> {
  const [row] = await tx.rows<ListingRow>({
    name: 'listing_find',
    text: `select ${columns} from assets where id = $1`,
    values: [id],
  });
  return row === undefined ? null : listingOf(row);
}

/** `address`: canonical. */
export async function findListedToken(
  tx: Tx,
  chain: string,
  address: string,
): Promise<Listing | null> {
  const [row] = await tx.rows<ListingRow>({
    name: 'listing_find_token',
    text: `select ${columns} from assets where chain = $1 and address = $2`,
    values: [chain, address],
  });
  return row === undefined ? null : listingOf(row);
}

/** By id, by symbol, or by chain and address (the native asset has none), oldest first. */
export async function searchListings(
  tx: Tx,
  wanted: {
    readonly id?: string;
    readonly symbol?: string;
    readonly chain?: string;
    readonly address?: string | null;
    readonly state?: ListingState;
  },
  limit: number,
): Promise<Listing[]> {
  const { id, symbol, chain, address, state } = wanted;
  const rows = await tx.rows<ListingRow>({
    name: 'listing_search',
    text: `select ${columns} from assets
      where ($1::uuid is null or id = $1) and ($2::text is null or symbol = $2)
        and ($3::text is null or chain = $3)
        and (not $4 or address is null) and ($5::text is null or address = $5
          or (address like '0x%' and lower(address) = lower($5)))
        and ($6::text is null or state = $6)
      order by id
      limit $7`,
    values: [
      id ?? null,
      symbol ?? null,
      chain ?? null,
      address === null,
      address ?? null,
      state ?? null,
      limit,
    ],
  });
  return rows.map(listingOf);
}

/** Halted by themselves, oldest first. */
export async function listHaltedAssets(tx: Tx, limit: number): Promise<Listing[]> {
  const rows = await tx.rows<ListingRow>({
    name: 'listing_halted',
    text: `select ${columns} from assets where closings ? 'halt' order by id limit $1`,
    values: [limit],
  });
  return rows.map(listingOf);
}

/** Under both locks where it opens or closes by it, else under that of all changes. */
export async function setListing(
  tx: Tx,
  id: string,
  closings: Closings,
  delistedAt: Date | null,
): Promise<Listing> {
  const rows = await tx.rows<ListingRow>({
    name: 'listing_set',
    text: `update assets set closings = $2, delisted_at = $3 where id = $1 returning ${columns}`,
    values: [id, JSON.stringify(closings), delistedAt],
  });
  return listingOf(rows[0]!);
}

/** Curated by an operator: no start takes that back. */
export async function setCurated(
  tx: Tx,
  id: string,
  highValueFrom: bigint | null,
): Promise<Listing> {
  const rows = await tx.rows<ListingRow>({
    name: 'listing_curate',
    text: `update assets set source = 'curated', verified = true,
        high_value_from = coalesce($2, high_value_from)
      where id = $1 returning ${columns}`,
    values: [id, highValueFrom?.toString() ?? null],
  });
  return listingOf(rows[0]!);
}

/** Adds an asset of the settings, or brings the one of this chain and address up to date. */
export async function upsertConfigured(
  tx: Tx,
  asset: Omit<Asset, 'enabled' | 'closed' | 'verified' | 'source'>,
  at: Date,
): Promise<Listing> {
  const { id, chain, symbol, address, decimals, highValueFrom } = asset;
  const rows = await tx.rows<ListingRow>({
    name: 'listing_upsert_configured',
    text: `insert into assets
        (id, chain, symbol, address, decimals, verified, source, configured, high_value_from,
         created_at, closings)
      values ($1, $2, $3, $4, $5, true, 'curated', true, $6, $7, ${closingsOfChain('$2')})
      on conflict (chain, address) do update set
        symbol = excluded.symbol, decimals = excluded.decimals, verified = true,
        source = 'curated', configured = true, high_value_from = excluded.high_value_from
      returning ${columns}`,
    values: [id, chain, symbol, address, decimals, highValueFrom?.toString() ?? null, at],
  });
  return listingOf(rows[0]!);
}

/** Takes what is not among `ids` out of the configured; returns what was. */
export async function unconfigure(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>({
    name: 'listing_unconfigure',
    text: `update assets set configured = false
      where configured and id <> all($1::uuid[]) returning id`,
    values: [ids],
  });
  return rows.map((each) => each.id).sort();
}

/**
 * RFQs after the id `after` that are on the market but for this asset, which is on that side: the
 * other one is open. Only those that the feed tells of.
 */
export async function listOrders(
  tx: Tx,
  side: 'base' | 'quote',
  assetId: string,
  page: { readonly after: string | null; readonly limit: number },
  now: Date,
): Promise<Rfq[]> {
  const other = side === 'base' ? 'q' : 'b';
  const rows = await tx.rows<JoinedRfqRow>({
    name: `listing_orders_${side}`,
    text: `select ${rfqColumns} from rfqs r
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      where r.${side}_asset_id = $1 and r.status in ('open', 'negotiating')
        and ($2::uuid is null or r.id > $2) and r.expires_at > $3 and ${other}.enabled
        and (r.visibility = 'public' or r.target_address is not null)
      order by r.id
      limit $4`,
    values: [assetId, page.after, now, page.limit],
  });
  return rows.map(rfqOf);
}
