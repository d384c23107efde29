// Statements about whether an asset may be traded, and about its orders. A transaction that closes
// or reopens holds the lock of all such changes, then the asset's own; one that relies on an asset
// being open until its commit shares the asset's. Both are taken behind every other lock of the
// market.

import {
  above,
  columns,
  is,
  list,
  many,
  none,
  one,
  only,
} from '@parley/host/postgres/statements.ts';
import { type Asset, assetColumns } from './assets.ts';
import type { Tx } from './database.ts';
import { type Closing, closingsOfChain } from './halts.ts';
import { type Rfq, selectRfqs } from './rfqs.ts';

/**
 * The parties that can hold an asset closed; `halt` and `chain` are the operator's kill switch of
 * the asset and of its chain, which is for all of the chain's assets (halts.ts).
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
};

const read = `${assetColumns('', 'asset.')}, state, closings,
  ${columns('delistedAt')}`;

/** One change of what may be traded at a time: changes of both assets of an RFQ see each other. */
export const lockListings = none('listing_lock')`
  select pg_advisory_xact_lock(hashtextextended('listing', 0))`;

/** Every lock of this transaction is waited for so long, then it fails with 55P03. */
export const boundLocks = none<[mostMs: number]>('listing_bound_locks')`
  select set_config('lock_timeout', $1, true)`;

/** Waits for everybody who relies on it; until the end of the transaction nobody else may. */
export const lockAsset = none<[id: string]>('listing_lock_asset')`
  select pg_advisory_xact_lock(hashtextextended($1, 0))`;

/**
 * False when one of them, or its chain, is being closed or reopened. Never waits: a waiting caller
 * would hold a connection that others need.
 */
export const shareAssets = is<[ids: readonly string[]]>('listing_share')`
  select bool_and(pg_try_advisory_xact_lock_shared(hashtextextended(a.id, 0))
        and pg_try_advisory_xact_lock_shared(hashtextextended('chain ' || known.chain, 0)))
      as shared
    from unnest($1::text[]) a (id) join assets known on known.id = a.id::uuid`;

export const findListing = one<[id: string], Listing>('listing_find')`
  select ${read} from assets where id = $1`;

/** `address`: canonical. */
export const findListedToken = one<[chain: string, address: string], Listing>('listing_find_token')`
  select ${read} from assets where chain = $1 and address = $2`;

type Wanted = {
  readonly id?: string | null;
  readonly symbol?: string | null;
  readonly chain?: string | null;
  readonly address?: string | null;
  readonly state?: ListingState | null;
};

const search = many<[wanted: Wanted & { isNative: boolean }, limit: number], Listing>(
  'listing_search',
)`
  select ${read} from assets
    where (:id::uuid is null or id = :id) and (:symbol::text is null or symbol = :symbol)
      and (:chain::text is null or chain = :chain)
      and (not :isNative or address is null) and (:address::text is null or address = :address
        or (address like '0x%' and lower(address) = lower(:address)))
      and (:state::text is null or state = :state)
    order by id limit $2`;

const anything = { id: null, symbol: null, chain: null, address: null, state: null };

/** By id, by symbol, or by chain and address (the native asset has none), oldest first. */
export const searchListings = (tx: Tx, wanted: Wanted, limit: number): Promise<Listing[]> =>
  search(tx, { ...anything, isNative: wanted.address === null, ...wanted }, limit);

/** Halted by themselves, oldest first. */
export const listHaltedAssets = many<[limit: number], Listing>('listing_halted')`
  select ${read} from assets where closings ? 'halt' order by id limit $1`;

/** Under both locks where it opens or closes by it, else under that of all changes. */
export const setListing = only<[id: string, closings: Closings, delistedAt: Date | null], Listing>(
  'listing_set',
)`
  update assets set closings = $2::jsonb, delisted_at = $3 where id = $1 returning ${read}`;

/** Curated by an operator: no start takes that back. */
export const setCurated = only<[id: string, highValueFrom: bigint | null], Listing>(
  'listing_curate',
)`
  update assets set source = 'curated', verified = true,
      high_value_from = coalesce($2, high_value_from)
    where id = $1 returning ${read}`;

/** Adds an asset of the settings, or brings the one of this chain and address up to date. */
export const upsertConfigured = only<
  [asset: Omit<Asset, 'enabled' | 'closed' | 'verified' | 'source'>, at: Date],
  Listing
>('listing_upsert_configured')`
  insert into assets
      (id, chain, symbol, address, decimals, verified, source, configured, high_value_from,
       created_at, closings)
    values (:id, :chain, :symbol, :address, :decimals, true, 'curated', true, :highValueFrom, $2,
      ${closingsOfChain(':chain')})
    on conflict (chain, address) do update set
      symbol = excluded.symbol, decimals = excluded.decimals, verified = true,
      source = 'curated', configured = true, high_value_from = excluded.high_value_from
    returning ${read}`;

/** Takes what is not among `ids` out of the configured; returns what was. */
export const unconfigure = list<[ids: readonly string[]], string>('listing_unconfigure')`
  with gone as (update assets set configured = false
      where configured and id <> all($1::uuid[]) returning id)
    select id from gone order by id`;

type OrdersPage = { readonly after: string | null; readonly limit: number };

const ordersOn = (side: 'base' | 'quote') =>
  many<[assetId: string, page: OrdersPage, now: Date], Rfq>(`listing_orders_${side}`)`
  ${selectRfqs}
    where r.${side}_asset_id = $1 and r.status in ('open', 'negotiating')
      and ${above('r.id', ':after')} and r.expires_at > $3
      and ${side === 'base' ? 'q' : 'b'}.enabled
      and (r.visibility = 'public' or r.target_address is not null)
    order by r.id limit :limit`;

/**
 * RFQs after the id `after` that are on the market but for this asset, which is on that side: the
 * other one is open. Only those that the feed tells of.
 */
export const listOrders = { base: ordersOn('base'), quote: ordersOn('quote') };
