// Statements about RFQs. A transaction that changes an RFQ or one of its threads holds the RFQ's
// row lock, taken before any other lock of the market but the account's.

import type { Direction } from '@parley/core/trade.ts';
import {
  below,
  columns,
  count,
  foundFirst,
  many,
  none,
  one,
  plannedAnew,
} from '@parley/host/postgres/statements.ts';
import type { Standing } from './agreements.ts';
import { type Asset, assetColumns } from './assets.ts';

export type StoredStatus = 'open' | 'negotiating' | 'agreed' | 'cancelled' | 'expired';

export type Rfq = {
  readonly id: string;
  readonly creatorId: string;
  readonly direction: Direction;
  readonly base: Asset;
  readonly baseAmount: bigint;
  readonly quote: Asset;
  readonly visibility: 'public' | 'private';
  readonly askAmount: bigint | null;
  readonly targetAddress: string | null;
  /** Settled swaps that an account must have to quote; null: none. */
  readonly minSettled: number | null;
  /** As stored; market/negotiation.ts says what it is. */
  readonly status: StoredStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** As last counted; null: never. */
  readonly creatorStanding: Standing | null;
};

const plain =
  'id createdAt creatorId direction baseAmount visibility askAmount targetAddress minSettled expiresAt';

/**
 * The columns of an `Rfq`, in the object `into`, over `rfqJoins`. That it is negotiated is seen
 * from its threads: a first quote that wrote it would write into seven indexes (0.6 of the quotes a
 * second).
 */
export const rfqColumns = (into = '') => `${columns(plain, 'r.', into)},
  case when r.status = 'open' and exists (select from threads where rfq_id = r.id offset 0)
    then 'negotiating' else r.status end as "${into}status",
  cs.counts as "${into}creatorStanding",
  ${assetColumns('b.', `${into}base.`)}, ${assetColumns('q.', `${into}quote.`)}`;

export const rfqJoins = `join assets b on b.id = r.base_asset_id
  join assets q on q.id = r.quote_asset_id left join standings cs on cs.account_id = r.creator_id`;

export const selectRfqs = `select ${rfqColumns()} from rfqs r ${rfqJoins}`;

export const insertRfq = none<[rfq: Rfq]>('rfqs_insert')`
  insert into rfqs
      (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id, visibility,
       ask_amount, target_address, min_settled, status, created_at, expires_at, updated_at,
       creator_settled)
    values (:id, :creatorId, :direction, :base.id, :baseAmount, :quote.id, :visibility, :askAmount,
      :targetAddress, :minSettled, :status, :createdAt, :expiresAt, :createdAt,
      coalesce(:creatorStanding.settled::int, 0))`;

/** Follows the standings of these accounts, so that a book of settled ones is read by its index. */
export const followSettled = none<[creatorIds: readonly string[]]>('rfqs_follow_settled')`
  update rfqs r set creator_settled = n.settled
    from (select r.id, (s.counts ->> 'settled')::int as settled
        from rfqs r join standings s on s.account_id = r.creator_id
        where r.id = any(array(
            select own.id from unnest($1::uuid[]) c (id) cross join lateral
              ${foundFirst('rfqs', `creator_id = c.id and status in ('open', 'negotiating')`)} own))
          and r.status in ('open', 'negotiating')
          and r.creator_settled <> (s.counts ->> 'settled')::int
        order by r.id for no key update of r) n
    where r.id = n.id`;

export const countLiveRfqs = count<[creatorId: string, now: Date]>('rfqs_count_live')`
  select count(*) from rfqs
    where creator_id = $1 and status in ('open', 'negotiating')
      and expires_at + interval '0 s' > $2`;

export const findRfq = one<[id: string], Rfq>('rfqs_find')`
  ${selectRfqs} where r.id = $1`;

/** Those of these that exist, in any order. */
export const findRfqs = many<[ids: readonly string[]], Rfq>('rfqs_find_many')`
  ${selectRfqs} where r.id = any($1::uuid[])`;

