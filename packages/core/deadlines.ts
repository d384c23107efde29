// The deadline engine: when each side must have acted, so that nobody who keeps to it can lose.
// All times are Unix seconds. The inequalities and their reasons: docs/timelocks.md.

import type { UnixSeconds } from './nominal.ts';
import { type ChainPolicy, type Depth, depthNumbers, policyNumbers } from './policy.ts';
import type { LegName } from './trade.ts';
import type { Unchecked } from './unchecked.ts';

/**
 * A change that makes another time of the same policies takes the next number (decision 0013 in
 * docs/decisions/README.md).
 */
export const formulaVersion = 1;

export type Deadlines = {
  /** Last moment for the initiator's funding transaction to be sent. */
  readonly initiatorFundBy: UnixSeconds;
  /** A funding sent at `initiatorFundBy` is final by then. */
  readonly expiresAt: UnixSeconds;
  /** Last moment for the counterparty's funding transaction to be sent. */
  readonly counterpartyFundBy: UnixSeconds;
  /** Last moment for the initiator to reveal the secret by claiming the short leg. */
  readonly revealBy: UnixSeconds;
  /** The escrow timelocks: claims before, refunds from then on. */
  readonly refundAt: { readonly a: UnixSeconds; readonly b: UnixSeconds };
};

export type LegTiming = { readonly policy: ChainPolicy; readonly depth: Depth };

export type Schedule = {
  readonly initiatorFundBy: number;
  readonly expiresAt: number;
  readonly counterpartyFundBy: number;
  readonly revealBy: number;
  readonly shortTimelock: number;
  readonly longTimelock: number;
};

/** The depth that so many confirmations stand for. */
export function depthOf(
  { normal, high }: Pick<ChainPolicy, 'normal' | 'high'>,
  confirmations: number,
): Depth {
  return confirmations >= high.confirmations ? high : normal;
}

/** A clock trails by no more than the chain stood still, nor than its protocol lets through. */
export function lateClaim({ policy, depth }: LegTiming): number {
  const { lateClaimSeconds, windowSeconds } = policy;
  const trails = Math.min(depth.outageSeconds, windowSeconds ?? Number.POSITIVE_INFINITY);
  return lateClaimSeconds + trails;
}

/** The schedule in seconds after the agreement, for a short and a long leg. */
export function schedule(short: LegTiming, long: LegTiming): Schedule {
  const { policy: sp, depth: sd } = short;
  const { policy: lp, depth: ld } = long;
  const react = Math.max(sp.reactSeconds, lp.reactSeconds);
  // A clock that is ahead by `drift` takes it from whoever still has to claim before a timelock.
  const afterReveal = sd.settleSeconds + sd.outageSeconds + sp.signSeconds + sp.driftSeconds;
  const betweenFundings = ld.settleSeconds + react;
  const beforeReveal = sd.settleSeconds + react;
  // The later of all clocks is asked: one that is ahead must leave the initiator its time too.
  const lead = Math.max(sp.driftSeconds, lp.driftSeconds);
  const least = lead + react + betweenFundings + beforeReveal + afterReveal;
  const shortTimelock = Math.max(sp.floorSeconds, least);
  const revealBy = shortTimelock - afterReveal;
  const counterpartyFundBy = revealBy - beforeReveal;
  const initiatorFundBy = counterpartyFundBy - betweenFundings;
  const expiresAt = initiatorFundBy + ld.settleSeconds;
  const detect = Math.max(sp.detectSeconds, lp.detectSeconds);
  const claimLong = detect + react + ld.settleSeconds + ld.outageSeconds + lp.driftSeconds;
  const longTimelock = Math.max(lp.floorSeconds, shortTimelock + lateClaim(short) + claimLong);
  const times = { initiatorFundBy, expiresAt, counterpartyFundBy, revealBy };
  return { ...times, shortTimelock, longTimelock };
}

/**
 * On the chain with the longer floor; else what gives the smaller T_long, then T_short, then `b`.
 */
export function longLeg({ a, b }: { readonly a: LegTiming; readonly b: LegTiming }): LegName {
  const floors = a.policy.floorSeconds - b.policy.floorSeconds;
  if (floors !== 0) return floors > 0 ? 'a' : 'b';
  const ifA = schedule(b, a);
  const ifB = schedule(a, b);
  const { longTimelock, shortTimelock } = ifB;
  const more = ifA.longTimelock - longTimelock || ifA.shortTimelock - shortTimelock;
  return more < 0 ? 'a' : 'b';
}

