// The deliveries to a webhook and their attempts, as its owner reads them.

import { changed, columns, did, many, value } from '@parley/host/postgres/statements.ts';
import { wholeBody } from './deliveries.ts';

type LoggedAttempt = {
  /** When it began. */
  readonly at: string;
  readonly milliseconds: number;
  /** HTTP status; 0 = no answer. */
  readonly status: number;
  readonly error: string | null;
  /** How the body of the answer begins. */
  readonly answer: string | null;
};

export type LoggedDelivery = {
  readonly id: string;
  readonly event: string;
  readonly state: 'waiting' | 'delivered' | 'dropped';
  readonly body: string;
  readonly createdAt: Date;
  readonly nextAt: Date;
  /** The newest first. */
  readonly attempts: readonly LoggedAttempt[];
};

/** One that was sent again often has more: the newest are shown. */
const mostAttemptsShown = 24;

type LogPage = {
  readonly webhookId: string;
  /** Where the page begins: below this delivery; both null = at the newest. */
  readonly beforeAt: Date | null;
  readonly beforeId: string | null;
  readonly limit: number;
};

/** The deliveries of a webhook that is known to be the caller's. */
export const deliveriesOf = many<[page: LogPage], LoggedDelivery>('deliveries_log')`
  select ${columns('id event state createdAt nextAt', 'd.')}, ${wholeBody},
    array(
      select json_build_object('at', a.at, 'milliseconds', a.milliseconds, 'status', a.status,
        'error', a.error, 'answer', a.answer)
      from delivery_attempts a where a.delivery_id = d.id
      order by a.attempt desc limit ${String(mostAttemptsShown)}) as attempts
  from deliveries d
  where d.webhook_id = :webhookId and (:beforeAt::timestamptz is null
    or (d.created_at, d.id) < (:beforeAt::timestamptz, :beforeId::uuid))
  order by d.created_at desc, d.id desc limit :limit`;

/** A swap has few of its own; prices, and pings, are as many as somebody likes to send. */
const ofSwaps = [
  'swap.agreed',
  'swap.funded',
  'secret.revealed',
  'swap.settled',
  'swap.refunded',
  'swap.half_settled',
  'swap.reorged',
  'swap.release',
  'swap.cosign',
];

/**
 * Deletes the oldest that ended of a webhook, at most `limit`, but for its `kept` newest and all
 * that are of swaps; returns how many. Reads `kept` entries of an index: 1 ms of 2 000.
 */
export const trimDeliveries = changed<[webhookId: string, kept: number, limit: number]>(
  'deliveries_trim',
)`
  delete from deliveries where id = any(array(
      select id from deliveries
        where webhook_id = $1 and state <> 'waiting'
          and event not in (${ofSwaps.map((each) => `'${each}'`).join(', ')})
          and (created_at, id) <= (select created_at, id from deliveries
            where webhook_id = $1 order by created_at desc, id desc offset $2 limit 1)
        order by created_at, id limit $3))
    returning id`;

export const ownsWebhook = did<[accountId: string, webhookId: string]>('webhooks_own')`
  select 1 from webhooks where account_id = $1 and id = $2`;

/** How a delivery of this webhook stands; null = it has none by this id. */
export const stateOfDelivery = value<
  [webhookId: string, deliveryId: string],
  LoggedDelivery['state']
>('deliveries_state')`
  select state from deliveries where webhook_id = $1 and id = $2`;

export const isSwitchedOff = did<[webhookId: string]>('webhooks_off')`
  select 1 from webhooks where id = $1 and not enabled`;
