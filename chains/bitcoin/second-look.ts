// What a second source has that a refund would replace. The first may have thrown a claim away, or
// have begun anew with nothing, while the second and the miners still have it; and what is sent
// goes to both.

import type { Rung } from '../scheduled.ts';
import type { BitcoinBackend } from './backend.ts';
import { parseTx } from './raw-transaction.ts';
import { outpointsOf } from './signed-refunds.ts';

/**
 * So long a refund waits for a second source that does not answer: a node's restart takes less, and
 * it is a quarter of the two hours that timelocks leave for an outage of Bitcoin, which is what the
 * wait costs where the other leg's timelock is near. Beyond it whoever waits can only lose: while
 * the refund is not mined, the secret may be shown and the claim be made.
 */
export const secondPatienceSeconds = 30 * 60;
/** For all that it is asked before one sending, which has to fit the same look. */
const secondMs = 3_000;
/** Once it is waited for no longer: nothing but a late answer is lost by going on. */
const hastyMs = 500;
/** Ladders of which is remembered since when they wait: far more than are due at once. */
const mostWaiting = 10_000;

export type SecondSource = Pick<BitcoinBackend, 'spenders' | 'rawOf'>;

/** The claim that waits there and that sending this refund would replace; null: none. */
export type SecondLook = (
  rung: Rung,
  over: string | null,
  signal: AbortSignal,
) => Promise<string | null>;

/** The look throws where the source does not answer, until the refund has waited long enough. */
export function secondLook(second: SecondSource, now: () => number): SecondLook {
  /** By what is spent, so that all refunds of a ladder wait once. */
  const silentSince = new Map<string, number>();
  return async (rung, over, signal) => {
    const outpoints = outpointsOf(rung);
    const ladder = outpoints.join();
    const since = silentSince.get(ladder) ?? now();
    const isOver = now() - since >= secondPatienceSeconds;
    const limit = AbortSignal.timeout(isOver ? hastyMs : secondMs);
    try {
      const until = AbortSignal.any([signal, limit]);
      const claim = await claimAt(second, outpoints, [rung.txid, over], until);
      silentSince.delete(ladder);
      return claim;
    } catch (error) {
      silentSince.set(ladder, since);
      const [oldest] = silentSince.keys();
      if (silentSince.size > mostWaiting && oldest !== undefined) silentSince.delete(oldest);
      if (isOver) return null;
      throw error;
    }
  };
}

async function claimAt(
  second: SecondSource,
  outpoints: readonly string[],
  own: readonly (string | null)[],
  signal: AbortSignal,
): Promise<string | null> {
  for (const txid of new Set(await second.spenders(outpoints, signal))) {
    if (own.includes(txid)) continue;
    const raw = await second.rawOf(txid, null, signal);
    // One that is gone by now may have been mined: the next look sees.
    if (raw === null || !isRefund(raw, outpoints)) return txid;
  }
  return null;
}

/**
 * By the branch of the script that it takes, which is the funder's alone. A lower refund that the
 * first source forgot must not be in the way of a higher one.
 */
function isRefund(raw: string, outpoints: readonly string[]): boolean {
  const spending = parseTx(raw).inputs.filter((input) => outpoints.includes(input.outpoint()));
  return spending.every(({ witness }) => witness.at(-2)?.length === 0);
}
