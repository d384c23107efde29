// Events to deliver, written in the transaction of their effect. The topic says to whom: webhook
// topics are event names (edge/schemas/events.ts), one row for each party's account;
// `feed.created`, `feed.cancelled` and `feed.gone` are for every maker (no account) and move on to
// the log of the feed (feed-log.ts); those of messages.ts are for the account's owner, by mail and
// chat, never for its webhooks. Kept for 7 days.

import type { Tx } from './database.ts';
import { webhookTopics } from './deliveries.ts';
import { type Work, workChannel } from './work.ts';

export type OutboxEntry = {
  readonly topic: string;
  /** Whose it is; null = the feed. */
  readonly accountId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

/** For whom an event is. */
function workFor(topic: string): Work {
  if (topic.startsWith('feed.')) return 'feed';
  return webhookTopics.some((each) => each === topic) ? 'webhooks' : 'messages';
}

export async function insertOutbox(tx: Tx, entries: readonly OutboxEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.rows({
    name: 'outbox_insert',
    text: `with inserted as (
        insert into outbox (topic, account_id, payload, created_at)
        select * from unnest($1::text[], $2::uuid[], $3::jsonb[], $4::timestamptz[]))
      select pg_notify('${workChannel}', work) from unnest($5::text[]) work`,
    values: [
      entries.map((each) => each.topic),
      entries.map((each) => each.accountId),
      entries.map((each) => JSON.stringify(each.payload)),
      entries.map((each) => each.at),
      [...new Set(entries.map((each) => workFor(each.topic)))],
    ],
  });
}

/** Deletes at most `limit` rows written before `before`; returns how many. */
export async function pruneOutbox(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'outbox_prune',
    // Ids ascend with time, so the oldest are found without an index on it.
    text: `delete from outbox where id in
        (select id from (select id, created_at from outbox order by id limit $2) oldest
          where created_at < $1)
      returning id`,
    values: [before, limit],
  });
  return rows.length;
}
