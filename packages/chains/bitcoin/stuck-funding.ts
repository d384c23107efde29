// A funding that waits too long, and what its funder can do: a child (CPFP) or a replacement (RBF).

import { larger } from '@parley/core/amounts.ts';
import type { StuckFunding } from '@parley/core/next.ts';
import type { Warning } from '../interface/gas.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { BitcoinBackend } from './backend.ts';
import { type EscrowHistory, fundingPayment } from './escrow-facts.ts';
import { type Conflict, type FeeEstimate, feeAt, ladderRate, rateOf } from './fees.ts';
import { parseTx } from './raw-transaction.ts';

/** So long it may wait before anybody is bothered: a block or two. */
export const fundingPatienceSeconds = 20 * 60;

/** One P2WPKH input, one output of any kind in use. */
const childVsize = 122;

export type Waiting = {
  readonly entry: Conflict;
  /** Outputs that do not pay the escrow: the funder's change, if any. */
  readonly changeOutputs: readonly number[];
  readonly estimate: FeeEstimate;
  readonly now: number;
  readonly sendBy: number;
};

/** How the chain is read: the escrow's whole history, its funding in the mempool, the rates. */
export type Reading = {
  readonly backend: Pick<BitcoinBackend, 'mempoolEntry' | 'rawOf' | 'ancestors' | 'spenders'>;
  readonly now: () => number;
  readonly estimate: (signal: AbortSignal) => Promise<FeeEstimate>;
  /** `clock`: median time past of the best block. */
  readonly history: (
    escrow: WatchedEscrow,
    signal: AbortSignal,
  ) => Promise<{ readonly history: EscrowHistory; readonly clock: number }>;
};

export async function stuckWarning(
  { backend, history, estimate, ...reading }: Reading,
  escrow: WatchedEscrow,
  sendBy: number,
  signal: AbortSignal,
): Promise<Warning | null> {
  const { address, terms } = escrow;
  const { history: seen } = await history(escrow, signal);
  const funding = fundingPayment(seen, terms.amount);
  if (funding === null || funding.height !== null) return null;
  const now = reading.now();
  const entry = await backend.mempoolEntry(funding.txid, signal);
  if (entry === null || isYoung(entry, now)) return null;
  const raw = await backend.rawOf(funding.txid, null, signal);
  if (raw === null) return null;
  const changeOutputs = [...parseTx(raw).outputs.keys()].filter((vout) => vout !== funding.vout);
  const rates = await estimate(signal);
  // Where these are not answered any more, the funder is warned by what is known.
  const { isWhole = true, ...ancestors } =
    (await backend.ancestors?.(funding.txid, signal).catch(() => ({ isWhole: false }))) ?? {};
  const about = { entry: { ...entry, ...ancestors }, changeOutputs, estimate: rates };
  const stuck = stuckFunding({ ...about, now, sendBy });
  if (stuck === null) return null;
  const sentence = stuckSentence(stuck, isWhole);
  return { code: 'fund_stuck', verb: 'fund', address, sentence, stuck };
}

function isYoung({ since }: Conflict, now: number): boolean {
  return since !== undefined && now - since < fundingPatienceSeconds;
}

/** The warning; null while it has waited for a short time, or pays what is wanted now. */
export function stuckFunding(waiting: Waiting): StuckFunding | null {
  const { entry, changeOutputs, estimate, now, sendBy } = waiting;
  if (isYoung(entry, now)) return null;
  const wanted = ladderRate(estimate, sendBy - now);
  const { vsize, feeSats } = entry;
  const packageVsize = entry.withAncestorsVsize ?? vsize;
  const packageFee = entry.withAncestorsFeeSats ?? feeSats;
  const own = Math.min(rateOf(feeSats, vsize), rateOf(packageFee, packageVsize));
  // A child that is there already may pay for it.
  const withChild = rateOf(entry.withDescendantsFeeSats, entry.withDescendantsVsize ?? vsize);
  if (Math.max(own, withChild) >= wanted) return null;
  // Parents that pay more than is wanted are mined before, and leave it nothing.
  const missing = larger(
    feeAt(packageVsize + childVsize, wanted) - packageFee,
    feeAt(vsize + childVsize, wanted) - feeSats,
  );
  return {
    txid: entry.txid,
    feeRateSatPerVbyte: own,
    wantedFeeRateSatPerVbyte: wanted,
    childVsize,
    childFeeSats: larger(missing, feeAt(childVsize, wanted)).toString(),
    changeOutputs: [...changeOutputs],
  };
}

/** `isWhole`: false where not all that it spends could be read. */
export function stuckSentence(stuck: StuckFunding, isWhole = true): string {
  const { txid, feeRateSatPerVbyte: paid, wantedFeeRateSatPerVbyte: wanted } = stuck;
  const { childFeeSats, changeOutputs } = stuck;
  const child =
    changeOutputs.length === 0
      ? 'it has no change that a child could spend'
      : `spend your change (output ${changeOutputs.join(' or ')}) with a fee of ${childFeeSats} ` +
        `sats for ${childVsize} vbytes${isWhole ? '' : ' (more where what it spends waits too)'}`;
  return (
    `the funding ${txid} is in no block and pays ${paid} sat per vbyte, where ${wanted} are wanted ` +
    `now: have your wallet replace it at that rate (the same payment), or ${child}; the escrow's ` +
    'own output cannot be spent for it'
  );
}
