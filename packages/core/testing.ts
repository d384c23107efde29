// Swaps and facts for tests of the rules: a short EVM leg and a long Bitcoin leg unless told.

import { randomBytes } from 'node:crypto';
import { deadlines } from './deadlines.ts';
import { type EscrowFacts, nothingSeen, type Sighting } from './facts.ts';
import { hashlockOf } from './hashlock.ts';
import type { ChainPolicy } from './policy.ts';
import type { Clocks, Leg, Release, SwapState } from './swap.ts';
import type { Lane } from './terms.ts';
import { funderOf, type LegName } from './trade.ts';

/** A lane of the funder's that nobody else has. */
export function freshLane(): Lane {
  return { number: `0${randomBytes(12).toString('hex').slice(1)}`, counter: 1 };
}

export const secret = '11'.repeat(32);
export const agreedAt = 1_800_000_000;

export const policies = {
  bitcoin: {
    floorSeconds: 86_400,
    normal: { confirmations: 3, settleSeconds: 6_720, outageSeconds: 7_200 },
    high: { confirmations: 6, settleSeconds: 9_900, outageSeconds: 7_200 },
    lateClaimSeconds: 13_920,
    driftSeconds: 0,
    windowSeconds: 0,
    reactSeconds: 1_800,
    signSeconds: 600,
    detectSeconds: 60,
  },
  ethereum: {
    floorSeconds: 14_400,
    normal: { confirmations: 12, settleSeconds: 600, outageSeconds: 3_600 },
    high: { confirmations: 64, settleSeconds: 1_800, outageSeconds: 3_600 },
    lateClaimSeconds: 300,
    driftSeconds: 0,
    windowSeconds: 0,
    reactSeconds: 1_800,
    signSeconds: 600,
    detectSeconds: 60,
  },
} as const satisfies Record<string, ChainPolicy>;

export const seen = (txid = 'aa'): Sighting => ({ txid, confirmations: 0, deep: false });
export const deep = (txid = 'aa'): Sighting => ({ txid, confirmations: 9, deep: true });

/** Facts of an escrow that was funded with 1 000 and had the given done to it. */
export function facts(given: Partial<EscrowFacts> = {}): EscrowFacts {
  const out = (given.claimed ?? given.refunded) != null;
  const balance = given.funded != null && !out ? 1_000n : 0n;
  return { ...nothingSeen, empty: balance === 0n, balance, ...given };
}

type Given = {
  long?: EscrowFacts;
  short?: EscrowFacts;
  secret?: string | null;
  lapsed?: boolean;
  longLeg?: LegName;
  addresses?: boolean;
  longStrayed?: boolean;
  shortStrayed?: boolean;
  /** By the payee of each leg. */
  longRelease?: Release;
  shortRelease?: Release;
  longHanded?: Leg['handed'];
  shortHanded?: Leg['handed'];
  shortShown?: boolean;
  /** Both legs have releases: by contracts, or the long one by the keys of both sides. */
  consents?: boolean | 'p2tr';
};

export function swapOf(given: Given = {}): SwapState {
  const longLeg = given.longLeg ?? 'b';
  const timing = (policy: ChainPolicy) => ({ policy, depth: policy.normal });
  const long = timing(policies.bitcoin);
  const short = timing(policies.ethereum);
  const legs = longLeg === 'a' ? { a: long, b: short } : { a: short, b: long };
  const times = deadlines(agreedAt, legs, longLeg);
  const addressOf = (name: string) => (given.addresses === false ? null : name);
  const leg = (name: LegName): Leg => {
    const isLong = name === longLeg;
    const isTogether = isLong && given.consents === 'p2tr';
    return {
      ...(isTogether && { payoutForm: 'p2tr', refundForm: 'p2tr' }),
      leg: name,
      chain: isLong ? 'bitcoin' : 'ethereum',
      family: isLong && given.consents !== true ? 'bitcoin' : 'evm',
      assetId: `asset-${name}`,
      amount: 1_000n,
      funder: funderOf(name),
      long: isLong,
      timelock: times.refundAt[name],
      requiredConfirmations: isLong ? 3 : 12,
      payoutAddress: addressOf(`payout-${name}`),
      refundAddress: addressOf(`refund-${name}`),
      payoutPubkey: null,
      refundPubkey: null,
      escrow: addressOf(`escrow-${name}`),
      handed: (isLong ? given.longHanded : given.shortHanded) ?? 'nothing',
      shown: !isLong && given.shortShown === true,
      release: (isLong ? given.longRelease : given.shortRelease) ?? null,
      strayed: (isLong ? given.longStrayed : given.shortStrayed) ?? false,
      facts: (isLong ? given.long : given.short) ?? nothingSeen,
    };
  };
  return {
    hashlock: hashlockOf(secret),
    legs: { a: leg('a'), b: leg('b') },
    deadlines: times,
    secret: given.secret ?? null,
    lapsed: given.lapsed ?? false,
  };
}

/** All clocks at one instant. */
export function clocksAt(now: number): Clocks {
  return { wall: now, a: now, b: now };
}
