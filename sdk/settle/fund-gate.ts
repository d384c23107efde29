// What stands between a signed funding and its sending, whichever way it goes.

import { fundGate } from '../../core/gates.ts';
import { mustBeOnly, type SwapRecord } from '../stores/store.ts';
import { type Context, look, ownSides } from './context.ts';

/** Signing may have taken long: everything is looked at once more, right before sending. */
export async function sendGate(context: Context, record: SwapRecord): Promise<() => Promise<void>> {
  const { gives } = ownSides(record);
  const fresh = await look(context, record);
  fundGate(fresh.state, gives, fresh.clocks);
  await mustBeOnly(context.store, onlyOf(record));
  return async () => {
    fundGate(fresh.state, gives, { ...fresh.clocks, wall: await context.now() });
  };
}

export function onlyOf({ swap, trade }: SwapRecord) {
  return { swapId: swap.id, hashlock: swap.hashlock, threadId: trade.threadId };
}
