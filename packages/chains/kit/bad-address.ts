// The refusal of a text that is no address, in every family.

import { ParleyError } from '@parley/core/errors.ts';

/** Longer than every address: the rest is not repeated. */
const shownCharacters = 60;

export function badAddress(text: string, why: string): ParleyError {
  const shown =
    text.length > shownCharacters
      ? `${text.slice(0, shownCharacters)}… (${text.length} characters)`
      : text;
  return new ParleyError('bad_address', `"${shown}" ${why}`);
}
