// A typed amount: base units, or its fault in a sentence.

import { ParleyError } from '@parley/core/errors.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { AmountFault } from '@parley/sdk/people.ts';
import { parseAmount } from '../texts/people.ts';
import { text } from '../texts/texts.ts';

type TypedAmount = { readonly units: BaseUnits | null; readonly fault: string | null };

/** The asset's; with a symbol the amount may have it behind. */
export type AmountOf = { readonly decimals: number; readonly symbol?: string };

/** An empty field is neither an amount nor a fault. */
export function typedAmount(
  typed: string,
  { decimals, symbol }: AmountOf,
  locale?: string,
): TypedAmount {
  try {
    return { units: parseAmount(typed, decimals, { locale, symbol }), fault: null };
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'bad_amount') throw error;
    const { why, ...facts } = error.facts as { why: AmountFault };
    return { units: null, fault: why === 'empty' ? null : text(`amount.${why}`, facts) };
  }
}
