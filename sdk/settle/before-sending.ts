// What stands between signing and sending, for every verb.

import type { Offered } from '../../chains/interface/gas.ts';
import { ParleyError } from '../../core/errors.ts';
import type { LegName } from '../../core/trade.ts';
import type { Kept, SwapRecord } from '../stores/store.ts';
import { mostFeePerGasOf } from '../wallets/nonce.ts';
import { type Context, legOf, ownSides, type SetLeg, sourceOf, watchedOf } from './context.ts';
import type { Signing, Turn } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { claimPayerOf } from './owed.ts';
import { unquoted } from './unquoted.ts';

/** A look at the chains older than this is repeated before anything is signed by it. */
export const freshMs = 5_000;
/**
 * And before it is sent, older than this: a signature takes its time, and deadlines leave ten
 * minutes for it. Who signs for that long has held up the others anyway.
 */
export const signedFreshMs = 30_000;
/** From then on it is signed by an older one. */
export const mostLooks = 3;

type Keeping<R extends SwapRecord> = {
  readonly sign: Signing;
  /** What is kept of it, and with it. */
  readonly next: (signed: Kept) => R;
  /**
   * Looks whether it may be sent now, before or after it is signed. Returns what is asked again
   * right after signing, while others of the account wait: of its own chain and clock alone.
   */
  readonly gate: (signed: Kept | null) => Promise<(signed: Kept) => Promise<void>>;
  readonly turn: Turn;
  /** Of what tells a secret that is undecided. */
  readonly telling?: Telling;
};

export type Telling = {
  /** The record without it. */
  readonly before: SwapRecord;
  /** Whether it may still be sent once it is kept, by the clock. */
  readonly still: () => Promise<void>;
};

/** A gate for what may be sent whatever the chains show. */
export const open: Keeping<SwapRecord>['gate'] = async () => async () => {};

/**
 * Signs, and keeps what was signed if the gate still lets it be sent. Where others of the account
 * wait meanwhile it is looked before, and at the other chain after only if signing took very long:
 * a chain that is slow to answer holds up nobody of another.
 */
export async function signAndKeep<R extends SwapRecord>(
  context: Context,
  leg: SetLeg,
  keeping: Keeping<R>,
  nowMs: () => number = () => performance.now(),
): Promise<R> {
  const hand = handOf(context, leg);
  const looked = async (signed: Kept) => {
    await keeping.gate(signed);
  };
  if (!hand.takesTurns) {
    return hand.keeping(() => keepSigned(context, leg, keeping, looked), keeping.turn);
  }
  for (let looks = 1; ; looks += 1) {
    const again = await keeping.gate(null);
    const lookedAtMs = nowMs();
    const isOlder = (ms: number) => nowMs() - lookedAtMs > ms;
    const check = (signed: Kept) => (isOlder(signedFreshMs) ? looked(signed) : again(signed));
    const kept = await hand.keeping(async () => {
      // Its turn came late: others go on while it looks again.
      if (isOlder(freshMs) && looks < mostLooks) return null;
      return keepSigned(context, leg, keeping, check);
    }, keeping.turn);
    if (kept !== null) return kept;
  }
}

async function keepSigned<R extends SwapRecord>(
  context: Context,
  leg: SetLeg,
  { sign, next, telling }: Keeping<R>,
  check: (signed: Kept) => Promise<void>,
): Promise<R> {
  const signed = await sign();
  try {
    await check(signed);
    // From this moment on it is on its way.
    const record = next(signed);
    if (telling === undefined) await context.store.putSwap(record);
    else await putTelling(context, record, telling);
    return record;
  } catch (error) {
    // Its nonce must not be left out.
    handOf(context, leg).forget();
    throw error;
  }
}

/** The secret counts as public once this has succeeded, and not before. */
export function putTelling(context: Context, record: SwapRecord, { before, still }: Telling) {
  return unquoted(() => context.store.putTelling(record, before, still));
}

/**
 * The own wallet must be able to pay for the own claim before it shows the secret: a claim that
 * cannot be paid for, or fails for want of energy, leaves this side with neither. Waits for whoever
 * tops it up. Other claims that it owes are no reason to wait: the first one that can be paid for
 * goes first. Before a funding they are (see owed.ts).
 */
export async function mustAfford(
  context: Context,
  record: SwapRecord,
  offered: Offered | null,
): Promise<void> {
  const leg = legOf(record, ownSides(record).gets);
  const { adapter } = sourceOf(context, leg.chain);
  const { terms } = leg.escrow;
  const address = claimPayerOf(context, record);
  const shortage =
    offered === null
      ? await adapter.claimShortage?.(terms, address, context.limit())
      : await adapter.purseShortage?.(
          { claims: [terms], fundings: [], offered },
          address,
          context.limit(),
        );
  if (!shortage) return;
  const { sentence, code } = shortage;
  throw new ParleyError('claim_unpayable', sentence, { leg: leg.leg, address, lack: code });
}

/** What is offered for a claim with this gas; exactly so, once it is signed. */
export function offeredFor(gas: bigint | null, signed: Kept | null): Offered | null {
  if (gas === null) return null;
  return { gas, feePerGas: signed === null ? null : mostFeePerGasOf(signed) };
}

/** Several nodes of one chain must show the same before money or a secret relies on it. */
export async function mustAgree(
  context: Context,
  record: SwapRecord,
  legs: readonly LegName[] = ['a', 'b'],
): Promise<void> {
  for (const name of legs) {
    const { adapter } = sourceOf(context, legOf(record, name).chain);
    await adapter.mustAgree?.(watchedOf(record, name), context.limit());
  }
}
