// Swaps as values, for the tests of pure rules.

import type { EscrowFacts, Sighting } from '@parley/core/facts.ts';
import { nothingSeen } from '@parley/core/facts.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Leg, SwapState } from '@parley/core/swap.ts';

export const secret = '11'.repeat(32);

const deep: Sighting = { txid: 'd'.repeat(64), confirmations: 9, deep: true };
const shallow: Sighting = { txid: 's'.repeat(64), confirmations: 1, deep: false };

/** The facts that one escrow may show, by name. */
export const shows = {
  nothing: nothingSeen,
  seen: { ...nothingSeen, funded: shallow, balance: 5n, empty: false },
  funded: { ...nothingSeen, funded: deep, balance: 5n, empty: false },
  claiming: { ...nothingSeen, funded: deep, claimed: shallow, secret, empty: false },
  claimed: { ...nothingSeen, funded: deep, claimed: deep, secret },
  refunding: { ...nothingSeen, funded: deep, refunded: shallow, empty: false },
  refunded: { ...nothingSeen, funded: deep, refunded: deep },
} as const satisfies Record<string, EscrowFacts>;

export type Show = keyof typeof shows;

function legOf(name: 'a' | 'b', facts: EscrowFacts): Leg {
  const long = name === 'b';
  return {
    leg: name,
    chain: long ? 'bitcoin' : 'evm',
    family: long ? 'bitcoin' : 'evm',
    assetId: name,
    amount: 5n,
    funder: long ? 'taker' : 'maker',
    long,
    timelock: long ? 2_000 : 1_000,
    requiredConfirmations: 2,
    payoutAddress: 'p',
    refundAddress: 'r',
    payoutPubkey: null,
    refundPubkey: null,
    escrow: name,
    facts,
    strayed: false,
    handed: 'nothing',
    release: null,
  };
}

/** Leg `b` is long. Fund by 100 and 200, expired after 150, reveal by 300, refunds 1 000, 2 000. */
export function stateOf(long: Show, short: Show, more: Partial<SwapState> = {}): SwapState {
  return {
    hashlock: hashlockOf(secret),
    legs: { a: legOf('a', shows[short]), b: legOf('b', shows[long]) },
    deadlines: {
      initiatorFundBy: 100,
      expiresAt: 150,
      counterpartyFundBy: 200,
      revealBy: 300,
      refundAt: { a: 1_000, b: 2_000 },
    },
    secret: null,
    lapsed: false,
    ...more,
  };
}

/** Both current escrows as a poll found them. */
export function escrowsOf(long: Show, short: Show) {
  return [
    { leg: 'b', address: 'b', facts: shows[long] },
    { leg: 'a', address: 'a', facts: shows[short] },
  ] as const;
}
