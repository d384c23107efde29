// Fee bounds, rates and replacements: sat per virtual byte, and whole satoshis rounded up.

import { larger, smaller } from '@parley/core/amounts.ts';
import { dustSats } from './networks.ts';

export type FeeBounds = {
  /** Nodes relay no less than this (Core's minrelaytxfee). */
  readonly floorSatPerVbyte: number;
  /** A rate above this is a mistake, whoever asks for it. */
  readonly capSatPerVbyte: number;
  /** The fee's share of the value spent, in basis points; the floor wins where they conflict. */
  readonly capShareBps: bigint;
  /** An estimate older than this many seconds is not used. */
  readonly staleSeconds: number;
};

export const defaultFeeBounds: FeeBounds = {
  floorSatPerVbyte: 1,
  capSatPerVbyte: 500,
  capShareBps: 2_500n,
  staleSeconds: 1_800,
};

/** A claim that is not mined in time loses the whole leg, once its secret is public. */
const publicClaimShareBps = 9_500n;

/** For a claim whose secret is public. Before, and of a refund, nothing is worth that much. */
export function publicClaimBounds(bounds: FeeBounds): FeeBounds {
  return { ...bounds, capShareBps: larger(bounds.capShareBps, publicClaimShareBps) };
}

export type FeeEstimate = {
  /** Next block or two; about half an hour; about an hour. */
  readonly fast: number;
  readonly medium: number;
  readonly slow: number;
  /** Least rate that the node's mempool takes now. */
  readonly least: number;
  /** By how much a replacement has to pay more (Core's incrementalrelayfee); default 1. */
  readonly increment?: number;
  readonly at: number;
};

/** Blocks until it is mined. */
export const paceTargets = { fast: 2, medium: 3, slow: 6 } as const;
/** Half a day and a day are for a node that knows no nearer target. */
export const askedTargets: readonly number[] = [...Object.values(paceTargets), 72, 144];
type Paces = Pick<FeeEstimate, keyof typeof paceTargets>;

/**
 * `estimates` are keyed by their target in blocks, and some may be missing. A pace is never lower
 * than that of a later target. With no later target it takes the last earlier one. Null means that
 * no estimate is known.
 */
export function pacesOf(estimates: Readonly<Record<string, unknown>>): Paces | null {
  const known = Object.entries(estimates)
    .map(([blocks, rate]) => ({ blocks: Number(blocks), rate }))
    .filter(
      (each): each is { blocks: number; rate: number } => isRate(each.rate) && each.blocks > 0,
    )
    .toSorted((one, other) => one.blocks - other.blocks);
  const last = known.at(-1);
  if (last === undefined) return null;
  const rateOf = (target: number) => {
    const later = known.filter(({ blocks }) => blocks >= target);
    return later.reduce((most, { rate }) => Math.max(most, rate), later.length > 0 ? 0 : last.rate);
  };
  const { fast, medium, slow } = paceTargets;
  return { fast: rateOf(fast), medium: rateOf(medium), slow: rateOf(slow) };
}

/** Some servers give -1 for a rate that they do not know. */
function isRate(rate: unknown): rate is number {
  return typeof rate === 'number' && Number.isFinite(rate) && rate > 0;
}

/** The answer of a node that has too little to estimate by: the bounds of its mempool alone. */
export type NoEstimate = { readonly fast: null } & Pick<FeeEstimate, 'least' | 'increment' | 'at'>;

/** Never below Core's own default: the transaction goes through other nodes too. */
export function incrementOf({ increment = 1 }: FeeEstimate): number {
  return Math.max(1, increment);
}

export function feeAt(vsize: number, rateSatPerVbyte: number): bigint {
  return BigInt(Math.ceil(vsize * rateSatPerVbyte));
}

/** A fee as a rate, in thousandths, rounded down. */
export function rateOf(feeSats: bigint, vsize: number): number {
  return Number((feeSats * 1_000n) / BigInt(vsize)) / 1_000;
}

/** The least rate in thousandths that comes to a fee of at least this. */
export function leastRateFor(feeSats: bigint, vsize: number): number {
  const size = BigInt(vsize);
  return Number((feeSats * 1_000n + size - 1n) / size) / 1_000;
}

export function mostFee(bounds: FeeBounds, vsize: number, value: bigint): bigint {
  // The rest has to be worth an output.
  const share = smaller((value * bounds.capShareBps) / 10_000n, value - dustSats.p2pkh);
  const cap = feeAt(vsize, bounds.capSatPerVbyte);
  return larger(smaller(share, cap), leastFee(bounds, vsize));
}

