// Statements about RFQs. Whoever changes an RFQ or one of its threads holds the RFQ's row lock,
// taken before any other lock of the market but the account's.

import type { Direction } from '../../core/trade.ts';
import { type Asset, type AssetRow, assetOf, closedColumn } from './assets.ts';
import type { Tx } from './database.ts';

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
  /** As stored; market/rfq-life.ts says what it is. */
  readonly status: StoredStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

type RfqRow = {
  readonly id: string;
  readonly creator_id: string;
  readonly direction: Direction;
  readonly base_amount: string;
  readonly visibility: 'public' | 'private';
  readonly ask_amount: string | null;
  readonly target_address: string | null;
  readonly status: StoredStatus;
  readonly created_at: Date;
  readonly expires_at: Date;
};

/** An RFQ with both assets; the columns of `rfqColumns`. */
export type JoinedRfqRow = RfqRow & Prefixed<'base', AssetRow> & Prefixed<'quote', AssetRow>;

type Prefixed<P extends string, Row> = {
  readonly [K in keyof Row & string as `${P}_${K}`]: Row[K];
};

/**
 * Select list over `rfqs r`, `assets b` (base) and `assets q` (quote). That it is negotiated is
 * seen from its threads: a first quote that wrote it into the RFQ's row would write into seven
 * indexes as well (0.6 of the quotes a second on a large book).
 */
export const rfqColumns = `
  r.id, case when r.status = 'open' and exists (select from threads where rfq_id = r.id)
    then 'negotiating' else r.status end as status,
  r.created_at, r.creator_id, r.direction, r.base_amount, r.visibility, r.ask_amount,
  r.target_address, r.expires_at,
  b.id as base_id, b.chain as base_chain, b.symbol as base_symbol, b.address as base_address,
  b.decimals as base_decimals, b.enabled as base_enabled, b.verified as base_verified,
  b.source as base_source, b.high_value_from as base_high_value_from,
  ${closedColumn('b.')} as base_closed,
  q.id as quote_id, q.chain as quote_chain, q.symbol as quote_symbol, q.address as quote_address,
  q.decimals as quote_decimals, q.enabled as quote_enabled, q.verified as quote_verified,
  q.source as quote_source, q.high_value_from as quote_high_value_from,
  ${closedColumn('q.')} as quote_closed`;

