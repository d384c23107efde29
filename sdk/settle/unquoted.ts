// What a wallet, a device or a store fails with may quote a secret: cut while it is kept.

import { ParleyError } from '../../core/errors.ts';
import { SettleError } from '../errors.ts';

/** Longer than any address: calldata, signed bytes, a secret, in whatever letters. */
const longWord = /\S{43,}/g;
const hexWord = /\b(?:0x)?[0-9a-f]{16,}\b/gi;
/** Bytes one by one, or in groups, quoted or not. */
const bytesInARow = /(?:["'`]?\b(?:0x)?[0-9a-f]{1,8}\b["'`]?[\s,:]*){8,}/gi;
/** Bytes as letters: no words at all. */
const isRaw = (words: string) => /(?![\t\n\r])\p{Cc}/u.test(words);

/** Does it, and lets it fail in words that hold no more than a few bytes; ours hold none. */
export async function unquoted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParleyError || error instanceof SettleError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    // Nothing else of it is kept: stack, cause and fields may quote the same.
    if (isRaw(words)) throw new Error('it failed, and not in words');
    const cut = [longWord, hexWord, bytesInARow].reduce(
      (kept, each) => kept.replace(each, '…'),
      words,
    );
    throw new Error(cut);
  }
}
