// Agreed swaps that the doctor reads, between two chains that no node stands behind.

import type { Database } from '../../db/database.ts';
import { insertAccount } from '../../settle/testing/account.ts';
import { insertAsset, nodelessDeps, someWallets, swapBetween } from '../../settle/testing/rows.ts';

/** So many swaps of evm-dev for evm-dev-2, all of one maker and one taker; returns their ids. */
export async function agreedSwaps(db: Database, count: number): Promise<string[]> {
  const deps = nodelessDeps(db);
  const base = await insertAsset(deps, 'evm-dev', null, null);
  const quote = await insertAsset(deps, 'evm-dev-2', null, null);
  const trader = async () => (await insertAccount(deps, [someWallets().evm])).accountId;
  const parties = { makerId: await trader(), takerId: await trader() };
  const amounts = { baseAmount: 10n ** 17n, quoteAmount: 10n ** 17n };
  const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
  const ids: string[] = [];
  while (ids.length < count) ids.push((await swapBetween(deps, terms, parties)).id);
  return ids;
}
