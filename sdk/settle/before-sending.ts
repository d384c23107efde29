// What stands between signing and sending, for every verb.

import type { SwapRecord } from '../stores/store.ts';
import { type Context, legOf, type SetLeg, sourceOf, watchedOf } from './context.ts';
import { handOf } from './hands/of.ts';

/** Keeps what was signed if `gate` still lets it be sent; else its nonce must not be left out. */
export async function keepOrForget(
  context: Context,
  leg: SetLeg,
  next: SwapRecord,
  gate: () => Promise<void>,
): Promise<SwapRecord> {
  try {
    await gate();
    await context.store.putSwap(next);
    return next;
  } catch (error) {
    handOf(context, leg).forget();
    throw error;
  }
}

/** Several nodes of one chain must show the same before money or a secret relies on it. */
export async function mustAgree(context: Context, record: SwapRecord): Promise<void> {
  for (const name of ['a', 'b'] as const) {
    const { adapter } = sourceOf(context, legOf(record, name).chain);
    await adapter.mustAgree?.(watchedOf(record, name), context.limit());
  }
}
