// What stands between signing and sending, for every verb.

import { ParleyError } from '../../core/errors.ts';
import type { Kept, SwapRecord } from '../stores/store.ts';
import { type Context, legOf, ownSides, type SetLeg, sourceOf, watchedOf } from './context.ts';
import type { Signing, Turn } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { claimPayerOf } from './owed.ts';

/** A look at the chains older than this is repeated before anything is sent by it. */
const freshMs = 5_000;
/** From then on it is looked in one's turn. */
const mostLooks = 3;

type Keeping = {
  readonly sign: Signing;
  /** What is kept of it, and with it. */
  readonly next: (signed: Kept) => SwapRecord;
  /** Looks whether it may be sent now; returns what is asked again right after signing. */
  readonly gate: () => Promise<() => Promise<void>>;
  readonly turn: Turn;
};

/** A gate for what may be sent whatever the chains show. */
export const open: Keeping['gate'] = async () => async () => {};

/**
 * Signs, and keeps what was signed if the gate still lets it be sent. Where others of the account
 * wait meanwhile it is looked before, and after only if waiting or signing took long: a chain that
 * is slow to answer holds up nobody else.
 */
export async function signAndKeep(
  context: Context,
  leg: SetLeg,
  keeping: Keeping,
): Promise<SwapRecord> {
  const hand = handOf(context, leg);
  const looked = async () => {
    await keeping.gate();
  };
  if (!hand.takesTurns) {
    return hand.keeping(() => keepSigned(context, leg, keeping, looked), keeping.turn);
  }
  for (let looks = 1; ; looks += 1) {
    const again = await keeping.gate();
    const lookedAtMs = performance.now();
    const isOld = () => performance.now() - lookedAtMs > freshMs;
    const check = () => (isOld() ? looked() : again());
    const kept = await hand.keeping(async () => {
      // Its turn came late: others go on while it looks again.
      if (isOld() && looks < mostLooks) return null;
      return keepSigned(context, leg, keeping, check);
    }, keeping.turn);
    if (kept !== null) return kept;
  }
}

async function keepSigned(
  context: Context,
  leg: SetLeg,
  { sign, next }: Keeping,
  check: () => Promise<void>,
): Promise<SwapRecord> {
  const signed = await sign();
  try {
    const record = next(signed);
    await check();
    await context.store.putSwap(record);
    return record;
  } catch (error) {
    // Its nonce must not be left out.
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
