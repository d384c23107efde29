// Agreed swaps that the doctor looks at, between two chains that no node stands behind.

import { testDeps } from '../../../test/support/deps.ts';
import type { Database } from '../../db/database.ts';
import { insertAccount } from '../../settle/testing/account.ts';
import {
  insertAgreed,
  insertAsset,
  nodelessAdapters,
  someWallets,
} from '../../settle/testing/rows.ts';

/** So many swaps of evm-dev for evm-dev-2, all of one maker and one taker; returns their ids. */
export async function agreedSwaps(db: Database, count: number): Promise<string[]> {
  const adapters = new Map(nodelessAdapters().map((each) => [each.chain, each]));
  const deps = testDeps({ db, adapters });
  const base = await insertAsset(deps, 'evm-dev', null, null);
  const quote = await insertAsset(deps, 'evm-dev-2', null, null);
  const trader = async () => (await insertAccount(deps, [someWallets().evm])).accountId;
  const [makerId, takerId] = [await trader(), await trader()];
  const amounts = { baseAmount: 10n ** 17n, quoteAmount: 10n ** 17n };
  const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    ids.push(await db.transaction((tx) => insertAgreed(tx, deps, terms, { makerId, takerId })));
  }
  return ids;
}
