// What a person typed as an amount: base units, or what is wrong in a sentence.

import { ParleyError } from '../../core/errors.ts';
import type { BaseUnits } from '../../core/nominal.ts';
import type { AmountFault } from '../../sdk/people.ts';
import { parseAmount } from '../texts/people.ts';
import { text } from '../texts/texts.ts';

export type TypedAmount = { readonly units: BaseUnits | null; readonly fault: string | null };

/** Nothing typed is neither an amount nor a fault. */
export function typedAmount(typed: string, decimals: number, locale?: string): TypedAmount {
  if (typed.trim() === '') return { units: null, fault: null };
  try {
    return { units: parseAmount(typed, decimals, { locale }), fault: null };
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'bad_amount') throw error;
    const { why, ...facts } = error.facts as { why: AmountFault };
    return { units: null, fault: text(`amount.${why}`, facts) };
  }
}
