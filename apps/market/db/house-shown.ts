// The first page of an operator: swaps whose next step is due soon or should have been done. Each
// step is read by an index and has a limit.

import { many } from '@parley/host/postgres/statements.ts';

type NearDeadline = {
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
