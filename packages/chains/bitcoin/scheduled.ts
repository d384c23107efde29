// Refunds that are kept to be sent later: the escrow is read, and signed-refunds.ts decides. A
// second source, which gets them too, is asked as well: the first may have thrown a claim away.

import { refundableOf } from '@parley/core/remains.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { ScheduledRefunds } from '../interface/scheduled.ts';
import type { BitcoinBackend } from './backend.ts';
import { type EscrowHistory, isDeep } from './escrow-facts.ts';
import { refundDeadline } from './fee-ladder.ts';
import type { FeeBounds, FeeEstimate } from './fees.ts';
import type { BitcoinNetwork } from './networks.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
import { checkSignedRefunds, decide, outpointsOf, pendingOf } from './signed-refunds.ts';
import { untaken } from './spending.ts';

/** How the chain is read: the escrow's whole history, a mempool, the rates. */
type ScheduledContext = {
  readonly backend: Pick<BitcoinBackend, 'mempoolEntry' | 'spenders'>;
  readonly now: () => number;
  readonly estimate: (signal: AbortSignal) => Promise<FeeEstimate>;
  /** `clock`: median time past of the best block. */
  readonly history: (
    escrow: WatchedEscrow,
    signal: AbortSignal,
  ) => Promise<{ readonly history: EscrowHistory; readonly clock: number }>;
  readonly network: BitcoinNetwork;
  readonly bounds: FeeBounds;
  readonly second: SecondSource | null;
};

export function scheduledRefunds(context: ScheduledContext): ScheduledRefunds {
  const { network, bounds, backend, second } = context;
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
      const own = [bump.txid, over];
      const outpoints = outpointsOf(bump);
      const until = AbortSignal.any([signal, AbortSignal.timeout(secondMs)]);
      const asking = second === null ? null : claimAt(second, outpoints, own, until);
      const claim = await asking?.catch(() => null);
      if (claim) return claim;
      // Last, so that nothing comes between its answer and the sending.
      const found = await backend.spenders(outpoints, signal);
      return found.find((txid) => !own.includes(txid)) ?? null;
    },
  };
}

/** For all that a second source is asked before one sending. Its silence holds up no refund. */
const secondMs = 3_000;

type SecondSource = Pick<BitcoinBackend, 'spenders' | 'rawOf'> & {
  /** Whether it shows the secret of an escrow that is followed; then it is known from now on. */
  readonly learn: (tx: Tx) => boolean;
};

/** The claim that waits there and that a refund would replace. */
async function claimAt(
  second: SecondSource,
  outpoints: readonly string[],
  own: readonly (string | null)[],
  signal: AbortSignal,
): Promise<string | null> {
  for (const txid of new Set(await second.spenders(outpoints, signal))) {
    if (own.includes(txid)) continue;
    const raw = await second.rawOf(txid, null, signal);
    // A claim shows the secret. Lower refunds, which show none, are in nobody's way.
    if (raw !== null && second.learn(parseTx(raw))) return txid;
  }
  return null;
}
