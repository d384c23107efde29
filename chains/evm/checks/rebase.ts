// What balances are now and later, for the check `rebase`.

import { RpcError } from '../../nodes/rpc.ts';
import type { Finding } from '../../tokens/inspection.ts';
import { daySeconds, daysAhead, judgeRebase } from '../../tokens/rebase.ts';
import { balanceOfCall } from '../node.ts';
import { questionGas } from './ask.ts';
import type { Program } from './program.ts';
import type { Theatre } from './stage.ts';

export async function rebaseFinding(
  stage: Theatre,
  { selectors }: Program,
  signal: AbortSignal,
): Promise<Finding> {
  const now = await balanceLater(stage, 0, signal);
  const later = await balanceLater(stage, daysAhead, signal);
  return judgeRebase({ now, later, stored: storedIn(stage) }, selectors);
}

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
