// Plays a course on a node, without a transaction, in two ways. In one call, where a director has
// the actors make the steps by code that is lent to them (Trial.sol): every node with state
// overrides can. And as transactions of plain accounts (eth_simulateV1), which a token cannot tell
// from real ones: where the node can. What hides from one way shows in the other.

import type { Hex } from 'viem';
import { decodeErrorResult, decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { factoryAbi } from '../../../contracts/evm/artifacts/abi.ts';
import { type Rpc, RpcError } from '../../rpc.ts';
import { cleanText } from '../../token-text.ts';
import { balanceOfCall, refused } from '../node.ts';
import { readRevert } from '../reverts.ts';
import type { Overrides } from '../simulate.ts';
import type { Actors } from './actors.ts';
import type { Course, Step } from './steps.ts';
import { trialAbi, trialCode } from './trial-code.ts';

export type Verdict =
  | { readonly kind: 'works' }
  /** A step reverts, or says that it worked and moves nothing that can be weighed. */
  | {
      readonly kind: 'fails';
      readonly what: string;
      readonly words: string;
      /** It would fail as a transaction too, and not only where many are made in one. */
      readonly sure: boolean;
    }
  /** A step moves something else than the amount. */
  /** The node broke off: nothing is known. */
  | { readonly kind: 'untried' }
  | {
      readonly kind: 'differs';
      readonly what: string;
      readonly lost: bigint;
      readonly gained: bigint;
    };

/** What a step did. Balances of the payer before and after, then of the payee. */
type Done = {
  readonly ok: boolean;
  readonly answer: string;
  readonly message: string;
  readonly burnt: boolean;
  readonly balances: readonly (bigint | null)[];
};

/** A transfer takes less than 100 000, one that also sells for its owner less than a million. */
export const stepGas = 2_000_000n;
/** As much as Trial.sol gives a balance: the two ways must not differ in what they can weigh. */
export const readGas = 300_000n;
/**
 * Enough for every step and balance to take all that it may: a course that ended for want of gas
 * would look like a failing node, and no token could ever be refused that takes so much. Below what
 * nodes grant a call at the most (50 million is usual).
 */
export const courseGas = 30_000_000n;
/** More native coin than any gas costs. */
const purse = `0x${(2n ** 100n).toString(16)}`;
const noBalance = 2n ** 256n - 1n;
const mostWords = 120;

export type Stage = {
  readonly rpc: Rpc;
  readonly token: string;
  readonly actors: Actors;
  /** What gives the holder its tokens. */
  readonly lent: Overrides;
  /** The code of every escrow. */
  readonly escrowCode: string;
};

/** In one call, by a director. */
export async function directed(
  { rpc, token, actors, lent, escrowCode }: Stage,
  { amount, steps, expired }: Course,
  gasPrice: bigint,
  signal: AbortSignal,
): Promise<Verdict> {
  const { origin, director, last } = actors;
  const players = Object.values(actors).filter((each) => each !== last && each !== origin);
  const overrides: Overrides = {
    ...lent,
    ...Object.fromEntries(players.map((each) => [each, { ...lent[each], code: trialCode }])),
    ...(expired === null ? {} : { [expired]: { code: escrowCode } }),
    [origin]: { balance: purse },
  };
  const told = steps.map(({ actor, to, data, moves }) => ({
    actor: (actor === origin ? director : actor) as Hex,
    to: to as Hex,
    data,
    payer: (moves?.payer ?? zero) as Hex,
    payee: (moves?.payee ?? zero) as Hex,
  }));
  const data = encodeFunctionData({
    abi: trialAbi,
    functionName: 'run',
    args: [token as Hex, amount, stepGas, told],
  });
  const call = {
    from: origin,
    to: director,
    data,
    gas: `0x${courseGas.toString(16)}`,
    // At no price a token could tell the trial from a transaction.
    gasPrice: `0x${gasPrice.toString(16)}`,
  };
  const answer = await called(rpc, [call, 'latest', overrides], signal);
  const results = decodeFunctionResult({ abi: trialAbi, functionName: 'run', data: answer });
  const done = results
    .filter(({ made }) => made)
    .map(
      ({ ok, answer: said, gasUsed, balances }): Done => ({
        ok,
        answer: said,
        message: 'it reverts without a reason',
        burnt: gasUsed >= (stepGas * 9n) / 10n,
        balances: balances.map((each) => (each === noBalance ? null : each)),
      }),
    );
  return judge(steps, done, amount);
}

const zero = '0x0000000000000000000000000000000000000000';

async function called(rpc: Rpc, params: readonly unknown[], signal: AbortSignal): Promise<Hex> {
  try {
    return (await rpc.call('eth_call', params, signal)) as Hex;
  } catch (error) {
    throw error instanceof RpcError ? refused(rpc, 'eth_call', error) : error;
  }
}

/** Whether the node plays transactions one after the other. */
export async function playsTransactions(rpc: Rpc, signal: AbortSignal): Promise<boolean> {
  const block = { calls: [{ to: zero, data: '0x' }] };
  try {
    const answer = await rpc.call(
      'eth_simulateV1',
      [{ blockStateCalls: [block] }, 'latest'],
      signal,
    );
    return blocksOf(answer)[0]?.length === 1;
  } catch (error) {
    if (error instanceof RpcError) return false;
    throw error;
  }
}

/** As transactions of plain accounts, each in a block of its own. */
export async function played(
  { rpc, token, actors, lent, escrowCode }: Stage,
  { amount, steps, expired }: Course,
  signal: AbortSignal,
): Promise<Verdict> {
  const stateOverrides: Overrides = {
    ...lent,
    ...(expired === null ? {} : { [expired]: { code: escrowCode } }),
    // Any code that is not ours: it stands for a market.
    [actors.contract]: { ...lent[actors.contract], code: '0x00' },
  };
  const read = (who: string) => ({
    from: actors.origin,
    to: token,
    data: balanceOfCall(who),
    gas: `0x${readGas.toString(16)}`,
  });
  const blocks = steps.map(({ actor, to, data, moves }) => {
    const weigh = moves === null ? [] : [read(moves.payer), read(moves.payee)];
    const step = { from: actor, to, data, gas: `0x${stepGas.toString(16)}` };
    return { calls: [...weigh, step, ...weigh] };
  });
  const [first, ...others] = blocks;
  const input = { blockStateCalls: [{ ...first, stateOverrides }, ...others], validation: false };
  try {
    const answers = blocksOf(await rpc.call('eth_simulateV1', [input, 'latest'], signal));
    const whole = blocks.every(({ calls }, at) => answers[at]?.length === calls.length);
    if (!whole) return { kind: 'untried' };
    return judge(steps, answers.map(doneOf), amount);
  } catch (error) {
    if (error instanceof RpcError) return { kind: 'untried' };
    throw error;
  }
}

type Played = {
  readonly status?: unknown;
  readonly returnData?: unknown;
  readonly gasUsed?: unknown;
  readonly error?: { readonly message?: unknown; readonly data?: unknown } | null;
};

function blocksOf(answer: unknown): Played[][] {
  const blocks = Array.isArray(answer) ? (answer as ({ calls?: unknown } | null)[]) : [];
  return blocks.map((each) => (Array.isArray(each?.calls) ? (each.calls as Played[]) : []));
}

/** A step alone, or between two readings before and two after. */
function doneOf(calls: readonly Played[]): Done {
  const weighed = calls.length > 1;
  const step = calls[weighed ? 2 : 0] ?? {};
  const data = step.error?.data ?? step.returnData;
  return {
    ok: step.status === '0x1',
    answer: typeof data === 'string' ? data : '0x',
    message: cleanText(String(step.error?.message ?? 'it reverts without a reason'), mostWords),
    burnt: BigInt(String(step.gasUsed ?? 0)) >= (stepGas * 9n) / 10n,
    balances: [0, 3, 1, 4].map((at) => wordOf(calls[at] ?? {})),
  };
}

function wordOf({ status, returnData }: Played): bigint | null {
  const good = status === '0x1' && typeof returnData === 'string' && returnData.length >= 66;
  return good ? BigInt(returnData.slice(0, 66)) : null;
}

/** The first step that does not do what it should. */
function judge(steps: readonly Step[], done: readonly Done[], amount: bigint): Verdict {
  for (const [at, { what, moves }] of steps.entries()) {
    const result = done[at];
    if (result === undefined)
      return { kind: 'fails', what, words: 'it was not reached', sure: false };
    if (!result.ok) return failing(what, result);
    if (moves === null) continue;
    const [payerBefore, payerAfter, payeeBefore, payeeAfter] = result.balances;
    if (payerBefore == null || payerAfter == null || payeeBefore == null || payeeAfter == null) {
      return { kind: 'fails', what, words: 'balanceOf() does not answer', sure: true };
    }
    const lost = payerBefore - payerAfter;
    const gained = payeeAfter - payeeBefore;
    if (lost !== amount || gained !== amount) return { kind: 'differs', what, lost, gained };
  }
  return { kind: 'works' };
}

function failing(what: string, { answer, message, burnt }: Done): Verdict {
  const wrong = wrongAmount(answer);
  if (wrong !== null) return { kind: 'differs', what, ...wrong };
  if (burnt && answer === '0x') {
    return { kind: 'fails', what, words: `it uses up ${stepGas} gas without an end`, sure: true };
  }
  const { words } = readRevert(answer === '' ? null : answer, message);
  return { kind: 'fails', what, words: cleanText(words, mostWords), sure: true };
}

/** What our factory refuses when a fee is taken on the way in. */
function wrongAmount(answer: string): { lost: bigint; gained: bigint } | null {
  try {
    const { errorName, args } = decodeErrorResult({ abi: factoryAbi, data: answer as Hex });
    if (errorName !== 'WrongAmountReceived') return null;
    const [, before, after, amount] = args;
    return { lost: amount, gained: after - before };
  } catch {
    return null;
  }
}
