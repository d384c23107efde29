// Checks what came in against the same schemas that the API description is made of. Bodies and
// frames are never coerced; a query, which can only be text, is (settings/check.ts).

import { parseBaseUnits } from '@parley/core/amounts.ts';
import { parseHex32 } from '@parley/core/hashlock.ts';
import type { TSchema } from 'typebox';
import { type Check, checkOf, type Readers } from '../settings/check.ts';
import { amountPattern, hex32Pattern } from './schemas/common.ts';

const readers: Readers = new Map<string, (text: string, field: string) => unknown>([
  [amountPattern, parseBaseUnits],
  [hex32Pattern, parseHex32],
]);

/** Throws `bad_amount` and `bad_hex` by itself; the rest is for the caller to refuse. */
export function inputCheck(schema: TSchema, what: 'the body' | 'the frame'): Check {
  return checkOf(schema, what, readers);
}
