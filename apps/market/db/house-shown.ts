// The first page of an operator: chains as the market saw them last, and swaps whose next step is
// due soon or should have been done. Each is read by an index and has a limit.

import type { ChainKey } from '@parley/core/families.ts';
import { many } from '@parley/host/postgres/statements.ts';

export type ShownHead = {
  readonly chain: ChainKey;
  readonly height: number;
  readonly seenAt: Date;
};

export const headsShown = many<[], ShownHead>('house_heads')`
  select chain, height, seen_at as "seenAt" from chain_heads order by chain`;

export type NearDeadline = {
  readonly step: 'fund_first' | 'fund_second' | 'reveal';
  readonly swapId: string;
  /** Unix seconds. */
  readonly at: number;
};

const near = (step: NearDeadline['step'], column: string, status: string) =>
  `(select '${step}' as step, id as "swapId", ${column} as at from swaps
    where status = '${status}' and ${column} between $1 and $2 order by ${column} limit $3)`;

/** The first of each step between two moments, Unix seconds. */
export const nearDeadlines = many<[from: number, to: number, each: number], NearDeadline>(
  'house_deadlines',
)`
  select * from (${near('fund_first', 'initiator_fund_by', 'agreed')}
    union all ${near('fund_second', 'counterparty_fund_by', 'initiator_funded')}
    union all ${near('reveal', 'reveal_by', 'counterparty_funded')}) due order by at`;
