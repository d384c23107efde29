// Webhooks as operators see them, and what they do about one. Operators see only the host of a
// receiver: the rest of an address may hold a word that lets in.

import { changed, columns, did, list, many, one } from '@parley/host/postgres/statements.ts';

export type ShownWebhook = {
  readonly id: string;
  readonly accountId: string;
  readonly host: string;
  readonly enabled: boolean;
  /** Why an operator holds it off; null = none does. */
  readonly offFor: string | null;
  readonly failingSince: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly lastDeliveryAt: Date | null;
  readonly waiting: number;
  /** The number of the last 7 days. */
  readonly dropped: number;
};

const own = 'id accountId enabled offFor failingSince lastStatus lastError lastDeliveryAt waiting';
const shown = `select ${columns(own, 'w.')},
    split_part(split_part(w.url, '/', 3), ':', 1) as host,
    (select count(*) from (select 1 from deliveries d
      where d.webhook_id = w.id and d.state = 'dropped' limit 1000) gone) as dropped
  from webhooks w`;

export const webhookShown = one<[id: string], ShownWebhook>('webhooks_shown')`
  ${shown} where w.id = $1`;

/** Those that fail for longest first. */
export const failingShown = many<[limit: number], ShownWebhook>('webhooks_failing_shown')`
  ${shown} where w.enabled and w.failing_since is not null order by w.failing_since limit $1`;

/** Those that are off, by an operator or because they failed for a day. */
export const offShown = many<[limit: number], ShownWebhook>('webhooks_off_shown')`
  ${shown} where not w.enabled order by w.id desc limit $1`;

/** Its waiting deliveries are given up. False: it was so already. */
export const disableWebhook = did<[of: { id: string; reason: string; at: Date }]>(
  'webhooks_disable',
)`
  with off as (
      update webhooks set enabled = false, off_for = :reason, waiting = 0
        where id = :id and off_for is distinct from :reason returning id
    ), dropped as (
      update deliveries set state = 'dropped', done_at = :at
        where state = 'waiting' and webhook_id in (select id from off)
    )
    select id from off`;

export const enableWebhook = changed<[id: string]>('webhooks_enable')`
  update webhooks set enabled = true, off_for = null, failing_since = null, held_until = null
    where id = $1 and (not enabled or off_for is not null) returning 1 as one`;

/** The newest that were given up, oldest of them first. */
export const droppedOf = list<[webhookId: string, limit: number], string>('webhooks_dropped')`
  select id from (select id, done_at from deliveries
      where webhook_id = $1 and state = 'dropped' order by done_at desc limit $2) gone
    order by done_at, id`;

/** Its deliveries are no longer held back. */
export const releaseWebhook = changed<[id: string]>('webhooks_release')`
  update webhooks set held_until = null where id = $1 and held_until is not null
    returning 1 as one`;