export function deadlines(
  agreedAt: UnixSeconds,
  legs: { readonly a: LegTiming; readonly b: LegTiming },
  long: LegName,
): Deadlines {
  const short = long === 'a' ? legs.b : legs.a;
  const s = schedule(short, legs[long]);
  const shortAt = agreedAt + s.shortTimelock;
  const longAt = agreedAt + s.longTimelock;
  return {
    initiatorFundBy: agreedAt + s.initiatorFundBy,
    expiresAt: agreedAt + s.expiresAt,
    counterpartyFundBy: agreedAt + s.counterpartyFundBy,
    revealBy: agreedAt + s.revealBy,
    refundAt: long === 'a' ? { a: longAt, b: shortAt } : { a: shortAt, b: longAt },
  };
}

/** On-chain bounds of a timelock at funding (contracts/escrows): 30 minutes to 30 days ahead. */
const timelockBounds = { leastAheadSeconds: 1_800, mostAheadSeconds: 30 * 86_400 } as const;

/**
 * The legs that two chains can come to, with the second long: the list leaves out a leg whose floor
 * is shorter.
 */
export function pairings(short: ChainPolicy, long: ChainPolicy): [LegTiming, LegTiming][] {
  if (long.floorSeconds < short.floorSeconds) return [];
  const depths = (policy: ChainPolicy) =>
    [policy.normal, policy.high].map((depth) => ({ policy, depth }));
  return depths(short).flatMap((s) => depths(long).map((l): [LegTiming, LegTiming] => [s, l]));
}

/** The faults of one policy, by itself and with its like: one sentence each. */
export function brokenPolicy(policy: ChainPolicy): string[] {
  const wrong = wrongNumbers(policy);
  if (wrong.length > 0) return wrong;
  const { normal, high } = policy;
  const lower = depthNumbers
    .filter((name) => high[name] < normal[name])
    .map((name) => `high.${name} is ${high[name]}, less than normal.${name} ${normal[name]}`);
  const pairs = pairings(policy, policy).flatMap((pair) => brokenInequalities(...pair));
  return [...new Set([...lower, ...pairs])];
}

function wrongNumbers(policy: NonNullable<Unchecked<ChainPolicy>>): string[] {
  const depths = (['normal', 'high'] as const).flatMap((which) =>
    depthNumbers.map((name) => [`${which}.${name}`, policy[which]?.[name]] as const),
  );
  const plain = policyNumbers.map((name) => [name, policy[name]] as const);
  return [...plain, ['windowSeconds', policy.windowSeconds ?? 0] as const, ...depths]
    .filter(([, value]) => !(Number.isInteger(value) && Number(value) >= 0))
    .map(([name, value]) => `${name} must be a whole number, is ${value}`);
}

/**
 * One sentence for each inequality that is broken, with its numbers; a market with any does not
 * start.
 */
export function brokenInequalities(short: LegTiming, long: LegTiming): string[] {
  const broken = [...wrongNumbers(short.policy), ...wrongNumbers(long.policy)];
  if (broken.length > 0) return broken;
  const s = schedule(short, long);
  const react = Math.max(short.policy.reactSeconds, long.policy.reactSeconds);
  const lead = Math.max(short.policy.driftSeconds, long.policy.driftSeconds);
  const must = (holds: boolean, sentence: string) => {
    if (!holds) broken.push(sentence);
  };
  must(short.depth.confirmations >= 1, 'the short leg must wait for at least 1 confirmation');
  must(long.depth.confirmations >= 1, 'the long leg must wait for at least 1 confirmation');
  must(
    s.initiatorFundBy >= lead + react,
    `initiatorFundBy is ${s.initiatorFundBy} s after agreement, less than react ${react} s and ` +
      `the ${lead} s that a clock may be ahead`,
  );
  must(
    long.policy.floorSeconds >= short.policy.floorSeconds,
    `the long leg's floor ${long.policy.floorSeconds} s is below the short leg's ` +
      `${short.policy.floorSeconds} s`,
  );
  for (const { lateClaimSeconds: late, driftSeconds: drift } of [short.policy, long.policy]) {
    must(late >= drift, `lateClaimSeconds is ${late}, less than driftSeconds ${drift}`);
  }
  const late = s.shortTimelock + lateClaim(short);
  must(
    s.longTimelock >= late + react + long.policy.driftSeconds,
    `the long timelock ${s.longTimelock} s leaves less than react after ${late} s, until when a ` +
      'claim of the short leg may land',
  );
  // The last funding still has to meet the contract's lower bound when it is mined.
  must(
    s.shortTimelock - s.counterpartyFundBy - short.depth.settleSeconds >=
      timelockBounds.leastAheadSeconds + short.policy.driftSeconds,
    `a funding sent at counterpartyFundBy would be mined less than ` +
      `${timelockBounds.leastAheadSeconds} s before the short timelock`,
  );
  const ahead = s.longTimelock + long.policy.driftSeconds;
  must(
    ahead <= timelockBounds.mostAheadSeconds,
    `the long timelock ${ahead} s is more than ${timelockBounds.mostAheadSeconds} s ahead`,
  );
  return broken;
}
