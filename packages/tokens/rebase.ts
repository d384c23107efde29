// Check `rebase`: balances that may change by themselves, by the names of functions in the code.

import { type Finding, found, passed } from './inspection.ts';
import { namesIn, rebaseSignals } from './powers.ts';

const check = 'rebase';

export function judgeRebase(selectors: ReadonlySet<string>): Finding {
  const names = namesIn(rebaseSignals, selectors);
  if (names.length === 0) return passed(check);
  const sentence = `its balances may change by themselves: its code has ${names.join(', ')}`;
  return found(check, 'wait', sentence);
}
