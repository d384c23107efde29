// A swap's status: a pure function of both chains, the secret and the clock. A reorganisation needs
// no code of its own.

import { type EscrowFacts, isFunded, isUnknown, legStatus } from './facts.ts';
import type { UnixSeconds } from './nominal.ts';
import { longOf, type SwapState, shortOf } from './swap.ts';

export const swapStatuses = [
  'agreed',
  'initiator_funded',
  'counterparty_funded',
  'initiator_claimed',
  'counterparty_claimed',
  'refunded',
  'half_settled',
  'expired',
] as const;

export type SwapStatus = (typeof swapStatuses)[number];

/** The status now; `wall` is our clock. docs/lifecycle.md explains each. */
export function swapStatus(swap: SwapState, wall: UnixSeconds): SwapStatus {
  const long = longOf(swap).facts;
  const short = shortOf(swap).facts;
  const statuses = [legStatus(long), legStatus(short)];
  const claimed = statuses.includes('claimed');
  const refunded = statuses.includes('refunded');
  if (claimed && refunded) return 'half_settled';
  if (refunded) return 'refunded';
  if (legStatus(long) === 'claimed') return 'counterparty_claimed';
  if (swap.secret !== null || legStatus(short) === 'claimed') return 'initiator_claimed';
  if (isFunded(long)) return isFunded(short) ? 'counterparty_funded' : 'initiator_funded';
  // An unknown escrow moves no status. In the end a swap of which nothing was seen lapses by time.
  const isKnown = !isUnknown(long) && !isUnknown(short);
  const lapses = swap.lapsed || (isKnown && wall > swap.deadlines.expiresAt);
  return lapses && isUntouched(long) && isUntouched(short) ? 'expired' : 'agreed';
}

export function isUntouched({ funded, claimed, refunded }: EscrowFacts): boolean {
  return (funded ?? claimed ?? refunded) === null;
}
