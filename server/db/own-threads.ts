// Threads of an account by where they stand, newest first. Open and closed ones are found by
// indexes of those alone, agreed ones by their swaps: an account may have any number of each.

import type { Party } from '../../core/trade.ts';
import { many } from '../../host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { selectThreads, type Thread } from './threads.ts';

type Own = {
  readonly accountId: string;
  /** The last one of the page before: its id, of an agreed one that of its swap. */
  readonly before: string | null;
  readonly now: Date;
  readonly limit: number;
};

const below = (id: string) => `(:before::uuid is null or ${id} < :before)`;

/** Of RFQs that are live; one that has just expired has its threads closed in a moment. */
const open = (role: Party) => many<[of: Own], Thread>(`threads_open_of_${role}`)`
  ${selectThreads}
    where t.${role}_id = :accountId and t.status = 'open' and ${below('t.id')}
      and r.expires_at > :now
    order by t.id desc limit :limit`;

const closed = (role: Party) => many<[of: Omit<Own, 'now'>], Thread>(`threads_closed_of_${role}`)`
  ${selectThreads}
    where t.${role}_id = :accountId and t.status = 'closed' and ${below('t.id')}
    order by t.id desc limit :limit`;

const agreed = (role: Party) => many<[of: Omit<Own, 'now'>], Thread>(`threads_agreed_of_${role}`)`
  ${selectThreads}
    where s.${role}_id = :accountId and ${below('s.id')}
    order by s.id desc limit :limit`;

const lists = {
  open: { maker: open('maker'), taker: open('taker') },
  closed: { maker: closed('maker'), taker: closed('taker') },
  agreed: { maker: agreed('maker'), taker: agreed('taker') },
} as const;

export const threadStatuses = ['open', 'agreed', 'closed'] as const;

export function listOwnThreads(
  tx: Tx,
  role: Party,
  status: Thread['status'],
  of: Own,
): Promise<Thread[]> {
  return lists[status][role](tx, of);
}
