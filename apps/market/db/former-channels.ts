// Where people were reached by a login that was removed: they hear on for as long as what was asked
// for meanwhile may be stopped. A thief would otherwise remove the owner's channels first.

import { changed, foundFirst, many, none } from '@parley/host/postgres/statements.ts';
import type { Channel } from './messages.ts';

export type FormerChannel = {
  readonly accountId: string;
  readonly channel: Channel;
  readonly to: string;
  /** The channel gets no messages from then on. */
  readonly until: Date;
};

export const insertFormerChannel = none<[former: FormerChannel]>('former_channels_insert')`
  insert into former_channels (account_id, channel, told_to, until) values (:accountId, :channel,
    :to, :until)
    on conflict (account_id, channel, told_to) do update set until = excluded.until`;

/** Those that still hear, of these accounts. */
export const formerChannelsOf = many<[accountIds: readonly string[], now: Date], FormerChannel>(
  'former_channels_of',
)`
  select account_id as "accountId", channel, told_to as to, until
    from ${foundFirst('former_channels', 'account_id = any($1::uuid[])')} f
    where until > $2 order by until, told_to`;

/** Deletes at most `limit` that ended before `before`; returns how many. */
export const pruneFormerChannels = changed<[before: Date, limit: number]>('former_channels_prune')`
  delete from former_channels where (account_id, channel, told_to) in
      (select account_id, channel, told_to from former_channels where until < $1
        order by until limit $2)
    returning 1 as one`;
