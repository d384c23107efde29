// Statements of quoting, for many quotes at once: a batch costs as many round trips as one quote.
// The RFQs are locked (rfqs.ts).

import type { Family } from '@parley/core/families.ts';
import { many, none } from '@parley/host/postgres/statements.ts';
import type { Standing } from './agreements.ts';
import { type Asset, assetColumns } from './assets.ts';
import type { Tx } from './database.ts';
import type { OutboxEntry } from './outbox.ts';
import type { lockBareRfqs, Rfq } from './rfqs.ts';
import { type Message, priceColumns, type Thread, threadOf } from './threads.ts';

export type Pair = { readonly rfqId: string; readonly makerId: string };

/** The maker that quotes, at the RFQ. */
export type Quoter = {
  readonly families: readonly Family[];
  /** Login and proven addresses of the maker. */
  readonly addresses: readonly string[];
  /** Threads of the RFQ by anybody; 0 where the maker has one already. */
  readonly threads: number;
  /** How the maker kept its agreements, as last counted. */
  readonly kept: Standing | null;
  readonly isBlocked: boolean;
  readonly known: KnownThread | null;
};

/** The stored part of the maker's thread. */
type KnownThread = Pick<Thread, 'id' | 'price' | 'messages' | 'withdrawnAt' | 'createdAt'>;

/** The quote assets of those of these RFQs that exist, in any order. */
export const findQuoteAssets = many<
  [rfqIds: readonly string[]],
  { readonly rfqId: string; readonly asset: Asset }
>('quotes_assets')`
  select r.id as "rfqId", ${assetColumns('q.', 'asset.')}
    from rfqs r join assets q on q.id = r.quote_asset_id where r.id = any($1::uuid[])`;

/** A group needs each asset, maker and standing once, however many of its quotes are about it. */
type Shared = {
  readonly assets: readonly (Omit<Asset, 'highValueFrom'> & {
    readonly highValue: string | null;
  })[];
  readonly makers: readonly {
    readonly id: string;
    readonly isBlocked: boolean;
    readonly wallets: readonly { readonly family: Family; readonly address: string }[];
  }[];
  /** By account. */
  readonly standings: Readonly<Record<string, Standing>>;
};

/** A maker at an RFQ. Only the first of them has what all share. */
type Standpoint = Pick<Quoter, 'known' | 'threads'> & { readonly shared: Shared };

const shared = `(
  with traded as materialized (
    select base_asset_id, quote_asset_id, creator_id from rfqs where id = any($1.rfqId::uuid[]))
  select json_build_object(
    'assets', coalesce((select json_agg(a) from (
      select ${assetColumns()}, high_value_from::text as "highValue" from assets
        where id = any(array(
          select base_asset_id from traded union select quote_asset_id from traded))) a), '[]'),
    'makers', (select json_agg(m) from (
      select m.id, a.blocked_at is not null as "isBlocked", coalesce((
          select json_agg(json_build_object('family', family, 'address', address))
            from wallets where account_id = m.id), '[]') as wallets
        from (select distinct unnest($1.makerId::uuid[]) as id) m
          left join accounts a on a.id = m.id) m),
    'standings', coalesce((select json_object_agg(account_id, counts) from standings
      where account_id = any($1.makerId::uuid[] || array(select creator_id from traded))), '{}')))`;

/** The caller knows how many threads the RFQ has; null: they are counted. */
type Asked = Pair & { readonly threads: number | null };

/** Standpoints come in the order of the pairs. At most `most` threads are counted. */
const findStandpoints = many<[pairs: readonly Asked[], most: number], Standpoint>('quotes_quoters')`
  select t.id as "known?.id", t.messages as "known?.messages", t.created_at as "known?.createdAt",
      t.withdrawn_at as "known?.withdrawnAt", ${priceColumns('known?.price.')},
      case when t.id is null then
        coalesce(p.threads,
          (select count(*) from (select 1 from threads where rfq_id = p.rfq_id limit $2) c))
      else 0 end as threads,
      case when p.position = 1 then ${shared} end as shared
    from unnest($1.rfqId::uuid[], $1.makerId::uuid[], $1.threads::int[])
      with ordinality p (rfq_id, maker_id, threads, position)
    left join lateral ${threadOf('p.rfq_id', 'p.maker_id')} t on true
    order by p.position`;

/** The rows that quotes are decided by. */
export type Quoting = {
  /** The RFQs that are locked for them. */
  readonly locked: readonly Rfq[];
  /** In the order of the quotes. */
  readonly quoters: readonly Quoter[];
};

/**
 * PostgreSQL plans each statement of this transaction once a connection. A short list makes the
 * plan for all lists look dear, and PostgreSQL would plan anew each time: 0.4 ms a quote.
 */
