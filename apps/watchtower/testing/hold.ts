// A gas key that somebody else has leased for as long as a test wants, however slow the machine is.

import type { ChainKey } from '@parley/core/families.ts';
import { leaseMs } from '../bounds.ts';
import { endKey, takeKey } from '../db/keys.ts';
import type { Tx } from '../port.ts';

const lease = {
  holder: '00000000-0000-4000-8000-00000000000f',
  milliseconds: leaseMs,
  clock: null,
} as const;

/** Returns what ends it; again is no harm. */
export async function holdKey(db: Tx, chain: ChainKey) {
  const take = () => takeKey(db, chain, lease);
  if (!(await take())) throw new Error(`somebody signs on ${chain}`);
  let last: Promise<unknown> = Promise.resolve();
  const again = setInterval(() => {
    last = take().catch(() => {});
  }, 1_000);
  return async () => {
    clearInterval(again);
    await last;
    await endKey(db, chain, lease);
  };
}
