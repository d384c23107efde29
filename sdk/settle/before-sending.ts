// What stands between signing and sending, for every verb.

import { ParleyError } from '../../core/errors.ts';
import type { SwapRecord } from '../stores/store.ts';
import { type Context, legOf, ownSides, type SetLeg, sourceOf, watchedOf } from './context.ts';
import { handOf } from './hands/of.ts';
import { claimPayerOf } from './owed.ts';

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

/**
 * The own wallet must be able to pay for the own claim before it shows the secret: a claim that
 * cannot be paid for, or fails for want of energy, leaves this side with neither. Waits for whoever
 * tops it up. Other claims that it owes are no reason to wait: the first one that can be paid for
 * goes first. Before a funding they are (see owed.ts).
 */
export async function mustAfford(context: Context, record: SwapRecord): Promise<void> {
  const leg = legOf(record, ownSides(record).gets);
  const { adapter } = sourceOf(context, leg.chain);
  const { terms } = leg.escrow;
  const address = claimPayerOf(context, record);
  const shortage = await adapter.claimShortage?.(terms, address, context.limit());
  if (!shortage) return;
  const { sentence, code } = shortage;
  throw new ParleyError('claim_unpayable', sentence, { leg: leg.leg, address, lack: code });
}

/** Several nodes of one chain must show the same before money or a secret relies on it. */
export async function mustAgree(context: Context, record: SwapRecord): Promise<void> {
  for (const name of ['a', 'b'] as const) {
    const { adapter } = sourceOf(context, legOf(record, name).chain);
    await adapter.mustAgree?.(watchedOf(record, name), context.limit());
  }
}
