// Events to deliver, written in the transaction of their effect. The topic says to whom: webhook
// topics are event names (edge/schemas/events.ts), one row for each party's account;
// `feed.created`, `feed.cancelled` and `feed.gone` are for every maker (no account) and move on to
// the log of the feed (feed-log.ts); those of messages.ts are for the account's owner, by mail and
// chat, never for its webhooks. Kept for 7 days.

import type { Statement, Tx } from './database.ts';

export type OutboxEntry = {
  readonly topic: string;
  /** Whose it is; null = the feed. */
  readonly accountId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

export async function insertOutbox(tx: Tx, entries: readonly OutboxEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.rows(insertStatement(entries));
}

/** For those who send several statements as one. */
export function insertStatement(entries: readonly OutboxEntry[]): Statement {
  return {
    name: 'outbox_insert',
    text: `insert into outbox (topic, account_id, payload, created_at)
      select * from unnest($1::text[], $2::uuid[], $3::jsonb[], $4::timestamptz[])`,
    values: [
      entries.map((each) => each.topic),
      entries.map((each) => each.accountId),
      entries.map((each) => JSON.stringify(each.payload)),
      entries.map((each) => each.at),
    ],
  };
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
