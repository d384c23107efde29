// A funding that waits too long for its first block, and what its funder can do: pay for it with a
// child out of the change (CPFP), or have its wallet replace it (RBF). Pure.

import { larger } from '../../core/amounts.ts';
import type { StuckFunding } from '../../core/next.ts';
import { type Conflict, type FeeEstimate, feeAt, ladderRate, rateOf } from './fees.ts';

/** So long it may wait before anybody is bothered: a block or two. */
export const fundingPatienceSeconds = 20 * 60;

/** One P2WPKH input, one output of any kind in use. */
const childVsize = 122;

export type Waiting = {
  readonly entry: Conflict;
  /** Outputs that do not pay the escrow: the funder's change, if any. */
  readonly changeOutputs: readonly number[];
  readonly estimate: FeeEstimate;
  /** Unix seconds. */
  readonly now: number;
  /** By when a funding of this leg is to be sent. */
  readonly sendBy: number;
};

export function isYoung({ since }: Conflict, now: number): boolean {
  return since !== undefined && now - since < fundingPatienceSeconds;
}

/** What to say of it; null while it has waited for a short time, or pays what is wanted now. */
export function stuckFunding(waiting: Waiting): StuckFunding | null {
  const { entry, changeOutputs, estimate, now, sendBy } = waiting;
  if (isYoung(entry, now)) return null;
  const wanted = ladderRate(estimate, sendBy - now);
  const { vsize, feeSats } = entry;
  const packageVsize = entry.withAncestorsVsize ?? vsize;
  const packageFee = entry.withAncestorsFeeSats ?? feeSats;
  const own = Math.min(rateOf(feeSats, vsize), rateOf(packageFee, packageVsize));
  // A child that is there already may pay for it.
  const descendants = entry.withDescendantsVsize ?? vsize;
  const withChild = rateOf(entry.withDescendantsFeeSats, descendants);
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
  const { childFeeSats, childVsize, changeOutputs } = stuck;
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
