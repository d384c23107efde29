// The fee bump schedule: steps to the deadline, each replacing the one before (BIP 125). Pure.

import { larger } from '@parley/core/amounts.ts';
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
  readonly at: number;
  readonly feeRateSatPerVbyte: number;
  readonly feeSats: bigint;
};

/** Only a refund's funder can take the money: a cheap one is tried first, but not for ever. */
const refundPatienceSeconds = 12 * 3_600;

/** By when a refund should be mined. One that is built long after its timelock starts anew. */
export function refundDeadline(timelock: number, now: number): number {
  const own = timelock + refundPatienceSeconds;
  return now < own ? own : now + refundPatienceSeconds;
}

type Spent = {
  readonly estimate: FeeEstimate;
  readonly bounds: FeeBounds;
  readonly vsize: number;
  readonly value: bigint;
};

/** The first step is now, at the fee that is paid now; the others come where the pace changes. */
export function feeLadder(
  request: Spent & { readonly now: number; readonly deadline: number; readonly feeSats: bigint },
): FeeStep[] {
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
    paid = larger(wanted, paid + increment);
    if (paid > most) break;
    steps.push(step(at, paid));
  }
  return steps;
}

/** Signed refunds that are kept of an escrow. More are refused with 400. */
export const mostBumps = 12;

/** They reach so many times above what the last hour would cost now. */
export const reserve = 8;

/** Their fees: from the least that is relayed, evenly by factors, each replacing the one before. */
export function signedLadder({ estimate, bounds, vsize, value }: Spent): bigint[] {
  const increment = feeAt(vsize, incrementOf(estimate));
  const least = boundedFee(bounds, vsize, value, 0);
  const top = boundedFee(bounds, vsize, value, ladderRate(estimate, 0) * reserve);
  const factor = (Number(top) / Number(least)) ** (1 / (mostBumps - 1));
  const fees = [least];
  for (let at = 1; at < mostBumps; at += 1) {
    const next = (fees.at(-1) ?? least) + increment;
    const even = BigInt(Math.ceil(Number(least) * factor ** at));
    const fee = at === mostBumps - 1 ? top : larger(even, next);
    if (fee <= top && fee >= next) fees.push(fee);
  }
  return fees;
}
