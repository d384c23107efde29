// Events to deliver, written in the transaction of their effect. The topic says to whom: webhook
// topics are event names (edge/schemas/events.ts), one row for each party's account;
// `feed.created`, `feed.cancelled` and `feed.gone` are for every maker (no account) and move on to
// the log of the feed (feed-log.ts); those of messages.ts are for the account's owner, by mail and
// chat, never for its webhooks. Kept for 7 days.

import { webhookTopics } from '@parley/core/events.ts';
import { changed, none } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { type Work, workChannel } from './work.ts';

export type OutboxEntry = {
  readonly topic: string;
  /** The account that it is for; null = the feed. */
  readonly accountId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

/** For whom an event is. */
function workFor(topic: string): Work {
  if (topic.startsWith('feed.')) return 'feed outbox';
  return webhookTopics.some((each) => each === topic) ? 'webhooks' : 'messages';
}

type Works = readonly Work[];

const insertAll = none<[entries: readonly OutboxEntry[], works: Works]>('outbox_insert')`
  with inserted as (
      insert into outbox (topic, account_id, payload, created_at)
      select * from unnest($1.topic::text[], $1.accountId::uuid[], $1.payload::jsonb[],
        $1.at::timestamptz[]))
    select pg_notify('${workChannel}', work) from unnest($2::text[]) work`;

export async function insertOutbox(tx: Tx, entries: readonly OutboxEntry[]): Promise<void> {
  const works = [...new Set(entries.map((each) => workFor(each.topic)))];
  if (entries.length > 0) await insertAll(tx, entries, works);
}

/** Deletes at most `limit` rows written before `before`; returns how many. */
// Ids ascend with time, so the oldest are found without an index on it.
export const pruneOutbox = changed<[before: Date, limit: number]>('outbox_prune')`
  delete from outbox where id in
      (select id from (select id, created_at from outbox order by id limit $2) oldest
        where created_at < $1)
    returning id`;
