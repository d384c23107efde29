// The chain's part in refunds that are kept to be sent later: the escrow is read, and the rules of
// signed-refunds.ts are asked.

import type { WatchedEscrow } from '../interface/reading.ts';
import type { ScheduledRefunds } from '../interface/scheduled.ts';
import type { BitcoinBackend } from './backend.ts';
import { type EscrowHistory, isDeep } from './escrow-facts.ts';
import { refundDeadline } from './fee-ladder.ts';
import type { FeeBounds, FeeEstimate } from './fees.ts';
import type { BitcoinNetwork } from './networks.ts';
import { type SecondSource, secondLook } from './second-look.ts';
import { checkSignedRefunds, decide, outpointsOf, pendingOf } from './signed-refunds.ts';
import { untaken } from './spending.ts';

export type ScheduledContext = {
  readonly network: BitcoinNetwork;
  readonly bounds: FeeBounds;
  readonly backend: Pick<BitcoinBackend, 'mempoolEntry' | 'spenders'>;
  /** Offered every refund too, so it is asked what it would replace. */
  readonly second: SecondSource | null;
  /** Unix seconds. */
  readonly now: () => number;
  estimate(signal: AbortSignal): Promise<FeeEstimate>;
  /** Everything seen of an escrow, up to the best block, and that block's median time past. */
  history(
    escrow: WatchedEscrow,
    signal: AbortSignal,
  ): Promise<{ readonly history: EscrowHistory; readonly clock: number }>;
};

export function scheduledRefunds(context: ScheduledContext): ScheduledRefunds {
  const { network, bounds, backend, second } = context;
  const atSecond = second === null ? null : secondLook(second, context.now);
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
      const { tip } = history;
      const { requiredConfirmations } = escrow;
      return untaken(history).filter((each) => isDeep(each, tip, requiredConfirmations));
    },
    next: async (escrow, ladder, signal) => {
      const { history, clock } = await context.history(escrow, signal);
      const waiting = pendingOf(ladder.rungs, history);
      const now = context.now();
      const { terms, requiredConfirmations } = escrow;
      const isPublic = ladder.isPublic || history.secret !== null;
      return decide(ladder, terms, {
        history,
        clock,
        requiredConfirmations,
        estimate: await context.estimate(signal),
        now,
        // Whoever holds a public secret may claim until the refund is mined.
        deadline: isPublic ? now : refundDeadline(terms.timelock, now),
        pending: waiting === null ? null : await backend.mempoolEntry(waiting, signal),
      });
    },
    rival: async (rung, over, signal) => {
      const claim = (await atSecond?.(rung, over, signal)) ?? null;
      if (claim !== null) return claim;
      // Last, so that nothing comes between its answer and the sending.
      const found = await backend.spenders(outpointsOf(rung), signal);
      return found.find((txid) => txid !== rung.txid && txid !== over) ?? null;
    },
  };
}