export function rfqOf(row: JoinedRfqRow): Rfq {
  const asset = (prefix: 'base' | 'quote') =>
    assetOf({
      id: row[`${prefix}_id`],
      chain: row[`${prefix}_chain`],
      symbol: row[`${prefix}_symbol`],
      address: row[`${prefix}_address`],
      decimals: row[`${prefix}_decimals`],
      enabled: row[`${prefix}_enabled`],
      closed: row[`${prefix}_closed`],
      verified: row[`${prefix}_verified`],
      source: row[`${prefix}_source`],
      high_value_from: row[`${prefix}_high_value_from`],
    });
  return {
    id: row.id,
    creatorId: row.creator_id,
    direction: row.direction,
    base: asset('base'),
    baseAmount: BigInt(row.base_amount),
    quote: asset('quote'),
    visibility: row.visibility,
    askAmount: row.ask_amount === null ? null : BigInt(row.ask_amount),
    targetAddress: row.target_address,
    status: row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export async function insertRfq(tx: Tx, rfq: Rfq): Promise<void> {
  await tx.rows({
    name: 'rfqs_insert',
    text: `insert into rfqs
        (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id, visibility,
         ask_amount, target_address, status, created_at, expires_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $11)`,
    values: [
      rfq.id,
      rfq.creatorId,
      rfq.direction,
      rfq.base.id,
      rfq.baseAmount.toString(),
      rfq.quote.id,
      rfq.visibility,
      rfq.askAmount?.toString() ?? null,
      rfq.targetAddress,
      rfq.status,
      rfq.createdAt,
      rfq.expiresAt,
    ],
  });
}

export async function countLiveRfqs(tx: Tx, creatorId: string, now: Date): Promise<number> {
  const rows = await tx.rows<{ live: number }>({
    name: 'rfqs_count_live',
    text: `select count(*) as live from rfqs
      where creator_id = $1 and status in ('open', 'negotiating') and expires_at > $2`,
    values: [creatorId, now],
  });
  return rows[0]!.live;
}

export async function findRfq(tx: Tx, id: string): Promise<Rfq | null> {
  const rows = await tx.rows<JoinedRfqRow>({
    name: 'rfqs_find',
    text: `select ${rfqColumns} from rfqs r
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      where r.id = $1`,
    values: [id],
  });
  return rows[0] === undefined ? null : rfqOf(rows[0]);
}

/** Locks these RFQs in order of id and returns those that exist, as they are now. */
export async function lockRfqs(tx: Tx, ids: readonly string[]): Promise<Rfq[]> {
  const rows = await tx.rows<JoinedRfqRow>({
    name: 'rfqs_lock',
    text: `select ${rfqColumns} from rfqs r
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      where r.id = any($1::uuid[])
      order by r.id
      for no key update of r`,
    values: [ids],
  });
  return rows.map(rfqOf);
}

/** The same, leaving out RFQs that somebody else has locked. */
export async function lockFreeRfqs(tx: Tx, ids: readonly string[]): Promise<Rfq[]> {
  const rows = await tx.rows<JoinedRfqRow>({
    name: 'rfqs_lock_free',
    text: `select ${rfqColumns} from rfqs r
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      where r.id = any($1::uuid[])
      order by r.id
      for no key update of r skip locked`,
    values: [ids],
  });
  return rows.map(rfqOf);
}

export async function setRfqStatus(
  tx: Tx,
  id: string,
  status: StoredStatus,
  at: Date,
): Promise<void> {
  await tx.rows({
    name: 'rfqs_set_status',
    text: 'update rfqs set status = $2, updated_at = $3 where id = $1',
    values: [id, status, at],
  });
}

export type BookFilters = {
  readonly direction: Direction | null;
  readonly baseAssetId: string | null;
  readonly quoteAssetId: string | null;
};

/** The book before the id `before`, newest first, but those of `without`; ids are UUIDv7. */
export async function listBook(
  tx: Tx,
  filters: BookFilters,
  page: { readonly before: string | null; readonly limit: number },
  now: Date,
  without: string | null = null,
): Promise<Rfq[]> {
  const { direction, baseAssetId, quoteAssetId } = filters;
  const rows = await tx.rows<JoinedRfqRow>({
    name: 'rfqs_book',
    text: `select ${rfqColumns} from rfqs r
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      where r.visibility = 'public' and r.status in ('open', 'negotiating')
        and r.expires_at > $1 and b.enabled and q.enabled
        and ($2::text is null or r.direction = $2)
        and ($3::uuid is null or r.base_asset_id = $3)
        and ($4::uuid is null or r.quote_asset_id = $4)
        and ($5::uuid is null or r.id < $5)
        and ($7::uuid is null or r.creator_id <> $7)
      order by r.id desc
      limit $6`,
    values: [now, direction, baseAssetId, quoteAssetId, page.before, page.limit, without],
  });
  return rows.map(rfqOf);
}

/** Private RFQs for one of the addresses, by others than `without`; otherwise like the book. */
export async function listAddressed(
  tx: Tx,
  filters: BookFilters & { readonly addresses: readonly string[]; readonly without: string },
  page: { readonly before: string | null; readonly limit: number },
  now: Date,
): Promise<Rfq[]> {
  const { direction, baseAssetId, quoteAssetId, addresses, without } = filters;
  const rows = await tx.rows<JoinedRfqRow>({
    name: 'rfqs_addressed',
    text: `select ${rfqColumns} from rfqs r
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      where r.target_address = any($7::text[]) and r.status in ('open', 'negotiating')
        and r.expires_at > $1 and b.enabled and q.enabled
        and ($2::text is null or r.direction = $2)
        and ($3::uuid is null or r.base_asset_id = $3)
        and ($4::uuid is null or r.quote_asset_id = $4)
        and ($5::uuid is null or r.id < $5)
        and r.creator_id <> $8
      order by r.id desc
      limit $6`,
    values: [
      now,
      direction,
      baseAssetId,
      quoteAssetId,
      page.before,
      page.limit,
      addresses,
      without,
    ],
  });
  return rows.map(rfqOf);
}
