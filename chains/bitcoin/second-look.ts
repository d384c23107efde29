// What a second source has that a refund would replace. The first may have thrown a claim away, or
// have begun anew with nothing, while the second and the miners still have it; and what is sent
// goes to both.

import { ParleyError } from '../../core/errors.ts';
import type { Rung } from '../interface/scheduled.ts';
import type { BitcoinBackend } from './backend.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
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
/** A silence that nobody asked about for so long has ended, for all that is known. */
const forgottenSeconds = 10 * 60;
/** Ladders of which is remembered since when they wait: far more than are due at once. */
const mostWaiting = 10_000;

export type SecondSource = Pick<BitcoinBackend, 'spenders' | 'rawOf'> & {
  /** Whether it shows the secret of an escrow that is followed; then it is known from now on. */
  readonly learn: (tx: Tx) => boolean;
};

/** The claim that waits there and that sending this refund would replace; null: none. */
export type SecondLook = (
  rung: Rung,
  over: string | null,
  signal: AbortSignal,
) => Promise<string | null>;

/** The look throws where the source does not answer, until the refund has waited long enough. */
export function secondLook(second: SecondSource, now: () => number): SecondLook {
  /** By what is spent, so that all refunds of a ladder wait once. */
  const silences = new Map<string, { readonly since: number; readonly last: number }>();
  return async (rung, over, signal) => {
    const outpoints = outpointsOf(rung);
    const ladder = outpoints.join();
    const silence = silences.get(ladder);
    const goesOn = silence !== undefined && now() - silence.last < forgottenSeconds;
    const since = goesOn ? silence.since : now();
    const isOver = now() - since >= secondPatienceSeconds;
    const limit = AbortSignal.timeout(isOver ? hastyMs : secondMs);
    try {
      const until = AbortSignal.any([signal, limit]);
      const claim = await claimAt(second, outpoints, [rung.txid, over], until);
      silences.delete(ladder);
      return claim;
    } catch (error) {
      silences.set(ladder, { since, last: now() });
      const [oldest] = silences.keys();
      if (silences.size > mostWaiting && oldest !== undefined) silences.delete(oldest);
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
    const tx = raw === null ? null : parseTx(raw);
    if (tx !== null && isRefund(tx, outpoints)) continue;
    if (tx?.txid() === txid && second.learn(tx)) return txid;
    // A claim shows the secret: a source without one is as good as silent.
    const sentence = `the second source names ${txid}, and shows no claim by that id`;
    throw new ParleyError('chain_unavailable', sentence, { txid });
  }
  return null;
}

/**
 * By the branch of the script that it takes, which is the funder's alone. A lower refund that the
 * first source forgot must not be in the way of a higher one.
 */
function isRefund(tx: Tx, outpoints: readonly string[]): boolean {
  const spending = tx.inputs.filter((input) => outpoints.includes(input.outpoint()));
  return spending.length > 0 && spending.every(({ witness }) => witness.at(-2)?.length === 0);
}
