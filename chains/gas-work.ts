// What a gas key may be asked to do, checked before it signs anything.

import { ParleyError } from '../core/errors.ts';
import type { GasWork } from './gas-account.ts';

/** What moves money out of an escrow. */
export type Settling = Exclude<GasWork, { readonly verb: 'void' | 'fund' }>;

/** Throws `bad_chain` where it is about an escrow of another chain. */
export function mustBeOf(chain: string, work: GasWork): void {
  if (work.verb === 'void' || work.terms.chain === chain) return;
  const sentence = `the gas key of ${chain} pays nothing on ${work.terms.chain}`;
  throw new ParleyError('bad_chain', sentence, { chain, of: work.terms.chain });
}

/** The same where a chain has neither nonces nor fundings by signature. */
export function settling(chain: string, work: GasWork): Settling {
  if (work.verb === 'void') throw new Error(`${chain} has no nonces to make void`);
  if (work.verb === 'fund') throw new Error(`${chain} has no tokens that are paid by signature`);
  mustBeOf(chain, work);
  return work;
}

/**
 * What is reserved is so much above what blocks take now: that may be what the 99.9 % know nothing
 * of, and double again; what TRON's witnesses vote for may too.
 */
export const presentMultiple = 3n;

/** What is tried in the place of a claim is not it, and one that fails has shown its secret. */
export const unseenMargin = 2n;

/** 0 where it cannot be tried yet: a refund before its time, a claim of what is not funded. */
export async function asFarAsTried(trying: Promise<bigint>): Promise<bigint> {
  try {
    return await trying;
  } catch (error) {
    const codes: readonly string[] = ['nothing_there', 'payout_would_fail', 'funding_would_fail'];
    if (error instanceof ParleyError && codes.includes(error.code)) return 0n;
    throw error;
  }
}
