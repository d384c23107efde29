// The cost of a transaction, its offer for speed included, and the amount that is worth its claim.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import { larger } from '@parley/core/amounts.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { gathering } from '../nodes/gathering.ts';
import { recentPrices, rentFor } from './node.ts';
import { mostPriorityLamports, unitLimits } from './plan.ts';
import type { Watch } from './watch.ts';

export const signatureLamports = 5_000n;
/** The claim may cost a quarter of an amount, as on Bitcoin. */
const feeShare = 4n;

type Token = Pick<EscrowTerms, 'token'>;

const limitOf = ({ token }: Token) => BigInt(token === null ? unitLimits.sol : unitLimits.token);

export function feeOf(terms: Token, unitPrice: bigint): bigint {
  return signatureLamports + (unitPrice * limitOf(terms) + 999_999n) / 1_000_000n;
}

/** The recent price of three in four, within the bound that customers check. */
export function usualPrice(terms: Token, prices: readonly bigint[]): bigint {
  const usual = prices[Math.floor((prices.length * 3) / 4)] ?? 0n;
  const most = (mostPriorityLamports * 1_000_000n) / limitOf(terms);
  return usual < most ? usual : most;
}

const { leastDepositLamports, stateBytes } = layout.constants;
const accountOverhead = 128;

/** The former rent, if it has fallen (SIMD-0437): it may be so again (SIMD-0438). */
export async function lastingRent(
  rpc: Watch['rpc'],
  bytes: number,
  signal: AbortSignal,
): Promise<bigint> {
  const perByte = leastDepositLamports / (accountOverhead + stateBytes);
  const lasting = BigInt((accountOverhead + bytes) * perByte);
  return larger(await rentFor(rpc, bytes, signal), lasting);
}

/** Least lamports that an empty wallet can receive and whose claim costs no more than its share. */
export async function leastAmount(watch: Pick<Watch, 'rpc'>, signal: AbortSignal) {
  const rpc = gathering(watch.rpc, signal);
  const [rent, prices] = await Promise.all([
    lastingRent(rpc, 0, signal),
    // By the cheapest in each block: no stranger makes that dear.
    recentPrices(rpc, [], signal),
  ]);
  return leastLamports(rent, prices);
}

/** By the rent of an empty account, and what was paid of late. */
export function leastLamports(rent: bigint, prices: readonly bigint[]) {
  const sol = { token: null };
  const claim = feeOf(sol, usualPrice(sol, prices));
  const worth = claim * feeShare;
  return { least: larger(worth, rent), worth, claim };
}
