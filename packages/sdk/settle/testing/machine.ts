// The states of two legs and of what a party has kept, by a word each, for tests of the machine.

import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import type { Family } from '@parley/core/families.ts';
import type { Party } from '@parley/core/trade.ts';
import type { SwapRecord } from '../../stores/store.ts';
import { keptRecord, secret } from '../../testing/honest.ts';
import type { Leaving, SettleState } from '../machine.ts';

/** How a leg is shown, in a word. */
export type Shown = keyof typeof shows;

export const kept = { txid: 'own', raw: '00' };
export const sighting = (confirmations: number, txid = 'own'): Sighting => {
  return { txid, confirmations, deep: confirmations > 9 };
};
export const held = { ...nothingSeen, funded: sighting(10), balance: 1n, empty: false };
export const shows = {
  none: nothingSeen,
  pooled: { ...nothingSeen, funded: sighting(0), balance: 1n, empty: false },
  pooledOther: { ...nothingSeen, funded: sighting(0, 'other'), balance: 1n, empty: false },
  mined: { ...nothingSeen, funded: sighting(1), balance: 1n, empty: false },
  final: held,
  claimPooled: { ...held, claimed: sighting(0), secret },
  claimMined: { ...held, claimed: sighting(1), balance: 0n, secret },
  claimed: { ...held, claimed: sighting(10), balance: 0n, secret },
  /** By a node that cannot read the claim yet. */
  claimedUnread: { ...held, claimed: sighting(10), balance: 0n },
  claimedTwice: { ...held, claimed: sighting(10), balance: 1n, secret },
  /** So much that a person paid twice. */
  claimedMuch: { ...held, claimed: sighting(10), balance: 10n ** 18n, secret },
  refundPooled: { ...held, refunded: sighting(0), balance: 0n },
  refundMined: { ...held, refunded: sighting(1), balance: 0n },
  refundedTwice: { ...held, refunded: sighting(10) },
  refunded: { ...held, refunded: sighting(10), balance: 0n },
  unknown: { ...nothingSeen, outcome: 'unknown' },
  /** In a pool, where the balance counts blocks alone. */
  wholePooled: { ...nothingSeen, funded: sighting(0), empty: false },
  /** Less than the amount. */
  short: { ...nothingSeen, balance: 1n, empty: false },
  shortPooled: { ...nothingSeen, empty: false },
} as const satisfies Record<string, EscrowFacts>;

export type Given = {
  readonly a?: Shown | 'silent' | 'stale';
  readonly b?: Shown | 'silent' | 'stale';
  /** Unix seconds; `clock` of both chains unless said otherwise. */
  readonly wall?: number;
  readonly clock?: number;
  readonly clockA?: number;
  readonly clockB?: number;
  readonly kept?: Partial<SwapRecord>;
  readonly state?: SettleState;
  readonly isMarketDue?: boolean;
  readonly isRefundTried?: boolean;
  readonly leaving?: Leaving;
  /** In the place of leg a's. */
  readonly family?: Family;
  /** In the place of leg b's. */
  readonly familyB?: Family;
};

/** The maker is the counterparty and gives leg a (EVM, short); the taker gives leg b (Bitcoin). */
export function recordOf(party: Party, { kept: own = {}, family, familyB }: Given): SwapRecord {
  const record = keptRecord(party, own);
  const { a, b } = record.swap.legs;
  const legs = {
    a: { ...a, family: family ?? a.family },
    b: { ...b, family: familyB ?? b.family },
  };
  return { ...record, swap: { ...record.swap, legs } };
}

export const { deadlines: times } = recordOf('maker', {}).swap;

export const funded = { funding: kept };
export const revealed = { funding: kept, claim: kept, publicSecret: secret };
export const known = { funding: kept, publicSecret: secret };
export const { initiatorFundBy, counterpartyFundBy, revealBy, refundAt } = times;
