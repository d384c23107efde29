// Statements of quoting, for many quotes at once: a batch costs as many round trips as one quote.
// The RFQs are locked (rfqs.ts).

import type { Family } from '../../core/families.ts';
import type { Hashlock } from '../../core/hashlock.ts';
import type { Rules } from '../../core/rules.ts';
import type { Tx } from './database.ts';
import type { OutboxEntry } from './outbox.ts';
import type { Message, Thread } from './threads.ts';

export type Pair = { readonly rfqId: string; readonly makerId: string };

export type Standing = {
  readonly families: readonly Family[];
  /** Login and proven addresses of the maker. */
  readonly addresses: readonly string[];
  /** Threads of the RFQ by anybody; 0 where the maker has one already. */
  readonly threads: number;
  readonly known: KnownThread | null;
};

export type KnownThread = {
  readonly id: string;
  readonly quote_amount: string;
  readonly proposed_by: 'maker' | 'taker';
  readonly maker_accepted_at: Date | null;
  readonly taker_accepted_at: Date | null;
  readonly hashlock: Hashlock | null;
  readonly accepted_rules: Rules | null;
  readonly messages: readonly Message[];
  readonly created_at: Date;
};

type StandingRow = Omit<KnownThread, 'id'> & {
  readonly id: string | null;
  readonly families: Family[] | null;
  readonly addresses: string[] | null;
  readonly thread_count: number;
};

/** Where each maker stands with its RFQ, in order. At most `most` threads are counted. */
export async function makerStandings(
  tx: Tx,
  pairs: readonly Pair[],
  most: number,
): Promise<Standing[]> {
  const rows = await tx.rows<StandingRow>({
    name: 'quotes_standing',
    text: `select t.id, t.quote_amount, t.proposed_by, t.maker_accepted_at, t.taker_accepted_at,
        t.hashlock, t.accepted_rules, t.messages, t.created_at, w.families, w.addresses,
        case when t.id is null then
          (select count(*) from (select 1 from threads where rfq_id = p.rfq_id limit $3) c)
        else 0 end as thread_count
      from unnest($1::uuid[], $2::uuid[]) with ordinality p (rfq_id, maker_id, position)
      left join threads t on t.rfq_id = p.rfq_id and t.maker_id = p.maker_id
      left join lateral (
        select array_agg(family) as families, array_agg(address) as addresses
        from wallets where account_id = p.maker_id
      ) w on true
      order by p.position`,
    values: [pairs.map((each) => each.rfqId), pairs.map((each) => each.makerId), most],
  });
  return rows.map(({ families, addresses, thread_count, id, ...known }) => ({
    families: families ?? [],
    addresses: addresses ?? [],
    threads: thread_count,
    known: id === null ? null : { id, ...known },
  }));
}

/**
 * Inserts these new threads, each with its first message, and these events. Notifies nobody
 * (work.ts).
 */
export async function insertThreads(
  tx: Tx,
  threads: readonly Thread[],
  events: readonly OutboxEntry[],
): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  await tx.rows({
    name: 'quotes_insert',
    text: `with told as (
        insert into outbox (topic, account_id, payload, created_at)
        select topic, account_id, payload, $7
        from unnest($8::text[], $9::uuid[], $10::jsonb[]) e (topic, account_id, payload))
      insert into threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
        messages, created_at, updated_at)
      select id, rfq_id, maker_id, taker_id, 'open', amount, 'maker', messages, $7, $7
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::numeric[], $6::jsonb[])
        n (id, rfq_id, maker_id, taker_id, amount, messages)`,
    values: [
      threads.map((each) => each.id),
      threads.map((each) => each.rfq.id),
      threads.map((each) => each.makerId),
      threads.map((each) => each.takerId),
      threads.map((each) => each.price.quoteAmount.toString()),
      threads.map((each) => JSON.stringify(each.messages)),
      first.at,
      events.map((each) => each.topic),
      events.map((each) => each.accountId),
      events.map((each) => JSON.stringify(each.payload)),
    ],
  });
}

/** Moves the price of these threads; a history that is full loses its oldest message. */
export async function moveThreads(
  tx: Tx,
  threads: readonly Thread[],
  mostMessages: number,
): Promise<void> {
  if (threads.length === 0) return;
  await tx.rows({
    name: 'quotes_move',
    text: `update threads t set quote_amount = n.amount, proposed_by = 'maker',
        maker_accepted_at = null, taker_accepted_at = null, hashlock = null, updated_at = $4,
        accepted_rules = null, messages = case when jsonb_array_length(t.messages) >= $5
          then t.messages - 0 else t.messages end || n.message
      from unnest($1::uuid[], $2::numeric[], $3::jsonb[]) n (id, amount, message)
      where t.id = n.id`,
    values: [
      threads.map((each) => each.id),
      threads.map((each) => each.price.quoteAmount.toString()),
      threads.map((each) => JSON.stringify(each.messages.at(-1))),
      threads[0]!.updatedAt,
      mostMessages,
    ],
  });
}
