// What a gas key may be asked to do, checked before it signs anything.

import { ParleyError } from '../core/errors.ts';
import type { GasWork } from './gas-account.ts';

/** What moves an escrow. */
export type Settling = Exclude<GasWork, { readonly verb: 'void' }>;

/** Throws `bad_chain` where it is about an escrow of another chain. */
export function mustBeOf(chain: string, work: GasWork): void {
  if (work.verb === 'void' || work.terms.chain === chain) return;
  const sentence = `the gas key of ${chain} pays nothing on ${work.terms.chain}`;
  throw new ParleyError('bad_chain', sentence, { chain, of: work.terms.chain });
}

/** The same where a chain has no nonces. */
export function settling(chain: string, work: GasWork): Settling {
  if (work.verb === 'void') throw new Error(`${chain} has no nonces to make void`);
  mustBeOf(chain, work);
  return work;
}
