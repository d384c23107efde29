// Statements about threads. Every writer holds the row lock of the thread's RFQ (rfqs.ts).

import type { Hashlock } from '@parley/core/hashlock.ts';
import type { Rules } from '@parley/core/rules.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { above, columns, is, many, none, one } from '@parley/host/postgres/statements.ts';
import type { Standing } from './agreements.ts';
import type { Tx } from './database.ts';
import { tellingClosed } from './feed-events.ts';
import { type Rfq, rfqColumns, rfqJoins } from './rfqs.ts';

/** A current price and who has accepted it. */
export type Price = {
  readonly quoteAmount: bigint;
  readonly proposedBy: Party;
  /** From then on nobody may accept it; null = it has no end of its own. */
  readonly expiresAt: number | null;
  /** Milliseconds since the epoch, as `expiresAt`. */
  readonly makerAcceptedAt: number | null;
  readonly takerAcceptedAt: number | null;
  /** The hashlock in the initiator's last acceptance of this price. */
  readonly hashlock: Hashlock | null;
  /** Those that it was accepted under; null where nobody has. */
  readonly rules: Rules | null;
};

/** One price of the history, as stored and as shown. */
export type Message = { readonly by: Party; readonly quoteAmount: string; readonly at: string };

export type AgreedLegs = {
  readonly long: LegName;
  /** From the agreement to each escrow's timelock. */
  readonly timelockSeconds: Readonly<Record<LegName, number>>;
  readonly rules: Rules;
};