/** Locks these RFQs in order of id and returns those that exist, as they are now. */
export const lockRfqs = many<[ids: readonly string[]], Rfq>('rfqs_lock')`
  ${selectRfqs} where r.id = any($1::uuid[]) order by r.id for no key update of r`;

/** An RFQ without what many of them share: its assets, and its creator's standing. */
type BareRfq = Omit<Rfq, 'base' | 'quote' | 'creatorStanding'> & {
  readonly baseAssetId: string;
  readonly quoteAssetId: string;
};

const lockBare = `select ${columns(`${plain} status baseAssetId quoteAssetId`)}
  from rfqs where id = any($1::uuid[]) order by id for no key update`;

/** Locks these RFQs likewise. The status `negotiating` is not read from their threads. */
export const lockBareRfqs = many<[ids: readonly string[]], BareRfq>('rfqs_lock_bare')`
  ${lockBare}`;

/** The same, leaving out RFQs that somebody else has locked. */
export const lockFreeRfqs = many<[ids: readonly string[]], BareRfq>('rfqs_lock_free')`
  ${lockBare} skip locked`;

export const setRfqStatus = none<[id: string, status: StoredStatus, at: Date]>('rfqs_set_status')`
  update rfqs set status = $2, updated_at = $3 where id = $1`;

export type BookFilters = {
  readonly direction: Direction | null;
  readonly baseAssetId: string | null;
  readonly quoteAssetId: string | null;
  /** Settled swaps of whoever posted it; null: any. */
  readonly minSettled: number | null;
};

/** All that is on it. */
export const wholeBook: BookFilters = {
  direction: null,
  baseAssetId: null,
  quoteAssetId: null,
  minSettled: null,
};

type Page = { readonly before: string | null; readonly limit: number };

const filtered = `(:direction::text is null or r.direction = :direction)
    and (:baseAssetId::uuid is null or r.base_asset_id = :baseAssetId)
    and (:quoteAssetId::uuid is null or r.quote_asset_id = :quoteAssetId)
    and (:minSettled::int is null or r.creator_settled >= :minSettled)
    and ${below('r.id', ':before')}`;
// Without an index on expiry, of whose rows PostgreSQL expects far too few: a live RFQ has not
// expired. It would sort all of the book for a page (25 ms of 10 000), which `book` has in order.
const live = `r.status in ('open', 'negotiating') and r.expires_at + interval '0 s' > $3`;
const traded = `b.enabled and q.enabled and ${filtered}`;
const onMarket = `${live} and ${traded}`;
const inBook = `r.visibility = 'public' and ${onMarket}`;

/** The book before the id `before`, newest first, but those of `without`; ids are UUIDv7. */
export const listBook = plannedAnew(
  many<[filters: BookFilters, page: Page, now: Date, without?: string | null], Rfq>('rfqs_book')`
  ${selectRfqs}
    where ${inBook} and ($4::uuid is null or r.creator_id <> $4)
    order by r.id desc limit :limit`,
);

/** Private RFQs for one of the addresses, by others than `without`; otherwise like the book. */
export const listAddressed = many<
  [
    filters: BookFilters & { readonly addresses: readonly string[]; readonly without: string },
    page: Page,
    now: Date,
  ],
  Rfq
>('rfqs_addressed')`
  ${selectRfqs}
    where r.target_address = any(:addresses::text[]) and ${onMarket} and r.creator_id <> :without
    order by r.id desc limit :limit`;

/** Live RFQs of one creator, private ones and those of closed assets too, newest first. */
export const listOwn = many<
  [filters: BookFilters & { readonly creatorId: string }, page: Page, now: Date],
  Rfq
>('rfqs_own')`
  ${selectRfqs}
    where r.creator_id = :creatorId and ${live} and ${filtered} order by r.id desc limit :limit`;
