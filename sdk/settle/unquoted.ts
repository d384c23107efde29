// What a wallet, a device or a store fails with may quote what it was given, and a secret in it:
// nobody is told that while the secret is kept.

import { ParleyError } from '../../core/errors.ts';
import { SettleError } from '../errors.ts';

/** Longer than any address: calldata, signed bytes, a secret, in whatever letters. */
const longWord = /\S{43,}/g;
/** Bytes one by one, or in groups. */
const bytesInARow = /(?:\b(?:0x)?[0-9a-f]{1,8}\b[\s,:]*){8,}/gi;

/** Does it, and lets it fail in words that hold no more than a few bytes; ours hold none. */
export async function unquoted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParleyError || error instanceof SettleError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    // Nothing else of it is kept: stack, cause and fields may quote the same.
    throw new Error(words.replace(longWord, '…').replace(bytesInARow, '…'));
  }
}