export type Thread = {
  readonly id: string;
  readonly rfq: Rfq;
  readonly makerId: string;
  readonly takerId: string;
  /** As last counted; null: never. */
  readonly makerStanding: Standing | null;
  /** As stored: an open thread of an RFQ that is gone is closed. */
  readonly status: 'open' | 'agreed' | 'closed';
  /** The time at which its maker closed it by withdrawing the quote; null again after a new one. */
  readonly withdrawnAt: Date | null;
  readonly price: Price;
  /** Newest last, the latest 100. */
  readonly messages: readonly Message[];
  readonly swapId: string | null;
  /** The terms of its swap, whatever today's policies say; null without one. */
  readonly agreed: AgreedLegs | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

/** The columns of a `Price`, of a thread `t`, in the object `into`. */
export const priceColumns = (into: string) => `
  ${columns('quoteAmount proposedBy hashlock', 't.', into)}, t.accepted_rules as "${into}rules",
  ${milliseconds('t.quote_expires_at')} as "${into}expiresAt",
  ${milliseconds('t.maker_accepted_at')} as "${into}makerAcceptedAt",
  ${milliseconds('t.taker_accepted_at')} as "${into}takerAcceptedAt"`;

/** A `Thread` of `t`, its RFQ `r` and its swap `s`. */
export const selectThreads = `select
  ${columns('id makerId takerId status withdrawnAt messages createdAt updatedAt', 't.')},
  ${priceColumns('price.')}, ${rfqColumns('rfq.')}, ms.counts as "makerStanding",
  s.id as "swapId",
  s.long_leg as "agreed?.long", s.rules as "agreed?.rules",
  la.timelock - s.agreed_at as "agreed?.timelockSeconds.a",
  lb.timelock - s.agreed_at as "agreed?.timelockSeconds.b"
  from threads t join rfqs r on r.id = t.rfq_id ${rfqJoins}
    left join standings ms on ms.account_id = t.maker_id
    left join swaps s on s.thread_id = t.id
    left join legs la on la.swap_id = s.id and la.leg = 'a'
    left join legs lb on lb.swap_id = s.id and lb.leg = 'b'`;

/** A thread of one RFQ is open. The index of all open ones is not taken: it knows no RFQ. */
export const isOpen = `status || '' = 'open'`;

export const findThread = one<[id: string], Thread>('threads_find')`
  ${selectThreads} where t.id = $1`;

/**
 * The maker's thread on an RFQ. On a young market PostgreSQL takes the index of the RFQ's activity
 * for as cheap as the one that finds this thread, and reads it to its end. It lacks this order, which
 * makes it dearer.
 */
export const threadOf = (rfq: string, maker: string, found = '*'): string => `(
  select ${found} from threads where rfq_id = ${rfq} and maker_id between ${maker} and ${maker}
    order by maker_id limit 1)`;

export type Activity = { readonly updatedAt: string; readonly id: string };

/** Threads of an RFQ that `viewerId` may see, newest activity first, after `before`. */
export const listThreads = many<
  [rfqId: string, viewerId: string, before: Activity | null, limit: number],
  Thread
>('threads_list')`
  ${selectThreads}
    where t.rfq_id = $1 and (t.taker_id = $2 or t.maker_id = $2)
      and ($3.updatedAt::timestamptz is null or (t.updated_at, t.id) < ($3.updatedAt, $3.id::uuid))
    order by t.updated_at desc, t.id desc limit $4`;

/** The thread of its RFQ on which the taker's acceptance, given after `since`, stands `now`. */
export const findTakerAcceptance = one<[rfqId: string, since: Date, now: Date], Thread>(
  'threads_taker_acceptance',
)`
  ${selectThreads} where t.rfq_id = $1 and t.${isOpen} and t.taker_accepted_at > $2
      and (t.quote_expires_at is null or t.quote_expires_at > $3)
    order by t.taker_accepted_at desc limit 1`;

const instant = (ms: string) => `timestamptz 'epoch' + ${ms}::bigint * interval '1 millisecond'`;

/** Stores price, acceptances and history of an open thread. */
export const updatePrice = none<[thread: Thread]>('threads_update_price')`
  update threads set quote_amount = :price.quoteAmount, proposed_by = :price.proposedBy,
      quote_expires_at = ${instant(':price.expiresAt')},
      maker_accepted_at = ${instant(':price.makerAcceptedAt')},
      taker_accepted_at = ${instant(':price.takerAcceptedAt')}, hashlock = :price.hashlock,
      messages = :messages::jsonb, updated_at = :updatedAt, accepted_rules = :price.rules::jsonb
    where id = :id`;

/** One thread wins, the RFQ's others close. The other makers are told so, and no more. */
export const settleThreads = none<[rfqId: string, winner: string, at: Date]>('threads_settle')`
  with settled as (
      update threads set updated_at = $3,
          status = case when id = $2 then 'agreed' else 'closed' end
        where rfq_id = $1 and ${isOpen}
        returning id, rfq_id, maker_id as account_id, 'maker' as role, status
    ), lost as (select * from settled where status = 'closed'),
    ${tellingClosed('lost', `'agreed'`, '$3::timestamptz')}
    select * from woken`;

type Own = { makerId: string; after: string | null; limit: number };

/** Open threads of a maker and their RFQs, from the id `after` on, oldest first. */
export const listOpenOf = many<[of: Own], { readonly id: string; readonly rfqId: string }>(
  'threads_open_of',
)`
  select id, rfq_id as "rfqId" from threads
    where maker_id = :makerId and status = 'open' and ${above('id', ':after')}
    order by id limit :limit`;

/** These threads as they are now. */
export const findThreads = many<[ids: readonly string[]], Thread>('threads_find_many')`
  ${selectThreads} where t.id = any($1::uuid[]) order by t.id`;

/**
 * Closes these threads, which are open: their maker takes its quotes back. Takers are told so; a
 * maker that was gone too.
 */
export const withdrawThreads = none<
  [ids: readonly string[], reason: 'withdrawn' | 'disconnected', at: Date]
>('threads_withdraw')`
  with withdrawn as (
      update threads set status = 'closed', withdrawn_at = $3, updated_at = $3
        where id = any($1::uuid[])
        returning id, rfq_id, maker_id, taker_id
    ), closed as (
      select id, rfq_id, taker_id as account_id, 'taker' as role from withdrawn
      union all
      select id, rfq_id, maker_id, 'maker' from withdrawn where $2::text = 'disconnected'
    ), ${tellingClosed('closed', '$2::text', '$3::timestamptz')}
    select * from woken`;

/** The maker's acceptances in these threads, which are closed, bind it no more. */
export const freeMakers = none<[ids: readonly string[]]>('threads_free_makers')`
  update threads set maker_accepted_at = null
    where id = any($1::uuid[]) and maker_accepted_at is not null`;

/** Their RFQ was cancelled. */
export const closeThreads = none<[rfqId: string, at: Date]>('threads_close')`
  with closed as (
      update threads set status = 'closed', updated_at = $2
        where rfq_id = $1 and ${isOpen}
        returning id, rfq_id, maker_id as account_id, 'maker' as role
    ), ${tellingClosed('closed', `'cancelled'`, '$2::timestamptz')}
    select * from woken`;

type Offer = { hashlock: Hashlock; accountId: string; threadId: string; at: Date };

const insertHashlock = none<[offer: Offer]>('hashlocks_insert')`
  insert into hashlocks (hashlock, account_id, thread_id, created_at)
    values (:hashlock, :accountId, :threadId, :at) on conflict (hashlock) do nothing`;

const isOfferOf = is<[offer: Offer]>('hashlocks_find')`
  select account_id = :accountId and thread_id = :threadId from hashlocks
    where hashlock = :hashlock`;

/**
 * Offers a hashlock on a thread. Returns false when it was ever offered elsewhere or by another
 * account; waits for whoever offers the same one now.
 */
export async function offerHashlock(tx: Tx, offer: Offer): Promise<boolean> {
  await insertHashlock(tx, offer);
  return isOfferOf(tx, offer);
}
