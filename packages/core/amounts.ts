// Money: `bigint` base units inside, a canonical decimal string on the wire.

import { ParleyError } from './errors.ts';
import type { BaseUnits } from './nominal.ts';

/** The largest amount any chain here can hold: 2^256 - 1 (an EVM word). */
export const maxAmount = 2n ** 256n - 1n;

const canonical = /^[1-9][0-9]{0,77}$/;

/** 1 to 2^256-1, without sign, leading zero or exponent. Throws `bad_amount` naming `field`. */
export function parseBaseUnits(text: string, field: string): BaseUnits {
  const amount = canonical.test(text) ? BigInt(text) : 0n;
  if (amount < 1n || amount > maxAmount) {
    const cut = text.length > 90 ? `${text.slice(0, 90)}… (${text.length} characters)` : text;
    throw new ParleyError(
      'bad_amount',
      `${field} must be a whole number of base units from 1 to 2^256-1, as a string without ` +
        `sign, leading zeros or exponent; it was ${JSON.stringify(cut)}`,
      { field },
    );
  }
  return amount;
}

/** Base units as whole coins with a point, for programs: `formatUnits(150n, 2)` is `1.5`. */
export function formatUnits(amount: BaseUnits, decimals: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
