// Check `rebase`: that a balance stays what it is while nobody moves it. An escrow promises an
// amount, and holds it for a day or more.

import { RpcError } from '../../nodes/rpc.ts';
import { type Finding, found, passed } from '../../tokens/inspection.ts';
import { namesIn, rebaseSignals } from '../../tokens/powers.ts';
import { balanceOfCall } from '../node.ts';
import { questionGas } from './ask.ts';
import type { Program } from './program.ts';
import type { Theatre } from './stage.ts';

const check = 'rebase';
const daysAhead = 30;
const daySeconds = 86_400;

export async function rebaseFinding(
  stage: Theatre,
  { selectors }: Program,
  signal: AbortSignal,
): Promise<Finding> {
  const now = await balanceLater(stage, 0, signal);
  const later = await balanceLater(stage, daysAhead, signal);
  if (now !== null && later !== null && now !== later) {
    const sentence = `a balance of ${now} becomes ${later} within ${daysAhead} days by itself`;
    return found(check, 'reject', sentence);
  }
  const names = namesIn(rebaseSignals, selectors);
  if (names.length > 0) {
    const sentence = `its balances may change by themselves: its code has ${names.join(', ')}`;
    return found(check, 'wait', sentence);
  }
  const stored = storedIn(stage);
  if (now !== null && stored !== null && stored !== now) {
    const sentence = `it shows a balance of ${now} where ${stored} is written, so balances may change`;
    return found(check, 'wait', sentence);
  }
  return passed(check);
}

/** null where the node cannot move the clock. */
async function balanceLater(
  { rpc, token, actors, lent, now }: Theatre,
  days: number,
  signal: AbortSignal,
): Promise<bigint | null> {
  const time = `0x${(now + days * daySeconds).toString(16)}`;
  const call = { to: token, data: balanceOfCall(actors.holder), gas: questionGas };
  try {
    const answer = await rpc.call('eth_call', [call, 'latest', lent, { time }], signal);
    return typeof answer === 'string' && answer.length >= 66 ? BigInt(answer.slice(0, 66)) : null;
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/** The number that was lent as a balance; null where a real holder was found instead. */
function storedIn({ lent }: Theatre): bigint | null {
  const words = Object.values(lent).flatMap(({ stateDiff }) => Object.values(stateDiff ?? {}));
  const [only] = words;
  return only === undefined || words.length > 1 ? null : BigInt(only);
}
