// Refunds that are kept to be sent later: the escrow is read, and signed-refunds.ts decides. A
// second source, which gets them too, is asked as well: the first may have thrown a claim away.

import { ParleyError } from '@parley/core/errors.ts';
import { refundableOf } from '@parley/core/remains.ts';
import type { Bump, ScheduledRefunds } from '../interface/scheduled.ts';
import type { BitcoinBackend } from './backend.ts';
import { isDeep } from './escrow-facts.ts';
import { refundDeadline } from './fee-ladder.ts';
import type { FeeBounds } from './fees.ts';
import type { BitcoinNetwork } from './networks.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
import { checkSignedRefunds, decide, outpointsOf, pendingOf } from './signed-refunds.ts';
import { untaken } from './spending.ts';
import type { Reading } from './stuck-funding.ts';

export type ScheduledContext = Reading & {
  readonly network: BitcoinNetwork;
  readonly bounds: FeeBounds;
  readonly second: SecondSource | null;
};

export function scheduledRefunds(context: ScheduledContext): ScheduledRefunds {
  const { network, bounds, backend, second } = context;
  const atSecond = second === null ? null : claimsAt(second, context.now);
  return {
    check: async (escrow, { transactions, known, inTurns }, signal) => {
      const { history } = await context.history(escrow, signal);
      const estimate = await context.estimate(signal);
      const { terms, requiredConfirmations } = escrow;
      const about = { terms, network, history, requiredConfirmations, bounds, estimate, known };
      return inTurns(checkSignedRefunds(transactions, about), signal);
    },
    payments: async (escrow, signal) => {
      const { history } = await context.history(escrow, signal);
      const { tip, leastRefund } = history;
      const deep = untaken(history).filter((each) =>
        isDeep(each, tip, escrow.requiredConfirmations),
      );
      return refundableOf(deep, leastRefund);
    },
    next: async (escrow, ladder, signal) => {
      const { history, clock } = await context.history(escrow, signal);
      const waiting = pendingOf(ladder.bumps, history);
      const now = context.now();
      const { terms, requiredConfirmations } = escrow;
      const isPublic = ladder.isPublic || history.secret !== null;
      return decide(ladder, terms, {
        history,
        clock,
        requiredConfirmations,
        estimate: await context.estimate(signal),
        now,
        // A holder of the public secret may claim until the refund is mined.
        deadline: isPublic ? now : refundDeadline(terms.timelock, now),
        pending: waiting === null ? null : await backend.mempoolEntry(waiting, signal),
      });
    },
    rival: async (bump, over, signal) => {
      const claim = (await atSecond?.(bump, over, signal)) ?? null;
      if (claim !== null) return claim;
      // Last, so that nothing comes between its answer and the sending.
      const found = await backend.spenders(outpointsOf(bump), signal);
      return found.find((txid) => txid !== bump.txid && txid !== over) ?? null;
    },
  };
}

/** A quarter of the outage that timelocks leave Bitcoin. Beyond it waiting only loses. */
export const secondPatienceSeconds = 30 * 60;
/** For all that it is asked before one sending. */
const secondMs = 3_000;
/** Once it is waited for no longer: a late answer is all that is lost by going on. */
const hastyMs = 500;
/** A silence that nobody asked about for so long has ended, for all that is known. */
const forgottenSeconds = 10 * 60;
/** Far more than are due at once. */
const mostWaiting = 10_000;

export type SecondSource = Pick<BitcoinBackend, 'spenders' | 'rawOf'> & {
  /** Whether it shows the secret of an escrow that is followed; then it is known from now on. */
  readonly learn: (tx: Tx) => boolean;
};

/** The claim that waits there and that a refund would replace. Throws while it is waited for. */
function claimsAt(second: SecondSource, now: () => number) {
  /** By what is spent, so that all refunds of an escrow wait once. */
  const silences = new Map<string, { readonly since: number; readonly last: number }>();
  return async (bump: Bump, over: string | null, signal: AbortSignal): Promise<string | null> => {
    const outpoints = outpointsOf(bump);
    const spent = outpoints.join();
    const silence = silences.get(spent);
    const goesOn = silence !== undefined && now() - silence.last < forgottenSeconds;
    const since = goesOn ? silence.since : now();
    const isOver = now() - since >= secondPatienceSeconds;
    const until = AbortSignal.any([signal, AbortSignal.timeout(isOver ? hastyMs : secondMs)]);
    try {
      const claim = await claimAt(second, outpoints, [bump.txid, over], until);
      silences.delete(spent);
      return claim;
    } catch (error) {
      silences.set(spent, { since, last: now() });
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

/** By the branch of the script, which is the funder's alone: lower refunds are in nobody's way. */
function isRefund(tx: Tx, outpoints: readonly string[]): boolean {
  const spending = tx.inputs.filter((input) => outpoints.includes(input.outpoint()));
  return spending.length > 0 && spending.every(({ witness }) => witness.at(-2)?.length === 0);
}
