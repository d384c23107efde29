// Threads of an account by where they stand, of any RFQ or of one, newest first. Open and closed
// ones are found by indexes of those alone, agreed ones by their swaps: an account may have any
// number of each.

import type { Party } from '@parley/core/trade.ts';
import { below, many } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { selectThreads, type Thread, threadOf } from './threads.ts';

type Own = {
  readonly accountId: string;
  /** null: of any. */
  readonly rfqId: string | null;
  /** The last one of the page before: its id, of an agreed one that of its swap. */
  readonly before: string | null;
  readonly now: Date;
  readonly limit: number;
};

type Way = 'any' | 'one';

/** The RFQ finds its threads, however many the account has beside. */
const ways = (role: Party, way: Way) => {
  if (way === 'any') return '';
  return role === 'taker'
    ? ' and t.rfq_id = :rfqId::uuid'
    : ` and t.id = ${threadOf(':rfqId::uuid', ':accountId::uuid', 'id')}`;
};

/** The threads of live RFQs; one that has just expired has its threads closed in a moment. */
const open = (role: Party, way: Way) => many<[of: Own], Thread>(`threads_open_of_${role}_${way}`)`
  ${selectThreads}
    where t.${role}_id = :accountId and t.status = 'open' and ${below('t.id', ':before')}
      and r.expires_at > :now${ways(role, way)}
    order by t.id desc limit :limit`;

const closed = (role: Party, way: Way) =>
  many<[of: Omit<Own, 'now'>], Thread>(`threads_closed_of_${role}_${way}`)`
  ${selectThreads}
    where t.${role}_id = :accountId and t.status = 'closed'
      and ${below('t.id', ':before')}${ways(role, way)}
    order by t.id desc limit :limit`;

const agreed = (role: Party, way: Way) =>
  many<[of: Omit<Own, 'now'>], Thread>(`threads_agreed_of_${role}_${way}`)`
  ${selectThreads}
    where s.${role}_id = :accountId and ${below('s.id', ':before')}
      ${way === 'one' ? 'and s.id = (select id from swaps where rfq_id = :rfqId::uuid)' : ''}
    order by s.id desc limit :limit`;

type List = (role: Party, way: Way) => ReturnType<typeof open>;
const byRole = (list: List) => ({
  maker: { any: list('maker', 'any'), one: list('maker', 'one') },
  taker: { any: list('taker', 'any'), one: list('taker', 'one') },
});
const lists = { open: byRole(open), closed: byRole(closed), agreed: byRole(agreed) } as const;

export function listOwnThreads(
  tx: Tx,
  role: Party,
  status: Thread['status'],
  of: Own,
): Promise<Thread[]> {
  return lists[status][role][of.rfqId === null ? 'any' : 'one'](tx, of);
}