export function leastFee(bounds: FeeBounds, vsize: number): bigint {
  return feeAt(vsize, bounds.floorSatPerVbyte);
}

/** A fee within the bounds, as near to the wanted rate as they allow. */
export function boundedFee(
  bounds: FeeBounds,
  vsize: number,
  value: bigint,
  wantedSatPerVbyte: number,
): bigint {
  const wanted = larger(feeAt(vsize, wantedSatPerVbyte), leastFee(bounds, vsize));
  return smaller(wanted, mostFee(bounds, vsize, value));
}

// The fee bump schedule. A block may take over an hour (p99.9: 69 min), so the pace rises well
// before the last one that counts; in the last hour it bids above what the node thinks enough.
const schedule = [
  { fromSeconds: 12 * 3_600, pace: 'slow', times: 1 },
  { fromSeconds: 6 * 3_600, pace: 'medium', times: 1 },
  { fromSeconds: 3 * 3_600, pace: 'fast', times: 1 },
  { fromSeconds: 3_600, pace: 'fast', times: 1.5 },
  { fromSeconds: -Infinity, pace: 'fast', times: 2 },
] as const;

export const paceChanges: readonly number[] = schedule
  .slice(0, -1)
  .map(({ fromSeconds }) => fromSeconds - 1);

/** The rate to be mined within `secondsLeft`. Rises, and never falls, as they run out. */
export function ladderRate(
  { slow, medium, fast, least }: FeeEstimate,
  secondsLeft: number,
): number {
  // A node's estimates need not be ordered; a nearer deadline must never bid less.
  const ordered = {
    slow,
    medium: Math.max(slow, medium),
    fast: Math.max(slow, medium, fast),
  };
  const step = schedule.find(({ fromSeconds }) => secondsLeft >= fromSeconds) ?? schedule[4];
  return Math.max(least, ordered[step.pace] * step.times);
}

/** An unconfirmed transaction in the way, as a mempool knows it. */
export type Conflict = {
  readonly txid: string;
  readonly vsize: number;
  readonly feeSats: bigint;
  /** For it and everything that spends it; the size where the source tells. */
  readonly withDescendantsFeeSats: bigint;
  readonly withDescendantsVsize?: number;
  /** For it and every unconfirmed one that it spends, where the source tells. */
  readonly withAncestors?: { readonly vsize: number; readonly feeSats: bigint };
  /** When the mempool took it, Unix seconds, where the source tells. */
  readonly since?: number;
};

/** The least fee that replaces `conflicts`: BIP 125 rules 3 and 4, and Core's: beat each rate. */
export function replacementFee(
  vsize: number,
  conflicts: readonly Conflict[],
  incrementSatPerVbyte = 1,
): bigint {
  if (conflicts.length === 0) return 0n;
  const sum = conflicts.reduce((total, each) => total + each.withDescendantsFeeSats, 0n);
  // fee / vsize > each.fee / each.vsize, in whole numbers; the +1 makes it strict.
  const beats = conflicts.map((each) => (each.feeSats * BigInt(vsize)) / BigInt(each.vsize) + 1n);
  return beats.reduce(larger, sum + feeAt(vsize, incrementSatPerVbyte));
}

/** Whether an estimate is too old, or from a clock ahead of ours by as much. */
export function isStale(bounds: FeeBounds, estimate: FeeEstimate, now: number): boolean {
  return Math.abs(now - estimate.at) > bounds.staleSeconds;
}

/** Fees move by the block; half a minute keeps a busy market from asking at every quote. */
const freshSeconds = 30;

/** The estimate in use, kept while the source is silent and until it is stale: then it throws. */
export function estimating(
  ask: (now: number, signal: AbortSignal) => Promise<FeeEstimate | NoEstimate | null>,
  { bounds, now, fallbackRate }: { bounds: FeeBounds; now: () => number; fallbackRate: number },
): (signal: AbortSignal) => Promise<FeeEstimate> {
  let last: FeeEstimate | null = null;
  return async (signal) => {
    const at = now();
    if (last !== null && Math.abs(at - last.at) < freshSeconds) return last;
    const fallback = { fast: fallbackRate, medium: fallbackRate, slow: fallbackRate, least: 1, at };
    try {
      const asked = (await ask(at, signal)) ?? fallback;
      // The fallback is no reason to go below what the node's mempool takes.
      if (asked.fast !== null) last = asked;
      else last = { ...fallback, ...asked, fast: Math.max(fallbackRate, asked.least) };
      return last;
    } catch (error) {
      if (last !== null && !isStale(bounds, last, at)) return last;
      throw error;
    }
  };
}

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
