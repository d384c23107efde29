// One look at a leg, for programs that sign elsewhere: by all nodes, and against what is kept.

import type { LegName } from '../../core/trade.ts';
import { memoryStore } from '../stores/memory.ts';
import type { SwapRecord } from '../stores/store.ts';
import { readLeg, stopWatching } from './chains.ts';
import { contextOf, type SettleInput } from './context.ts';
import type { LegSeen } from './record.ts';

/**
 * Each node has its whole time. Keep what `newsOf` makes of it: the next look is held against it.
 * Throws what the first node fails with where none answers.
 */
export async function lookAtLeg(
  record: SwapRecord,
  name: LegName,
  { chains, now }: Pick<SettleInput, 'chains' | 'now'>,
): Promise<LegSeen> {
  const store = memoryStore();
  await store.putSwap(record);
  const swapId = record.swap.id;
  const clock = now === undefined ? {} : { now };
  const context = contextOf({ swapId, chains, store, client: null, ...clock });
  await context.store.getSwap(swapId);
  try {
    return await readLeg(context, name, null);
  } finally {
    stopWatching(context);
  }
}
