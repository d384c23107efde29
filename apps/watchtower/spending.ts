// The most that one more transaction of a gas key may cost. Pure. One cap bounds a UTC day: the
// transactions that were signed in it, and the reserves of open requests.

import type { Paid } from '@parley/chains/gas/account.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { leastPaidPart, mostUnderWay, partBesideClaims } from './bounds.ts';
import type { Attempt } from './db/attempts.ts';
import type { Purpose } from './db/jobs.ts';
import type { Sums } from './db/sums.ts';

/** The reason to put it off: the day's cap, the balance, or what is in flight. */
export type Short = 'cap' | 'balance' | 'busy';

export type Funds = {
  /** Base units of the native coin, of the key. */
  readonly balance: bigint;
  readonly dailyCap: bigint;
  /** The beginning of the day that `sums` are of. */
  readonly since: Date;
  /** Without what the job itself has reserved. */
  readonly sums: Sums;
};

export type Allowance = { readonly most: bigint } | { readonly short: Short };

export function least(...values: readonly [bigint, ...bigint[]]): bigint {
  const [first, ...rest] = values;
  let found = first;
  for (const each of rest) if (each < found) found = each;
  return found;
}

/** The part that is not promised. `besides`: promised, and may be spent on this too. */
export function freeOf({ balance, sums }: Funds, besides = 0n): bigint {
  const promised = sums.reserved - besides;
  return balance > promised ? balance - promised : 0n;
}

type Replaced = Pick<Attempt, 'charged' | 'signedAt' | 'purpose'> | null;

/** The rest of the day's cap for it. `instead`: the transaction whose place it takes. */
function leftOf(funds: Funds, purpose: Purpose, instead: Replaced): bigint {
  const { dailyCap, sums, since } = funds;
  // The charge of a former day is no part of what this day has spent.
  const charged = instead !== null && instead.signedAt >= since ? instead.charged : 0n;
  const whole = dailyCap - sums.spent - sums.promised + charged;
  if (purpose === 'secret') return whole;
  const own = instead?.purpose === 'secret' ? 0n : charged;
  return least(whole, dailyCap / partBesideClaims - sums.spentBeside - sums.promised + own);
}

/** For one more transaction, or for one in the place of another. */
export function allowanceOf(funds: Funds, purpose: Purpose, instead: Replaced): Allowance {
  const { underWay } = funds.sums;
  // A claim of a public secret cannot wait: half of the day and of the places is for claims alone.
  const part = purpose === 'secret' ? 1n : partBesideClaims;
  if (instead === null && underWay >= mostUnderWay / Number(part)) return { short: 'busy' };
  const cap = leftOf(funds, purpose, instead);
  if (cap <= 0n) return { short: 'cap' };
  const free = freeOf(funds);
  if (free === 0n) return { short: 'balance' };
  return { most: least(cap, free) };
}

/** For a request. `reserve`: the cost of landing it, which must be at hand. */
export function allowanceOfAsked(
  funds: Funds,
  purpose: 'relay' | 'fund',
  reserve: bigint,
): Allowance {
  const allowance = allowanceOf(funds, purpose, null);
  if ('short' in allowance) return allowance;
  if (freeOf(funds) < reserve) return { short: 'balance' };
  return allowance.most < reserve ? { short: 'cap' } : { most: reserve };
}

/** A request: its reserve is kept until it ends. */
export function isAskedFor(purpose: Purpose): purpose is 'relay' | 'fund' {
  return purpose === 'relay' || purpose === 'fund';
}

/**
 * For a relay, which has to land: its reserve, or the reserve at the fees of now where that is more
 * and the day has room for it. Never what is kept for others.
 */
export function mostToLand(
  funds: Funds,
  instead: Replaced,
  { kept, wouldKeep }: { readonly kept: bigint; readonly wouldKeep: bigint },
): bigint {
  const most: bigint = least(wouldKeep, leftOf(funds, 'secret', instead));
  return least(freeOf(funds), kept > most ? kept : most);
}

/** The charge of one in a block. A word that is impossible is no answer. */
export function chargeOf(mostCost: bigint, paid: Paid | null): bigint {
  if (paid === null || paid.cost < 0n || paid.cost > mostCost) return mostCost;
  const floor = paid.said > 1 ? 0n : mostCost / leastPaidPart;
  return paid.cost > floor ? paid.cost : floor;
}

/** Dust in the native coin is not worth its gas; the worth of a token is not known here. */
export function isDust({ token, amount }: EscrowTerms, cost: bigint): boolean {
  return token === null && amount <= cost;
}

/**
 * Kept for a job without a request, so that it can be made to pay more: a part of what is free,
 * because the reserves of relays are not promised twice.
 */
export function holdOf(funds: Funds, mostCost: bigint): bigint {
  return least(2n * mostCost, freeOf(funds));
}

/** The lowest nonce that nothing has, at or above what is used up. */
export function freeNonce(from: number, taken: readonly (number | null)[]): number {
  const all = new Set(taken);
  let nonce = from;
  while (all.has(nonce)) nonce += 1;
  return nonce;
}

/** Nonces that nothing has, though something has one above them: the lowest, so many at most. */
export function gapsIn(from: number, taken: readonly (number | null)[], most: number): number[] {
  const all = new Set(taken);
  const last = Math.max(from - 1, ...taken.map((each) => each ?? -1));
  const gaps: number[] = [];
  for (let nonce = from; nonce < last && gaps.length < most; nonce += 1) {
    if (!all.has(nonce)) gaps.push(nonce);
  }
  return gaps;
}

/** The beginning of the UTC day. */
export function dayOf(nowMs: number): Date {
  return new Date(nowMs - (nowMs % 86_400_000));
}
