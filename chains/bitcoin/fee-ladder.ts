// What to pay if a claim or refund is not mined by then: the steps from now to its deadline, each
// enough to replace the one before it (BIP 125). Pure. Instants are Unix seconds, fees satoshis.

import { larger } from '../../core/amounts.ts';
import {
  boundedFee,
  type FeeBounds,
  type FeeEstimate,
  feeAt,
  incrementOf,
  ladderRate,
  mostFee,
  paceChanges,
  rateOf,
} from './fees.ts';

export type FeeStep = {
  /** From when on to pay it. */
  readonly at: number;
  readonly feeRateSatPerVbyte: number;
  readonly feeSats: bigint;
};

/**
 * A refund has no deadline while the secret is unknown: only its funder can take the money. It is
 * given this long from its timelock, so that a cheap one is tried first and does not stay for ever.
 */
const refundPatienceSeconds = 12 * 3_600;

/** By when a refund should be mined. One that is built long after its timelock starts anew. */
export function refundDeadline(timelock: number, now: number): number {
  const own = timelock + refundPatienceSeconds;
  return now < own ? own : now + refundPatienceSeconds;
}

export type LadderRequest = {
  readonly estimate: FeeEstimate;
  readonly bounds: FeeBounds;
  readonly vsize: number;
  /** What is spent, satoshis. */
  readonly value: bigint;
  readonly now: number;
  readonly deadline: number;
  /** What is paid now. */
  readonly feeSats: bigint;
};

/**
 * The first step is now, at the fee that is paid now; the others come where the pace of
 * `ladderRate` changes, by the estimate of now. Fees rise by what a replacement takes at least, and
 * never above the cap; the last step is before the deadline.
 */
export function feeLadder(request: LadderRequest): FeeStep[] {
  const { estimate, bounds, vsize, value, now, deadline } = request;
  const most = mostFee(bounds, vsize, value);
  const increment = feeAt(vsize, incrementOf(estimate));
  const step = (at: number, feeSats: bigint): FeeStep => ({
    at,
    feeRateSatPerVbyte: rateOf(feeSats, vsize),
    feeSats,
  });
  const steps = [step(now, request.feeSats)];
  let paid = request.feeSats;
  for (const secondsLeft of paceChanges) {
    const at = deadline - secondsLeft;
    const wanted = boundedFee(bounds, vsize, value, ladderRate(estimate, secondsLeft));
    if (at <= now || wanted <= paid) continue;
    const feeSats = larger(wanted, paid + increment);
    if (feeSats > most) break;
    steps.push(step(at, feeSats));
    paid = feeSats;
  }
  return steps;
}

/** Most rungs of a ladder of signed refunds. */
export const mostRungs = 12;

/** A signed ladder reaches so many times above what its last hour would cost now. */
export const reserve = 8;

/**
 * The fees of a ladder of refunds that are signed now and sent some day: from the least that is
 * relayed to far above the estimate of now, evenly by factors, each able to replace the one before.
 */
export function signedLadder(
  request: Pick<LadderRequest, 'estimate' | 'bounds' | 'vsize' | 'value'>,
): bigint[] {
  const { estimate, bounds, vsize, value } = request;
  const increment = feeAt(vsize, incrementOf(estimate));
  const least = boundedFee(bounds, vsize, value, 0);
  const top = boundedFee(bounds, vsize, value, ladderRate(estimate, 0) * reserve);
  const factor = (Number(top) / Number(least)) ** (1 / (mostRungs - 1));
  const fees = [least];
  for (let rung = 1; rung < mostRungs; rung += 1) {
    const last = fees.at(-1) ?? least;
    const even = BigInt(Math.ceil(Number(least) * factor ** rung));
    const fee = rung === mostRungs - 1 ? top : larger(even, last + increment);
    if (fee > top || fee < last + increment) continue;
    fees.push(fee);
  }
  return fees;
}
