// Where people were reached by a login that was removed: they hear on for as long as what was asked
// for meanwhile may be stopped. A thief would otherwise remove the owner's channels first.

import type { Tx } from './database.ts';
import type { Channel } from './messages.ts';

export type FormerChannel = {
  readonly accountId: string;
  readonly channel: Channel;
  readonly to: string;
  /** Nothing is told there from then on. */
  readonly until: Date;
};

export async function insertFormerChannel(tx: Tx, former: FormerChannel): Promise<void> {
  await tx.rows({
    name: 'former_channels_insert',
    text: `insert into former_channels (account_id, channel, told_to, until) values ($1, $2, $3, $4)
      on conflict (account_id, channel, told_to) do update set until = excluded.until`,
    values: [former.accountId, former.channel, former.to, former.until],
  });
}

/** Those that still hear, of these accounts. */
export function formerChannelsOf(
  tx: Tx,
  accountIds: readonly string[],
  now: Date,
): Promise<FormerChannel[]> {
  return tx.rows<FormerChannel>({
    name: 'former_channels_of',
    text: `select account_id as "accountId", channel, told_to as to, until from former_channels
      where account_id = any($1::uuid[]) and until > $2 order by until, told_to`,
    values: [accountIds, now],
  });
}

/** Deletes at most `limit` that ended before `before`; returns how many. */
export async function pruneFormerChannels(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'former_channels_prune',
    text: `delete from former_channels where (account_id, channel, told_to) in
        (select account_id, channel, told_to from former_channels where until < $1
          order by until limit $2)
      returning 1 as one`,
    values: [before, limit],
  });
  return rows.length;
}
