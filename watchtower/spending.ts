// What one more transaction of a gas key may cost. Pure. The cap bounds a UTC day by what was
// signed in it; what relays have reserved is outside it, and nothing else is ever paid from that.

import type { Paid } from '../chains/gas/account.ts';
import type { EscrowTerms } from '../core/terms.ts';
import {
  accountShare,
  closeShare,
  leastPaidPart,
  mostFailedFundings,
  mostFundings,
  mostRelays,
  mostUnderWay,
  refundShare,
} from './bounds.ts';
import type { Attempt } from './db/attempts.ts';
import type { Job } from './db/jobs.ts';
import type { FundingSums, RelaySums, Sums } from './db/sums.ts';
import type { FundingBounds, RelayBounds } from './port.ts';

/**
 * What put it off: the day's cap, one account's share of it, the balance, what is in flight, or
 * (Solana) the number of token accounts of a day.
 */
export type Short = 'cap' | 'share' | 'balance' | 'busy' | 'accounts';

export type Funds = {
  /** Base units of the native coin, of the key. */
  readonly balance: bigint;
  readonly dailyCap: bigint;
  /** The beginning of the day that `sums` are of. */
  readonly since: Date;
  /** Without what the job itself has reserved. */
  readonly sums: Sums;
};

/** Of one account in what is to be signed. */
export type Part = { readonly spentOn: bigint; readonly legs: number };

export type Allowance = { readonly most: bigint } | { readonly short: Short };

export function least(...values: readonly [bigint, ...bigint[]]): bigint {
  const [first, ...rest] = values;
  let found = first;
  for (const each of rest) if (each < found) found = each;
  return found;
}

/** What nothing else has been promised of. `besides`: promised, and may be spent on this too. */
export function freeOf({ balance, sums }: Funds, besides = 0n): bigint {
  const promised = sums.reserved - besides;
  return balance > promised ? balance - promised : 0n;
}

/** For a claim or refund that nobody asked for. `instead`: the one whose place it takes. */
export function allowanceOf(
  funds: Funds,
  instead: Pick<Attempt, 'charged' | 'signedAt' | 'purpose'> | null,
  purpose: Exclude<Job['purpose'], 'relay' | 'fund'>,
  parts: readonly Part[] = [{ spentOn: funds.sums.spentOn, legs: 1 }],
): Allowance {
  const { dailyCap, sums, since } = funds;
  const hasTime = purpose !== 'secret';
  const part = purpose === 'close' ? refundShare * closeShare : refundShare;
  const isFull =
    sums.underWay >= mostUnderWay ||
    (hasTime && sums.refundsUnderWay >= mostUnderWay / Number(part));
  if (instead === null && isFull) return { short: 'busy' };
  // What was signed on a day before is no part of what this one has spent, nor what was asked for.
  const isCounted = instead !== null && instead.signedAt >= since && !isAskedFor(instead.purpose);
  const counted = isCounted ? instead.charged : 0n;
  const whole = dailyCap - sums.spent + counted;
  // Refunds have no haste: what they leave of the day is for claims.
  const refunds = dailyCap / part - sums.spentOnRefunds + counted;
  const cap = hasTime ? least(whole, refunds) : whole;
  if (cap <= 0n) return { short: 'cap' };
  // Each escrow of a batch bears as much of it: no account's part is above what is left to it.
  const all = parts.reduce((sum, { legs }) => sum + legs, 0);
  const shares = parts.map(({ spentOn, legs }) => {
    const left = dailyCap / accountShare - spentOn + (counted * BigInt(legs)) / BigInt(all);
    return (left * BigInt(all)) / BigInt(legs);
  });
  const share = least(shares[0] ?? 0n, ...shares.slice(1));
  if (share <= 0n) return { short: 'share' };
  const free = freeOf(funds);
  if (free === 0n) return { short: 'balance' };
  return { most: least(cap, share, free) };
}

/** What has bounds of its own, outside the cap of everything else. */
export function isAskedFor(purpose: Job['purpose'] | null): purpose is 'relay' | 'fund' {
  return purpose === 'relay' || purpose === 'fund';
}

/** For one more relay; `reserve` of it must be at hand. */
export function allowanceOfRelay(funds: Funds, reserve: bigint): Allowance {
  if (funds.sums.relaysUnderWay >= mostRelays) return { short: 'busy' };
  const free = freeOf(funds);
  return free < reserve || free === 0n ? { short: 'balance' } : { most: free };
}

/**
 * For one more funding: neither what is promised to anything else, nor what the day's cap has left
 * for claims and refunds.
 */
export function allowanceOfFunding(funds: Funds, reserve: bigint): Allowance {
  const { sums } = funds;
  if (sums.fundingsUnderWay >= mostFundings) return { short: 'busy' };
  const free = beyondClaims(funds);
  return free < reserve || reserve === 0n ? { short: 'balance' } : { most: reserve };
}

/** What the day's cap has left for claims and refunds. */
export function keptForDay({ dailyCap, sums }: Pick<Funds, 'dailyCap' | 'sums'>): bigint {
  return dailyCap > sums.spent ? dailyCap - sums.spent : 0n;
}

