// The holdings of an account: the families it may give assets on, and its addresses.

import type { Family } from '@parley/core/families.ts';
import { only } from '@parley/host/postgres/statements.ts';

export type Holdings = {
  readonly families: readonly Family[];
  /** Login and proven addresses. */
  readonly addresses: readonly string[];
};

export const findHoldings = only<[accountId: string], Holdings>('holdings_find')`
  select coalesce(array_agg(family), '{}') as families, coalesce(array_agg(address),
    '{}') as addresses
    from wallets where account_id = $1`;
