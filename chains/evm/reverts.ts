// What a call that a node refused says, in words.

import type { Hex } from 'viem';
import { mostWords, type Revert, revertIn } from '../escrows/reverts.ts';

/** Decodes revert data. `message` is what the node said, for when there is no data. */
export function readRevert(data: string | null, message: string): Revert {
  if (data === null) return { name: null, words: message.slice(0, mostWords) };
  if (data === '0x') return { name: null, words: 'it reverts without a reason' };
  return revertIn(data as Hex);
}
