// The work that a gas key may be asked to do, checked before it signs anything.

import { ParleyError } from '../../core/errors.ts';
import { opens, type Secret } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Touch } from '../interface/sending.ts';
import type { GasWork } from './account.ts';

export type SettlingAny = Exclude<GasWork, { readonly verb: 'void' | 'fund' }>;
export type Settling = Exclude<SettlingAny, { readonly verb: 'batch' }>;

export type Part = {
  readonly verb: 'fund' | 'claim' | 'refund';
  readonly terms: EscrowTerms;
  readonly secret: Secret | null;
};

export function partsOf(work: GasWork): readonly Part[] {
  switch (work.verb) {
    case 'void':
      return [];
    case 'batch': {
      const { batch } = work;
      if (batch.verb === 'claim') return batch.legs.map((each) => ({ verb: 'claim', ...each }));
      return batch.legs.map(({ terms }) => ({ verb: 'refund', terms, secret: null }));
    }
    case 'claim':
      return [{ verb: 'claim', terms: work.terms, secret: work.secret }];
    case 'fund':
    case 'refund':
      return [{ verb: work.verb, terms: work.terms, secret: null }];
  }
}

export function touchesOf(
  work: GasWork,
  escrowOf: (terms: EscrowTerms) => { readonly address: string },
): readonly Touch[] {
  return partsOf(work).map(({ verb, terms, secret }) => {
    return { escrow: escrowOf(terms).address, verb, secret };
  });
}

type Done = Pick<Touch, 'verb' | 'escrow'>;

/** Whether calls do all of this in this order. Extra calls are found by comparing bytes. */
export function areThese(calls: readonly Done[], touches: readonly Done[]): boolean {
  let found = 0;
  for (const { verb, escrow } of calls) {
    const next = touches[found];
    if (next?.verb === verb && next.escrow === escrow) found += 1;
  }
  return found === touches.length;
}

export function payeeOf({ verb, terms }: Settling): string {
  return (verb === 'claim' ? terms.payout : terms.refund).address;
}

/** Throws `bad_chain` where it is about an escrow of another chain. */
export function mustBeOf(chain: string, work: GasWork): void {
  const other = partsOf(work).find(({ terms }) => terms.chain !== chain);
  if (other === undefined) return;
  const { chain: of } = other.terms;
  throw new ParleyError('bad_chain', `the gas key of ${chain} pays nothing on ${of}`, {
    chain,
    of,
  });
}

/** Throws `wrong_secret` where one of them opens nothing. */
export function mustOpenAll(work: GasWork): void {
  for (const { verb, terms, secret } of partsOf(work)) {
    if (verb !== 'claim' || opens(secret ?? '', terms.hashlock)) continue;
    throw new ParleyError('wrong_secret', `sha256(secret) is not ${terms.hashlock}`, {});
  }
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

/** For a batch that settles fewer than it should: some of it is nothing to take. */
export function batchIncomplete(chain: string, settled: bigint, wanted: number): ParleyError {
  const sentence = `a batch on ${chain} would settle ${settled} of its ${wanted} escrows`;
  return new ParleyError('nothing_there', sentence, { chain, settled, wanted });
}

/** The same where a chain has neither nonces nor fundings by signature. */
export function settlingAny(chain: string, work: GasWork): SettlingAny {
  if (work.verb === 'void') throw new Error(`${chain} has no nonces to make void`);
  if (work.verb === 'fund') throw new Error(`${chain} has no tokens that are paid by signature`);
  mustBeOf(chain, work);
  return work;
}

/** Where each escrow is settled alone. */
export function alone(chain: string, work: GasWork): Exclude<GasWork, { readonly verb: 'batch' }> {
  if (work.verb === 'batch') throw new Error(`${chain} settles one escrow at a time`);
  return work;
}

export function settling(chain: string, work: GasWork): Settling {
  return settlingAny(chain, alone(chain, work)) as Settling;
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
