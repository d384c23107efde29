// What balances are now and later, for the check `rebase`.

import type { Finding } from '../../tokens/inspection.ts';
import { daySeconds, daysAhead, judgeRebase } from '../../tokens/rebase.ts';
import { dataOf } from '../../tokens/words.ts';
import { type Look, numberOf, shown } from './ask.ts';
import { lend } from './lend.ts';

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
  // A balance that the token does not tell is none.
  const held = async (ahead: number) =>
    numberOf(await fork.look({ from: shown(holder), to: token, data, later: ahead })) ?? 0n;
  const [now, later] = [await held(0), await held(daysAhead * daySeconds)];
  return judgeRebase({ now, later, stored }, selectors);
}
