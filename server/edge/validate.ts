// Checks parsed input against the same schemas that the API description is made of. Bodies are
// never coerced; a query, which can only be text, is.

import type { TSchema } from 'typebox';
import { type Check, checkOf, coercingCheckOf } from '../check.ts';

export function bodyCheck(schema: TSchema): Check {
  return checkOf(schema, 'the body');
}

/** Also turns the texts of the query into numbers and booleans, in place, and fills defaults in. */
export function queryCheck(schema: TSchema): Check {
  return coercingCheckOf(schema, 'the query');
}

export function paramsCheck(schema: TSchema): Check {
  return checkOf(schema, 'the path');
}
