// What a trial that failed says, in words.

import { revertIn } from '../escrows/reverts.ts';
import type { Trial } from './node.ts';

export function reasonOf({ failure, output }: Trial): string | null {
  if (failure === null) return null;
  return output === '' ? `it fails: ${failure}` : revertIn(`0x${output}`).words;
}
