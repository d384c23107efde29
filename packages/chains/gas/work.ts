// The work that a gas key may be asked to do, checked before it signs anything.

import { ParleyError } from '@parley/core/errors.ts';
import { opens } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Touch } from '../interface/sending.ts';
import type { GasWork } from './account.ts';

export type Settling = Exclude<GasWork, { readonly verb: 'void' | 'fund' }>;

/** The escrow that it touches, and how. A work that only takes a nonce touches no escrow. */
export function touchesOf(
  work: GasWork,
  escrowOf: (terms: EscrowTerms) => { readonly address: string },
): readonly Touch[] {
  if (work.verb === 'void') return [];
  const secret = work.verb === 'claim' ? work.secret : null;
  return [{ escrow: escrowOf(work.terms).address, verb: work.verb, secret }];
}

type Done = Pick<Touch, 'verb' | 'escrow'>;

/** Whether calls do what it touches. Extra calls are found by comparing bytes. */
export function areThese(calls: readonly Done[], touches: readonly Done[]): boolean {
  return touches.every(({ verb, escrow }) =>
    calls.some((each) => each.verb === verb && each.escrow === escrow),
  );
}

export function payeeOf({ verb, terms }: Settling): string {
  return (verb === 'claim' ? terms.payout : terms.refund).address;
}

/** Throws `bad_chain` where it is about an escrow of another chain. */
export function mustBeOf(chain: string, work: GasWork): void {
  if (work.verb === 'void' || work.terms.chain === chain) return;
  const { chain: of } = work.terms;
  throw new ParleyError('bad_chain', `the gas key of ${chain} pays nothing on ${of}`, {
    chain,
    of,
  });
}

/** Throws `wrong_secret` where a claim opens nothing. */
export function mustOpen(work: GasWork): void {
  if (work.verb !== 'claim' || opens(work.secret, work.terms.hashlock)) return;
  throw new ParleyError('wrong_secret', `sha256(secret) is not ${work.terms.hashlock}`, {});
}

/** For one that may cost `least` where `mostCost` is allowed, in base units called `unit`. */
export function aboveLimit(
  chain: string,
  unit: string,
  least: bigint,
  mostCost: bigint,
): ParleyError {
  const sentence = `a transaction on ${chain} may cost ${least} ${unit} now, and ${mostCost} is the limit`;
  return new ParleyError('fee_above_limit', sentence, { chain, least, mostCost });
}

/** The same where a chain has neither nonces nor fundings by signature. */
export function settling(chain: string, work: GasWork): Settling {
  if (work.verb === 'void') throw new Error(`${chain} has no nonces to make void`);
  if (work.verb === 'fund') throw new Error(`${chain} has no tokens that are paid by signature`);
  return work;
}

/** The reserve is so much above what blocks take now. */
export const presentMultiple = 3n;

/** A trial in the place of a claim is not it, and a claim that fails has shown its secret. */
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