const planOnce = none('quotes_plan_once')`set local plan_cache_mode = force_generic_plan`;

/** Locks the RFQs of these pairs by `lock`, and reads behind it. At most `most` threads count. */
export async function findQuoting(
  tx: Tx,
  pairs: readonly Asked[],
  most: number,
  lock: typeof lockBareRfqs,
): Promise<Quoting> {
  if (pairs.length === 0) return { locked: [], quoters: [] };
  const [, locked, standpoints] = await Promise.all([
    planOnce(tx),
    lock(tx, [...new Set(pairs.map(({ rfqId }) => rfqId))]),
    findStandpoints(tx, pairs, most),
  ]);
  const { standings, ...found } = standpoints[0]!.shared;
  const assets = new Map(
    found.assets.map(({ highValue, ...asset }) => [
      asset.id,
      { ...asset, highValueFrom: highValue === null ? null : BigInt(highValue) },
    ]),
  );
  const makers = new Map(
    found.makers.map(({ id, isBlocked, wallets }) => [
      id,
      {
        isBlocked,
        families: wallets.map(({ family }) => family),
        addresses: wallets.map(({ address }) => address),
        kept: standings[id] ?? null,
      },
    ]),
  );
  return {
    locked: locked.map(({ baseAssetId, quoteAssetId, ...rfq }) => ({
      ...rfq,
      base: assets.get(baseAssetId)!,
      quote: assets.get(quoteAssetId)!,
      creatorStanding: standings[rfq.creatorId] ?? null,
    })),
    quoters: pairs.map(({ makerId }, at) => {
      const { known, threads } = standpoints[at]!;
      return { ...makers.get(makerId)!, known, threads };
    }),
  };
}

type Rows = readonly (Pick<Thread, 'id' | 'makerId' | 'takerId' | 'messages'> & {
  readonly rfqId: string;
  readonly amount: bigint;
  readonly expiresAt: Date | null;
})[];

const insertAll = none<[threads: Rows, events: readonly OutboxEntry[], at: Date]>('quotes_insert')`
  with told as (
      insert into outbox (topic, account_id, payload, created_at)
      select topic, account_id, payload, $3
      from unnest($2.topic::text[], $2.accountId::uuid[], $2.payload::jsonb[])
        e (topic, account_id, payload))
    insert into threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
      quote_expires_at, messages, created_at, updated_at)
    select id, rfq_id, maker_id, taker_id, 'open', amount, 'maker', expires_at, messages, $3, $3
    from unnest($1.id::uuid[], $1.rfqId::uuid[], $1.makerId::uuid[], $1.takerId::uuid[],
      $1.amount::numeric[], $1.expiresAt::timestamptz[], $1.messages::jsonb[])
      n (id, rfq_id, maker_id, taker_id, amount, expires_at, messages)`;

/** Inserts new threads, each with its first message, and events. Notifies nobody (work.ts). */
export async function insertThreads(
  tx: Tx,
  threads: readonly Thread[],
  events: readonly OutboxEntry[],
): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  const rows = threads.map((each) => ({
    ...each,
    rfqId: each.rfq.id,
    amount: each.price.quoteAmount,
    expiresAt: instantOf(each.price),
  }));
  await insertAll(tx, rows, events, first.at);
}

const instantOf = ({ expiresAt }: Thread['price']) =>
  expiresAt === null ? null : new Date(expiresAt);

type Moves = readonly {
  readonly id: string;
  readonly amount: bigint;
  readonly expiresAt: Date | null;
  readonly message: Message;
}[];

const moveAll = none<[moves: Moves, at: Date, mostMessages: number]>('quotes_move')`
  update threads t set quote_amount = n.amount, proposed_by = 'maker',
      status = 'open', withdrawn_at = null, quote_expires_at = n.expires_at,
      maker_accepted_at = null, taker_accepted_at = null, hashlock = null, updated_at = $2,
      accepted_rules = null, messages = case when jsonb_array_length(t.messages) >= $3
        then t.messages - 0 else t.messages end || n.message
    from unnest($1.id::uuid[], $1.amount::numeric[], $1.expiresAt::timestamptz[],
      $1.message::jsonb[]) n (id, amount, expires_at, message)
    where t.id = n.id`;

/**
 * Moves the price of these threads, which opens those withdrawn. A history that is full loses its
 * oldest message.
 */
export async function moveThreads(
  tx: Tx,
  threads: readonly Thread[],
  mostMessages: number,
): Promise<void> {
  const [first] = threads;
  if (first === undefined) return;
  const moves = threads.map(({ id, price, messages }) => ({
    id,
    amount: price.quoteAmount,
    expiresAt: instantOf(price),
    message: messages.at(-1)!,
  }));
  await moveAll(tx, moves, first.updatedAt, mostMessages);
}
