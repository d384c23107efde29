// Checks parsed input against the same schemas that the API description is made of. Bodies are
// never coerced; a query, which can only be text, is.

import { parseBaseUnits } from '@parley/core/amounts.ts';
import { parseHex32 } from '@parley/core/hashlock.ts';
import type { TSchema } from 'typebox';
import { type Check, checkOf, coercingCheckOf, type Readers } from '../settings/check.ts';
import { amountPattern, hex32Pattern } from './schemas/common.ts';

const readers: Readers = new Map<string, (text: string, field: string) => unknown>([
  [amountPattern, parseBaseUnits],
  [hex32Pattern, parseHex32],
]);

/** Throws `bad_amount` and `bad_hex` by itself; the rest is for the caller to refuse. */
export function bodyCheck(schema: TSchema): Check {
  return checkOf(schema, 'the body', readers);
}

/** The same of a frame on a socket. */
export function frameCheck(schema: TSchema): Check {
  return checkOf(schema, 'the frame', readers);
}

/** Also turns the texts of the query into numbers and booleans, in place, and fills defaults in. */
export function queryCheck(schema: TSchema): Check {
  return coercingCheckOf(schema, 'the query');
}

export function paramsCheck(schema: TSchema): Check {
  return checkOf(schema, 'the path');
}
