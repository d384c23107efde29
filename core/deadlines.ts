// The deadline engine: when each side must have acted, so that nobody who keeps to it can lose.
// All times are Unix seconds. The inequalities and their reasons: docs/timelocks.md.

import type { ChainPolicy, Depth } from './policy.ts';
import type { LegName } from './trade.ts';

export type Deadlines = {
  /** Last moment for the initiator's funding transaction to be sent. */
  readonly initiatorFundBy: number;
  /**
   * When the swap counts as expired if nothing was funded: a funding sent at `initiatorFundBy` is
   * deep by then.
   */
  readonly expiresAt: number;
  /** Last moment for the counterparty's funding transaction to be sent. */
  readonly counterpartyFundBy: number;
  /** Last moment for the initiator to reveal the secret by claiming the short leg. */
  readonly revealBy: number;
  /** The escrow timelocks: claims before, refunds from then on. */
  readonly refundAt: { readonly a: number; readonly b: number };
};

export type LegTiming = { readonly policy: ChainPolicy; readonly depth: Depth };

/** What the formula adds up to, relative to the agreement. */
export type Schedule = {
  readonly initiatorFundBy: number;
  readonly expiresAt: number;
  readonly counterpartyFundBy: number;
  readonly revealBy: number;
  readonly shortTimelock: number;
  readonly longTimelock: number;
};

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
  const longTimelock = Math.max(lp.floorSeconds, shortTimelock + sp.lateClaimSeconds + claimLong);
  const times = { initiatorFundBy, expiresAt, counterpartyFundBy, revealBy };
  return { ...times, shortTimelock, longTimelock };
}

/** The deadlines of a swap agreed at `agreedAt` (Unix seconds). */
export function deadlines(
  agreedAt: number,
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

/** On-chain bounds of a timelock at funding (contracts/evm): 30 minutes to 30 days ahead. */
const timelockBounds = { leastAheadSeconds: 1_800, mostAheadSeconds: 30 * 86_400 } as const;

/**
 * Every inequality the policies of a pair of chains must keep. Returns one sentence for each that
 * is broken, with its numbers; start-up refuses to run with any.
 */
export function brokenInequalities(short: LegTiming, long: LegTiming): string[] {
  const s = schedule(short, long);
  const react = Math.max(short.policy.reactSeconds, long.policy.reactSeconds);
  const lead = Math.max(short.policy.driftSeconds, long.policy.driftSeconds);
  const broken: string[] = [];
  const must = (holds: boolean, sentence: string) => {
    if (!holds) broken.push(sentence);
  };
  const numbers = [
    ...Object.entries(short.policy.normal),
    ...Object.entries(short.depth),
    ...Object.entries(long.depth),
    ...Object.entries(long.policy).filter(([, value]) => typeof value === 'number'),
    ...Object.entries(short.policy).filter(([, value]) => typeof value === 'number'),
  ] as [string, number][];
  for (const [name, value] of numbers) {
    must(Number.isInteger(value) && value >= 0, `${name} must be a whole number, is ${value}`);
  }
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
  must(
    s.longTimelock >=
      s.shortTimelock + short.policy.lateClaimSeconds + react + long.policy.driftSeconds,
    `the long timelock ${s.longTimelock} s leaves less than react after the short one`,
  );
  // The last funding still has to meet the contract's lower bound when it is mined.
  must(
    s.shortTimelock - s.counterpartyFundBy - short.depth.settleSeconds >=
      timelockBounds.leastAheadSeconds + short.policy.driftSeconds,
    `a funding sent at counterpartyFundBy would be mined less than ` +
      `${timelockBounds.leastAheadSeconds} s before the short timelock`,
  );
  // To a clock that is behind it is that much further ahead.
  const ahead = s.longTimelock + long.policy.driftSeconds;
  must(
    ahead <= timelockBounds.mostAheadSeconds,
    `the long timelock ${ahead} s is more than ${timelockBounds.mostAheadSeconds} s ahead`,
  );
  return broken;
}
