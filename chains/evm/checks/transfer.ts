// Checks `transfer` and `limit`: what goes in comes out whole, at every step and amount.

import { getAddress } from 'viem/utils';
import { type Rpc, RpcError } from '../../nodes/rpc.ts';
import { type Finding, found, passed } from '../../tokens/inspection.ts';
import { closedNow, stoppedNow } from '../../tokens/powers.ts';
import { daySeconds, daysAhead, judgeRebase } from '../../tokens/rebase.ts';
import { addressIn } from '../../tokens/words.ts';
import { balanceOfCall, codeAt } from '../node.ts';
import { askFlag, askWord, callData, questionGas } from './ask.ts';
import type { Program } from './program.ts';
import { type Theatre, tryAmount, tryMarket } from './stage.ts';
import type { Verdict } from './trial.ts';

const transfer = 'transfer';
const limit = 'limit';

/** Shares of the total supply that are tried, besides a single unit. */
const mediumShare = 1_000n;
const largeShare = 20n;

export function largestTried(supply: bigint): bigint {
  return atLeastOne(supply / largeShare);
}

function atLeastOne(amount: bigint): bigint {
  return amount > 1n ? amount : 1n;
}

type Tried = { readonly amount: bigint; readonly verdict: Verdict };

/** `switches`: functions by which somebody may stop transfers, and let them go again. */
export async function transferFindings(
  stage: Theatre,
  supply: bigint,
  switches: readonly string[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const most = stage.borrowed ?? supply;
  const within = (amount: bigint) => (amount < most ? amount : most);
  const attempt = async (amount: bigint): Promise<Tried> => ({
    amount,
    verdict: await tryAmount(stage, amount, signal),
  });
  const medium = await attempt(within(atLeastOne(supply / mediumShare)));
  const small = medium.amount === 1n ? medium : await attempt(1n);
  if (medium.verdict.kind === 'fails' && small.verdict.kind === 'fails') {
    return [await failing(stage, medium, switches, signal)];
  }
  const large = within(largestTried(supply));
  const tried = [medium, small, ...(large > medium.amount ? [await attempt(large)] : [])];
  const wrong = tried.find(
    ({ verdict }) => verdict.kind === 'differs' || verdict.kind === 'untried',
  );
  if (wrong !== undefined) return [moved(wrong, stage)];
  const market = await marketFinding(stage, works(medium) ? medium : small, signal);
  return [market ?? passed(transfer), limitFinding(tried)];
}

function moved({ amount, verdict }: Tried, { borrowed }: Theatre): Finding {
  if (verdict.kind !== 'differs') {
    return found(transfer, 'wait', 'the node broke off when transfers of it were tried');
  }
  const { what, lost, gained } = verdict;
  // Some tokens tell a holder whom they bar that all went well, and move nothing.
  if (borrowed !== null && lost === 0n && gained === 0n) {
    return found(transfer, 'wait', `${what} of ${amount} units moves nothing`);
  }
  const head = `${what} of ${amount} units is not exact`;
  if (gained <= 0n) return found(transfer, 'reject', `${head}: nothing of it arrives`);
  if (gained < amount) {
    const share = shareOf(amount - gained, amount);
    const sentence = `${head}: ${gained} arrive, so ${share} are missing`;
    return found(transfer, 'reject', sentence);
  }
  return found(transfer, 'reject', `${head}: the sender loses ${lost}, and ${gained} arrive`);
}

/** Rounded down to hundredths of a percent; in units where that is nothing. */
function shareOf(part: bigint, whole: bigint): string {
  const hundredths = (part * 10_000n) / whole;
  if (hundredths === 0n) return `${part} units`;
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')} %`;
}

function works({ verdict }: Tried): boolean {
  return verdict.kind === 'works';
}

function limitFinding(tried: readonly Tried[]): Finding {
  const moves = tried.filter(works).map(({ amount }) => amount);
  for (const { amount, verdict } of tried) {
    if (verdict.kind !== 'fails') continue;
    const head = `it moves ${moves.join(' and ')} units, but ${verdict.what} of ${amount} fails`;
    return found(limit, 'wait', `${head}: ${verdict.words}`);
  }
  return passed(limit);
}

/** No amount moves: for ever, or until somebody turns a known switch. */
async function failing(
  stage: Theatre,
  tried: Tried,
  switches: readonly string[],
  signal: AbortSignal,
): Promise<Finding> {
  const { amount, verdict } = tried;
  if (verdict.kind !== 'fails') return passed(transfer);
  const sentence = `${verdict.what} of ${amount} units fails: ${verdict.words}`;
  const why = await switchedOff(stage.rpc, stage.token, signal);
  if (why !== null) return found(transfer, 'wait', `${sentence}; ${why} now`);
  const [first] = switches;
  if (first !== undefined) {
    return found(transfer, 'wait', `${sentence}; somebody may let it go by ${first}`);
  }
  // A holder of this chain may be barred where others are not.
  const sure = verdict.sure && stage.borrowed === null;
  return found(transfer, sure ? 'reject' : 'wait', sentence);
}

async function switchedOff(rpc: Rpc, token: string, signal: AbortSignal): Promise<string | null> {
  const flag = (name: string) => askFlag(rpc, token, name, signal);
  return (await stoppedNow(flag)) ?? closedNow(flag);
}

const marketNames = ['uniswapV2Pair()', 'pair()', 'lpPair()', 'uniswapPair()', 'pancakePair()'];

/** Whether what the token itself calls its market may be sold to and bought from; null: yes. */
async function marketFinding(stage: Theatre, medium: Tried, signal: AbortSignal) {
  for (const name of marketNames) {
    const word = await askWord(stage.rpc, stage.token, callData(name), signal);
    const market = addressIn(word);
    if (market === null || (await codeAt(stage.rpc, market, 'latest', signal)) === '0x') continue;
    const verdict = await tryMarket(stage, medium.amount, getAddress(market), signal);
    if (verdict.kind === 'works') return null;
    if (verdict.kind === 'fails') {
      // A launch may keep it closed until it begins.
      return failing(stage, { ...medium, verdict: { ...verdict, sure: false } }, [], signal);
    }
    return moved({ ...medium, verdict }, stage);
  }
  return null;
}

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