/** What neither anything else was promised nor the day's cap has left. */
function beyondClaims(funds: Funds): bigint {
  const [free, kept] = [freeOf(funds), keptForDay(funds)];
  return free > kept ? free - kept : 0n;
}

/**
 * For a funding that is signed again: neither what claims have a use for nor what the bounds of
 * fundings have no room for. `sums`: without its own reserve. `counted`: of what it replaces.
 */
export function mostToFund(
  funds: Funds,
  { cap }: Pick<FundingBounds, 'cap'>,
  of: {
    readonly kept: bigint;
    readonly wouldKeep: bigint;
    readonly sums: Pick<FundingSums, 'ownTaken' | 'taken'>;
    readonly counted: bigint;
  },
): bigint {
  const { sums, counted } = of;
  const room = least(cap / accountShare - sums.ownTaken, cap - sums.taken) + counted;
  const most = least(beyondClaims(funds), mostToLand(funds, { cap }, of), room);
  return most > 0n ? most : 0n;
}

/**
 * For what has to land, or for what is before it: what is kept for it, or what would be kept for it
 * at the fees of now, where that is more. Never what is kept for others, and by the fees that nodes
 * give no more than one account's relays, or fundings, of a day may take.
 */
export function mostToLand(
  funds: Funds,
  { cap }: Pick<RelayBounds | FundingBounds, 'cap'>,
  { kept, wouldKeep }: { readonly kept: bigint; readonly wouldKeep: bigint },
): bigint {
  const most: bigint = least(wouldKeep, cap / accountShare);
  return least(freeOf(funds), kept > most ? kept : most);
}

/** What one in a block counts with. What nodes cannot have seen is no answer. */
export function chargeOf(mostCost: bigint, paid: Paid | null): bigint {
  if (paid === null || paid.cost < 0n || paid.cost > mostCost) return mostCost;
  const floor = paid.said > 1 ? 0n : mostCost / leastPaidPart;
  return paid.cost > floor ? paid.cost : floor;
}

/** What refuses one more relay or funding: how much there may be a day, and how much there is. */
export type AskedShort = {
  readonly what: 'number' | 'failed' | 'share' | 'cap' | 'accounts' | 'all accounts';
  readonly limit: bigint;
  readonly used: bigint;
};

/** One party's part of what all relays of a day may take; one at least. */
const shareOf = (number: number) => Math.ceil(number / Number(accountShare));

function boundsShort(
  { cap, perAccount }: FundingBounds,
  { own, ownTaken, taken }: Pick<FundingSums, 'own' | 'ownTaken' | 'taken'>,
  reserve: bigint,
): AskedShort | null {
  const share = cap / accountShare;
  if (own >= perAccount) return shortOf('number', perAccount, own);
  if (ownTaken + reserve > share) return shortOf('share', share, ownTaken);
  return taken + reserve > cap ? shortOf('cap', cap, taken) : null;
}

/** Null: one more relay of this account may be taken on today. `sums`: without it. */
export function relayShort(
  bounds: RelayBounds,
  sums: RelaySums,
  { reserve, makesAccount }: { readonly reserve: bigint; readonly makesAccount: boolean },
): AskedShort | null {
  const short = boundsShort(bounds, sums, reserve);
  return short ?? (makesAccount ? accountsShort(bounds, sums) : null);
}

/** Null: one more funding of this account may be taken on today. `sums`: without it. */
export function fundingShort(
  bounds: FundingBounds,
  sums: FundingSums,
  reserve: bigint,
): AskedShort | null {
  const { ownFailed } = sums;
  if (ownFailed >= mostFailedFundings) return shortOf('failed', mostFailedFundings, ownFailed);
  return boundsShort(bounds, sums, reserve);
}

/** Null: one more receiver's token account may be made today for this account. */
export function accountsShort(
  { tokenAccounts }: Pick<RelayBounds, 'tokenAccounts'>,
  sums: Pick<RelaySums, 'ownMade' | 'made'>,
): AskedShort | null {
  const most = shareOf(tokenAccounts);
  if (sums.ownMade >= most) return shortOf('accounts', most, sums.ownMade);
  return sums.made < tokenAccounts ? null : shortOf('all accounts', tokenAccounts, sums.made);
}

function shortOf(
  what: AskedShort['what'],
  limit: bigint | number,
  used: bigint | number,
): AskedShort {
  return { what, limit: BigInt(limit), used: BigInt(used) };
}

/** Dust in the native coin is not worth its gas; what a token is worth is not known here. */
export function isDust({ token, amount }: EscrowTerms, cost: bigint): boolean {
  return token === null && amount <= cost;
}

/** What each escrow of a batch bears of its cost, rounded up. */
export function partOfEach(mostCost: bigint, legs: number): bigint {
  return (mostCost + BigInt(legs) - 1n) / BigInt(legs);
}

/**
 * Kept for something that nobody asked for, so that it can be made to pay more: of what is free,
 * because what relays have reserved is not promised twice.
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
