// Statements about threads. Every writer holds the row lock of the thread's RFQ (rfqs.ts).

import type { Hashlock } from '../../core/hashlock.ts';
import type { Rules } from '../../core/rules.ts';
import type { LegName, Party } from '../../core/trade.ts';
import type { Tx } from './database.ts';
import { type JoinedRfqRow, type Rfq, rfqColumns, rfqOf } from './rfqs.ts';

/** A current price and who has accepted it. */
export type Price = {
  readonly quoteAmount: bigint;
  readonly proposedBy: Party;
  /** Milliseconds since the epoch. */
  readonly makerAcceptedAt: number | null;
  readonly takerAcceptedAt: number | null;
  /** What the initiator's last acceptance of this price carries. */
  readonly hashlock: Hashlock | null;
  /** Those that it was accepted under; null where nobody has, or nobody knows. */
  readonly rules: Rules | null;
};

/** One price of the history, as stored and as shown. */
export type Message = { readonly by: Party; readonly quoteAmount: string; readonly at: string };

export type AgreedLegs = {
  readonly long: LegName;
  /** From the agreement to each escrow's timelock. */
  readonly timelockSeconds: Readonly<Record<LegName, number>>;
  readonly rules: Rules | null;
};

export type Thread = {
  readonly id: string;
  readonly rfq: Rfq;
  readonly makerId: string;
  readonly takerId: string;
  /** As stored: an open thread of an RFQ that is gone is closed. */
  readonly status: 'open' | 'agreed' | 'closed';
  readonly price: Price;
  /** Newest last, the latest 100. */
  readonly messages: readonly Message[];
  readonly swapId: string | null;
  /** What its swap has, whatever today's policies say; null without one. */
  readonly agreed: AgreedLegs | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

type ThreadRow = JoinedRfqRow & {
  readonly thread_id: string;
  readonly maker_id: string;
  readonly taker_id: string;
  readonly thread_status: 'open' | 'agreed' | 'closed';
  readonly quote_amount: string;
  readonly proposed_by: Party;
  readonly maker_accepted_at: Date | null;
  readonly taker_accepted_at: Date | null;
  readonly hashlock: Hashlock | null;
  readonly accepted_rules: Rules | null;
  readonly messages: readonly Message[];
  readonly thread_created_at: Date;
  readonly thread_updated_at: Date;
  readonly swap_id: string | null;
  readonly swap_long: LegName | null;
  readonly swap_rules: Rules | null;
  readonly seconds_a: number;
  readonly seconds_b: number;
};

const threadColumns = `
  t.id as thread_id, t.maker_id, t.taker_id, t.status as thread_status, t.quote_amount,
  t.proposed_by, t.maker_accepted_at, t.taker_accepted_at, t.hashlock, t.accepted_rules,
  t.messages, t.created_at as thread_created_at, t.updated_at as thread_updated_at, s.id as swap_id,
  s.long_leg as swap_long, s.rules as swap_rules, la.timelock - s.agreed_at as seconds_a,
  lb.timelock - s.agreed_at as seconds_b`;

const selectThreads = `select ${threadColumns}, ${rfqColumns} from threads t
      join rfqs r on r.id = t.rfq_id
      join assets b on b.id = r.base_asset_id
      join assets q on q.id = r.quote_asset_id
      left join swaps s on s.thread_id = t.id
      left join legs la on la.swap_id = s.id and la.leg = 'a'
      left join legs lb on lb.swap_id = s.id and lb.leg = 'b'`;

function threadOf(row: ThreadRow): Thread {
  return {
    id: row.thread_id,
    rfq: rfqOf(row),
    makerId: row.maker_id,
    takerId: row.taker_id,
    status: row.thread_status,
    price: {
      quoteAmount: BigInt(row.quote_amount),
      proposedBy: row.proposed_by,
      makerAcceptedAt: row.maker_accepted_at?.getTime() ?? null,
      takerAcceptedAt: row.taker_accepted_at?.getTime() ?? null,
      hashlock: row.hashlock,
      rules: row.accepted_rules,
    },
    messages: row.messages,
    swapId: row.swap_id,
    agreed: agreedOf(row),
    createdAt: row.thread_created_at,
    updatedAt: row.thread_updated_at,
  };
}

function agreedOf({ swap_long, swap_rules, ...row }: ThreadRow): AgreedLegs | null {
  if (swap_long === null) return null;
  const timelockSeconds = { a: row.seconds_a, b: row.seconds_b };
  return { long: swap_long, timelockSeconds, rules: swap_rules };
}

export async function findThread(tx: Tx, id: string): Promise<Thread | null> {
  const rows = await tx.rows<ThreadRow>({
    name: 'threads_find',
    text: `${selectThreads}
      where t.id = $1`,
    values: [id],
  });
  return rows[0] === undefined ? null : threadOf(rows[0]);
}

export type Activity = { readonly updatedAt: string; readonly id: string };

/** Threads of an RFQ that `viewerId` may see, newest activity first, after `before`. */
export async function listThreads(
  tx: Tx,
  rfqId: string,
  viewerId: string,
  before: Activity | null,
  limit: number,
): Promise<Thread[]> {
  const rows = await tx.rows<ThreadRow>({
    name: 'threads_list',
    text: `${selectThreads}
      where t.rfq_id = $1 and (t.taker_id = $2 or t.maker_id = $2)
        and ($3::timestamptz is null or (t.updated_at, t.id) < ($3, $4::uuid))
      order by t.updated_at desc, t.id desc
      limit $5`,
    values: [rfqId, viewerId, before?.updatedAt ?? null, before?.id ?? null, limit],
  });
  return rows.map(threadOf);
}

/** Whether this account's acceptance, given after `since`, stands on some thread of its RFQ. */
export async function findTakerAcceptance(
  tx: Tx,
  rfqId: string,
  since: Date,
): Promise<Thread | null> {
  const rows = await tx.rows<ThreadRow>({
    name: 'threads_taker_acceptance',
    text: `${selectThreads}
      where t.rfq_id = $1 and t.status = 'open' and t.taker_accepted_at > $2
      order by t.taker_accepted_at desc
      limit 1`,
    values: [rfqId, since],
  });
  return rows[0] === undefined ? null : threadOf(rows[0]);
}

/** Stores price, acceptances and history of an open thread. */
export async function updatePrice(tx: Tx, thread: Thread): Promise<void> {
  const { price } = thread;
  const instant = (ms: number | null) => (ms === null ? null : new Date(ms));
  await tx.rows({
    name: 'threads_update_price',
    text: `update threads set quote_amount = $2, proposed_by = $3, maker_accepted_at = $4,
        taker_accepted_at = $5, hashlock = $6, messages = $7, updated_at = $8,
        accepted_rules = $9
      where id = $1`,
    values: [
      thread.id,
      price.quoteAmount.toString(),
      price.proposedBy,
      instant(price.makerAcceptedAt),
      instant(price.takerAcceptedAt),
      price.hashlock,
      JSON.stringify(thread.messages),
      thread.updatedAt,
      price.rules === null ? null : JSON.stringify(price.rules),
    ],
  });
}

/** One thread wins, the RFQ's others close. */
export async function settleThreads(tx: Tx, rfqId: string, winner: string, at: Date) {
  await tx.rows({
    name: 'threads_settle',
    text: `update threads set updated_at = $3,
        status = case when id = $2 then 'agreed' else 'closed' end
      where rfq_id = $1 and status = 'open'`,
    values: [rfqId, winner, at],
  });
}

export async function closeThreads(tx: Tx, rfqId: string, at: Date): Promise<void> {
  await tx.rows({
    name: 'threads_close',
    text: `update threads set status = 'closed', updated_at = $2
      where rfq_id = $1 and status = 'open'`,
    values: [rfqId, at],
  });
}

/**
 * Offers a hashlock on a thread. Returns false when it was ever offered elsewhere or by another
 * account; waits for whoever offers the same one now.
 */
export async function offerHashlock(
  tx: Tx,
  offer: { hashlock: Hashlock; accountId: string; threadId: string; at: Date },
): Promise<boolean> {
  const { hashlock, accountId, threadId, at } = offer;
  await tx.rows({
    name: 'hashlocks_insert',
    text: `insert into hashlocks (hashlock, account_id, thread_id, created_at)
      values ($1, $2, $3, $4) on conflict (hashlock) do nothing`,
    values: [hashlock, accountId, threadId, at],
  });
  const rows = await tx.rows<{ account_id: string; thread_id: string }>({
    name: 'hashlocks_find',
    text: 'select account_id, thread_id from hashlocks where hashlock = $1',
    values: [hashlock],
  });
  return rows[0]?.account_id === accountId && rows[0].thread_id === threadId;
}
