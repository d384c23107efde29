// Check `rebase`: that a balance stays what it is while nobody moves it. An escrow promises an
// amount, and holds it for a day or more.

import { type Finding, found, passed } from '../../tokens/inspection.ts';
import { namesIn, rebaseSignals } from '../../tokens/powers.ts';
import { dataOf } from '../../tokens/words.ts';
import { type Look, numberOf, shown } from './ask.ts';
import { lend } from './lend.ts';

const check = 'rebase';
const daysAhead = 30;
const daySeconds = 86_400;

/** null where no balance could be lent: the check of transfers tells of that. */
export async function checkRebase(
  look: Look,
  supply: bigint,
  selectors: ReadonlySet<string>,
): Promise<Finding | null> {
  const { token, forks } = look;
  const fork = await forks.fork();
  const holder = fork.stranger();
  const lent = supply / 1_000n + 1n;
  const stored = await lend(fork, token, holder, lent);
  if (stored === null) return null;
  const data = dataOf('balanceOf(address)', holder);
  const held = async (later: number) =>
    numberOf(await fork.look({ from: shown(holder), to: token, data, later }));
  const [now, then] = [await held(0), await held(daysAhead * daySeconds)];
  if (now !== then) {
    const sentence = `a balance of ${now} becomes ${then} within ${daysAhead} days by itself`;
    return found(check, 'reject', sentence);
  }
  const names = namesIn(rebaseSignals, selectors);
  if (names.length > 0) {
    const sentence = `its balances may change by themselves: its code has ${names.join(', ')}`;
    return found(check, 'wait', sentence);
  }
  if (stored !== now) {
    const sentence = `it shows a balance of ${now} where ${stored} is written, so balances may change`;
    return found(check, 'wait', sentence);
  }
  return passed(check);
}
