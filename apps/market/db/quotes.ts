// Statements of quoting, for many quotes at once: a batch costs as many round trips as one quote.
// The RFQs are locked (rfqs.ts).

import type { Family } from '@parley/core/families.ts';
import { many, none } from '@parley/host/postgres/statements.ts';
import type { Standing } from './agreements.ts';
import { type Asset, assetColumns } from './assets.ts';
import type { Tx } from './database.ts';
import type { OutboxEntry } from './outbox.ts';
import { type Message, priceColumns, type Thread } from './threads.ts';

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

/**
 * The quoters of each maker and RFQ, in order. At most `most` threads are counted. Lists come as
 * JSON, which pg reads four times as fast as an array: 3 us of a quote's 100.
 */
export const findQuoters = many<[pairs: readonly Pair[], most: number], Quoter>('quotes_quoters')`
  select t.id as "known?.id", t.messages as "known?.messages", t.created_at as "known?.createdAt",
      t.withdrawn_at as "known?.withdrawnAt", ${priceColumns('known?.price.')},
      k.counts as kept, a.blocked_at is not null as "isBlocked",
      coalesce(w.families, '[]') as families, coalesce(w.addresses, '[]') as addresses,
      case when t.id is null then
        (select count(*) from (select 1 from threads where rfq_id = p.rfq_id limit $2) c)
      else 0 end as threads
    from unnest($1.rfqId::uuid[], $1.makerId::uuid[]) with ordinality p (rfq_id, maker_id, position)
    left join threads t on t.rfq_id = p.rfq_id and t.maker_id = p.maker_id
    left join standings k on k.account_id = p.maker_id
    left join accounts a on a.id = p.maker_id
    left join lateral (
      select json_agg(family) as families, json_agg(address) as addresses
      from wallets where account_id = p.maker_id
    ) w on true
    order by p.position`;

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
