// The costs of an escrow on Bitcoin at the fees of now, in satoshis. The spends are counted at the
// longest that they can be.

import { larger } from '@parley/core/amounts.ts';
import type { LeastRefund } from '@parley/core/remains.ts';
import type { Cost, Costs } from '../interface/gas.ts';
import { type FeeBounds, type FeeEstimate, feeAt, ladderRate, leastFee } from './fees.ts';
import { type BitcoinAddress, dustSats } from './networks.ts';
import { type EscrowBytes, spendVsize } from './plan.ts';
import { mostInputs } from './spending.ts';

// The longest claim is that of a leaf, with its control block. The longest refund is by a script,
// with a 4-byte timelock. The longest destination is P2WSH or P2TR.
const claimBytes = 239;
const refundBytes = 195;
const destinationBytes = 34;
const claimVsize = spendVsize(1, claimBytes, destinationBytes);
const refundVsize = spendVsize(1, refundBytes, destinationBytes);

/** P2WPKH: a transaction that pays one P2WSH or P2TR output and a change, and each coin that it spends. */
const paymentVsize = 85;
const coinVsize = 68;
/** For a usual wallet, and for one with small coins. */
const usualCoins = 1;
const mostCoins = 5;

/** Mined within hours, and within the hour. */
const calmSeconds = 6 * 3_600;
const hurrySeconds = 0;

/** The least of which a claim leaves no dust, and takes no more than its share. */
export function leastSats(rateSatPerVbyte: number, bounds: FeeBounds): bigint {
  const fee = feeAt(claimVsize, Math.min(rateSatPerVbyte, bounds.capSatPerVbyte));
  const byShare = (fee * 10_000n + bounds.capShareBps - 1n) / bounds.capShareBps;
  return larger(byShare, fee + dustSats.p2pkh);
}

/** The least that a refund of this escrow to its address takes. */
export function leastRefundOf(
  { branches }: Pick<EscrowBytes, 'branches'>,
  to: BitcoinAddress,
  bounds: FeeBounds,
): LeastRefund {
  const { witnessBytes } = branches.refund;
  const feeOf = (inputs: number) =>
    leastFee(bounds, spendVsize(inputs, witnessBytes, to.script.length));
  return { feeOf, leastPaid: dustSats[to.kind], most: mostInputs };
}

export function costsAt(estimate: FeeEstimate, bounds: FeeBounds): Costs {
  const rateIn = (seconds: number) =>
    Math.min(ladderRate(estimate, seconds), bounds.capSatPerVbyte);
  const cost = (usualVsize: number, mostVsize = usualVsize): Cost => {
    const usual = feeAt(usualVsize, rateIn(calmSeconds));
    return { usual, most: larger(usual, feeAt(mostVsize, rateIn(hurrySeconds))) };
  };
  const payment = (coins: number) => paymentVsize + coins * coinVsize;
  return {
    fund: cost(payment(usualCoins), payment(mostCoins)),
    claim: cost(claimVsize),
    refund: cost(refundVsize),
    settlesFromAmount: true,
    deposit: null,
    leastAmount: leastSats(ladderRate(estimate, hurrySeconds), bounds),
  };
}
