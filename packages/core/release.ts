// Giving a swap up: before the timelock the payee of a leg may release it, and the coins go back to
// their funder at once. A release gives up the payee's own claim and nothing else, so only an
// untimely one costs: one of a leg whose other leg may still be taken.

import { at, ParleyError } from './errors.ts';
import { legStatus } from './facts.ts';
import { has } from './families.ts';
import { type Clocks, hasPassed, type Leg, type SwapState } from './swap.ts';

/** Whether a side has said that it will not go on. */
export function isGivenUp({ legs }: Pick<SwapState, 'legs'>): boolean {
  return (legs.a.release ?? legs.b.release) !== null;
}

/** Throws `given_up`: from the first wish on nothing may be funded. */
export function mustGoOn({ legs }: Pick<SwapState, 'legs'>): void {
  const { leg, release } = legs.a.release === null ? legs.b : legs.a;
  if (release === null) return;
  const { askedAt } = release;
  const sentence =
    `the payee of leg ${leg} gave the swap up at ${at(askedAt)}: fund nothing, and take back ` +
    'what is released';
  throw new ParleyError('given_up', sentence, { leg, askedAt });
}

/** Throws `given_up`: a payee that gives its leg up shows no secret. */
export function mustWant({ leg, release }: Pick<Leg, 'leg' | 'release'>): void {
  if (release === null) return;
  const { askedAt } = release;
  const sentence = `you gave leg ${leg} up at ${at(askedAt)}: a claim now would reveal the secret`;
  throw new ParleyError('given_up', sentence, { leg, askedAt });
}

/**
 * Whether the market was shown the secret by a claim of this leg, and no chain has shown it so far.
 * Once the contract takes no claim any more, that costs nothing.
 */
export function isShown(leg: Leg, clocks: Clocks): boolean {
  const isTaken = has(leg, 'lateClaims') || !hasPassed(leg, leg.timelock, clocks);
  return leg.shown === true && isTaken;
}

type Forms = Pick<Leg, 'payoutForm' | 'refundForm'>;

/** Bitcoin: whether its escrow has the key of both sides. */
export function isTaproot({ payoutForm, refundForm }: Forms): boolean {
  return payoutForm === 'p2tr' && refundForm === 'p2tr';
}

/** Whether its payee may release it: by the chain's contract, or with the key of both sides. */
export function takesRelease(leg: Pick<Leg, 'family'> & Forms): boolean {
  return has(leg, 'consents') || isTaproot(leg);
}

/** The signature with which this escrow of the leg is refunded now; null: there is none. */
export function releaseOf(leg: Pick<Leg, 'escrow' | 'release'>, escrow: string): string | null {
  return leg.escrow === escrow ? (leg.release?.signature ?? null) : null;
}

/**
 * Whether nothing of its funder is in the leg, or can come. `unknown`: whether a funding that
 * is not known counts as one that may come.
 */
export function isOut(leg: Leg, clocks: Clocks, unknown: 'counts' | 'was not sent') {
  const { facts, handed, strayed, timelock } = leg;
  if (strayed || facts.balance > 0n) return false;
  const status = legStatus(facts);
  if (status !== 'unfunded') return status === 'refunded';
  if (handed === 'nothing' || (handed === 'unknown' && unknown === 'was not sent')) return true;
  // No contract opens an escrow whose timelock is past.
  return !has(leg, 'lateClaims') && hasPassed(leg, timelock, clocks);
}
