// What an account holds: the families it may give assets on, and its addresses.

import type { Family } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type Holdings = {
  readonly families: readonly Family[];
  /** Login and proven addresses. */
  readonly addresses: readonly string[];
};

export async function findHoldings(tx: Tx, accountId: string): Promise<Holdings> {
  const rows = await tx.rows<{ family: Family; address: string }>({
    name: 'holdings_find',
    text: 'select family, address from wallets where account_id = $1',
    values: [accountId],
  });
  return {
    families: rows.map((each) => each.family),
    addresses: rows.map((each) => each.address),
  };
}
