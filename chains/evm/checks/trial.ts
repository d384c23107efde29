// Plays a course by lent code in one call, and by eth_simulateV1. One shows what hides from the
// other.

import { randomBytes, randomInt } from 'node:crypto';
import type { Hex } from 'viem';
import { decodeErrorResult, decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { escrowsAbi } from '../../../contracts/escrows/artifacts/abi.ts';
import { smaller } from '../../../core/amounts.ts';
import { ParleyError } from '../../../core/errors.ts';
import { amountOf, fewMiB, quantity, type Rpc, RpcError } from '../../nodes/rpc.ts';
import { cleanText } from '../../tokens/text.ts';
import { trialAbi, trialCode } from '../artifacts/trial.ts';
import { balanceOfCall, gasPrice, refused } from '../node.ts';
import { type Overrides, readRevert } from '../simulate.ts';
import { isCallFailure } from './ask.ts';
import type { Actors, Course, Step } from './steps.ts';

export type Verdict =
  | { readonly kind: 'works' }
  | {
      readonly kind: 'fails';
      readonly what: string;
      readonly words: string;
      /** It would fail as a transaction too, and not only where many are made in one. */
      readonly sure: boolean;
    }
  | { readonly kind: 'untried' }
  | {
      readonly kind: 'differs';
      readonly what: string;
      readonly lost: bigint;
      readonly gained: bigint;
    };

type Done = {
  readonly ok: boolean;
  readonly answer: string;
  readonly message: string;
  readonly gasUsed: bigint;
  readonly gasMost: bigint;
  readonly balances: readonly (bigint | null)[];
};

const betweenGas = 100_000n;
/** An answer in hex; one of a usual token takes a hundredth. */
const mostBytes = 4 * 2 ** 20;
/** Each call within another keeps a 64th back: a course must not end for want of gas. */
export function courseGas(steps: readonly { readonly gasMost: bigint }[], readGas: bigint): bigint {
  const parts = steps.map(({ gasMost }) => gasMost + 4n * readGas + betweenGas);
  const sum = parts.reduce((before, each) => before + each, 1_500_000n);
  return (sum * 16n) / 15n;
}

const noBalance = 2n ** 256n - 1n;
const mostWords = 120;

export type Stage = {
  readonly rpc: Rpc;
  readonly token: string;
  readonly actors: Actors;
  readonly lent: Overrides;
};

export async function directed(
  { rpc, token, actors, lent }: Stage,
  { amount, steps, lent: word }: Course,
  ahead: number,
  signal: AbortSignal,
): Promise<Verdict> {
  // Anew for each trial: prices and blocks go on while a token is looked at.
  const surroundings = await surroundingsOf(rpc, signal);
  const { origin, director, last } = actors;
  const players = Object.values(actors).filter((each) => each !== last && each !== origin);
  const readGas = readGasOf();
  const told = steps.map(({ actor, to, data, moves }) => ({
    actor: (actor === origin ? director : actor) as Hex,
    to: to as Hex,
    data,
    gasMost: stepGasOf(),
    payer: (moves?.payer ?? zero) as Hex,
    payee: (moves?.payee ?? zero) as Hex,
  }));
  const gas = courseGas(told, readGas) + BigInt(randomInt(400_000));
  const overrides: Overrides = {
    ...lent,
    ...word,
    ...Object.fromEntries(players.map((each) => [each, { ...lent[each], code: disguised() }])),
    [origin]: { balance: gasBalance(surroundings, gas) },
  };
  const data = encodeFunctionData({
    abi: trialAbi,
    functionName: 'run',
    args: [token as Hex, amount, readGas, told],
  });
  const price = hex(surroundings.price);
  const call = { from: origin, to: director, data, gas: hex(gas), gasPrice: price };
  // At other times the number stays: nodes know no hashes of blocks to come.
  const later = ahead === 0 ? [] : [{ time: hex(surroundings.timestamp + ahead) }];
  const answer = await called(rpc, [call, 'latest', overrides, ...later], ahead > 0, signal);
  if (typeof answer !== 'string') return answer;
  const results = decodeFunctionResult({
    abi: trialAbi,
    functionName: 'run',
    data: answer,
  });
  const done = results
    .filter(({ made }) => made)
    .map(
      ({ ok, answer: said, gasUsed, balances }, at): Done => ({
        ok,
        answer: said,
        message: 'it reverts without a reason',
        gasUsed,
        gasMost: told[at]?.gasMost ?? gasUsed,
        balances: balances.map((each) => (each === noBalance ? null : each)),
      }),
    );
  return judge(steps, done, amount);
}

const zero = '0x0000000000000000000000000000000000000000';

/** Never twice the same code, so that no token knows it by its hash or its size. */
function disguised(): string {
  return `${trialCode}fe${randomBytes(randomInt(20, 2_000)).toString('hex')}`;
}

/** Whatever the token made of the call is no fault of the node. */
async function called(
  rpc: Rpc,
  params: readonly unknown[],
  may: boolean,
  signal: AbortSignal,
): Promise<Hex | Verdict> {
  try {
    return (await rpc.call('eth_call', params, signal, { mostBytes })) as Hex;
  } catch (error) {
    if (isCallFailure(error)) {
      const words = `it breaks the trial off: ${cleanText(error.message, mostWords)}`;
      return { kind: 'fails', what: 'a round of transfers', words, sure: false };
    }
    if (!(error instanceof RpcError)) throw error;
    // Not every node moves the clock.
    if (may) return { kind: 'works' };
    throw refused(rpc, 'eth_call', error);
  }
}

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

export async function played(
  stage: Stage,
  course: Course,
  ahead: number,
  signal: AbortSignal,
): Promise<Verdict> {
  const limits = course.steps.map(stepGasOf);
  const { verdict, done } = await playedWithin(stage, course, ahead, limits, signal);
  if (verdict.kind !== 'works') return verdict;
  // And with no more gas than wallets give, which differs from chain to chain and token to token.
  const tight = done.map(({ gasUsed }) => walletGas(gasUsed));
  const again = (await playedWithin(stage, course, ahead, tight, signal)).verdict;
  return again.kind === 'fails' ? { ...again, sure: false } : again;
}

type Round = { readonly verdict: Verdict; readonly done: readonly Done[] };

async function playedWithin(
  { rpc, token, actors, lent }: Stage,
  { amount, steps, lent: word }: Course,
  ahead: number,
  limits: readonly bigint[],
  signal: AbortSignal,
): Promise<Round> {
  const surroundings = await surroundingsOf(rpc, signal);
  const price = hex(surroundings.price);
  const read = (who: string) => ({
    from: actors.origin,
    to: token,
    data: balanceOfCall(who),
    gas: hex(readGasOf()),
    gasPrice: price,
  });
  const blocks = steps.map(({ actor, to, data, moves }, at) => {
    const weigh = () => (moves === null ? [] : [read(moves.payer), read(moves.payee)]);
    const step = { from: actor, to, data, gas: hex(limits[at] ?? 0n), gasPrice: price };
    const calls = [...weigh(), step, ...weigh()];
    return { calls, blockOverrides: blockAfter(surroundings, at, ahead) };
  });
  const gas = new Map<string, bigint>();
  for (const call of blocks.flatMap(({ calls }) => calls)) {
    gas.set(call.from, (gas.get(call.from) ?? 0n) + BigInt(call.gas));
  }
  const balances = [...gas].map(([who, most]) => {
    return [who, { ...lent[who], balance: gasBalance(surroundings, most) }] as const;
  });
  const withBalances: Overrides = { ...lent, ...Object.fromEntries(balances) };
  const stateOverrides: Overrides = {
    ...withBalances,
    ...word,
    [actors.contract]: { ...withBalances[actors.contract], code: someCode() },
  };
  const [first, ...others] = blocks;
  const input = { blockStateCalls: [{ ...first, stateOverrides }, ...others], validation: false };
  const untried: Round = { verdict: { kind: 'untried' }, done: [] };
  try {
    // On the block whose number and time these go on from, were it the best no more.
    const params = [input, hex(surroundings.number)];
    const answers = blocksOf(await rpc.call('eth_simulateV1', params, signal, { mostBytes }));
    const whole = blocks.every(({ calls }, at) => answers[at]?.length === calls.length);
    if (!whole) return untried;
    const done = answers.map((calls, at) => doneOf(calls, limits[at] ?? 0n));
    return { verdict: judge(steps, done, amount), done };
  } catch (error) {
    if (error instanceof RpcError) return untried;
    throw error;
  }
}

/** Stands for a market: a contract that accepts any call, as nobody has it elsewhere. */
function someCode(): string {
  return `0x608060405200${randomBytes(randomInt(200, 5_000)).toString('hex')}`;
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

function doneOf(calls: readonly Played[], gasMost: bigint): Done {
  const weighed = calls.length > 1;
  const step = calls[weighed ? 2 : 0] ?? {};
  const data = step.error?.data ?? step.returnData;
  return {
    ok: step.status === '0x1',
    answer: typeof data === 'string' ? data : '0x',
    message: cleanText(String(step.error?.message ?? 'it reverts without a reason'), mostWords),
    gasUsed: numberOf(step.gasUsed),
    gasMost,
    balances: [0, 3, 1, 4].map((at) => wordOf(calls[at] ?? {})),
  };
}

function numberOf(value: unknown): bigint {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(value) ? BigInt(value) : 0n;
}

function wordOf({ status, returnData }: Played): bigint | null {
  const good = status === '0x1' && typeof returnData === 'string' && returnData.length >= 66;
  return good ? BigInt(returnData.slice(0, 66)) : null;
}

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

function failing(what: string, { answer, message, gasUsed, gasMost }: Done): Verdict {
  const wrong = wrongAmount(answer);
  if (wrong !== null) return { kind: 'differs', what, ...wrong };
  if (gasUsed >= (gasMost * 9n) / 10n && answer === '0x') {
    return { kind: 'fails', what, words: `it uses up ${gasMost} gas without an end`, sure: true };
  }
  const { words } = readRevert(answer === '' ? null : answer, message);
  return { kind: 'fails', what, words: cleanText(words, mostWords), sure: true };
}

/** What the contract refuses: a fee on the way in, and anything but the amount on the way out. */
function wrongAmount(answer: string): { lost: bigint; gained: bigint } | null {
  try {
    const { errorName, args } = decodeErrorResult({ abi: escrowsAbi, data: answer as Hex });
    if (errorName === 'WrongAmountReceived') {
      const [, before, after, amount] = args;
      return { lost: amount, gained: after - before };
    }
    if (errorName !== 'WrongAmountSent') return null;
    const [, before, after, amount] = args;
    const lost = before - after;
    // What leaves beyond the amount goes to others.
    return { lost, gained: smaller(lost, amount) };
  } catch {
    return null;
  }
}

type Surroundings = {
  readonly number: number;
  readonly timestamp: number;
  readonly baseFee: bigint | null;
  /** Every block has a number of chance (PREVRANDAO). */
  readonly random: boolean;
  /** For a unit of gas, drawn between the usual and one and a half of it. */
  readonly price: bigint;
};

const spacingSeconds = 12;
/** A transfer takes less than 100 000, one that also sells for its owner less than a million. */
export const stepGas = [1_100_000, 1_700_000] as const;
export const readGas = [300_000, 440_000] as const;
const milliCoin = 10n ** 15n;
const gasMilliCoins = [50, 3_000] as const;

async function surroundingsOf(rpc: Rpc, signal: AbortSignal): Promise<Surroundings> {
  const method = 'eth_getBlockByNumber';
  const usual = await gasPrice(rpc, signal);
  const asking = rpc.call(method, ['latest', false], signal, fewMiB);
  const answer = await asking.catch((error: unknown) => {
    throw error instanceof RpcError ? refused(rpc, method, error) : error;
  });
  try {
    const head = answer as Readonly<Record<string, unknown>>;
    const baseFee = typeof head.baseFeePerGas === 'string' ? amountOf(head.baseFeePerGas) : null;
    // Base fees rise by an eighth at most.
    const least = ((baseFee ?? 0n) * 9n) / 8n;
    const price = (least > usual ? least : usual) + 1n;
    return {
      number: quantity(head.number),
      timestamp: quantity(head.timestamp),
      baseFee,
      random: /^0x0*$/.test(String(head.difficulty ?? '0x0')) && /[1-9a-f]/.test(mixOf(head)),
      price: price + (price * BigInt(randomInt(500))) / 1_000n,
    };
  } catch (cause) {
    throw new ParleyError(
      'chain_unavailable',
      `the ${rpc.chain} node gave a block that cannot be read`,
      { chain: rpc.chain, method },
      { cause },
    );
  }
}

function mixOf({ mixHash }: Readonly<Record<string, unknown>>): string {
  return String(mixHash ?? '0x').slice(2);
}

function blockAfter(
  { number, timestamp, baseFee, random }: Surroundings,
  at: number,
  ahead: number,
): Readonly<Record<string, string>> {
  const time = timestamp + ahead + spacingSeconds * (at + 1);
  return {
    number: hex(number + 1 + at),
    time: hex(time),
    ...(baseFee === null ? {} : { baseFeePerGas: hex(baseFee - (baseFee * chance(100)) / 1_000n) }),
    ...(random ? { prevRandao: `0x${randomBytes(32).toString('hex')}` } : {}),
  };
}

function gasBalance({ price }: Surroundings, gas: bigint): string {
  const coins = BigInt(randomInt(...gasMilliCoins)) * milliCoin + chance(2 ** 40);
  return hex(2n * price * gas + coins);
}

function stepGasOf(): bigint {
  return BigInt(randomInt(...stepGas));
}

function readGasOf(): bigint {
  return BigInt(randomInt(...readGas));
}

function walletGas(used: bigint): bigint {
  return (used * BigInt(randomInt(1_500, 1_800))) / 1_000n + chance(20_000);
}

function chance(below: number): bigint {
  return BigInt(randomInt(below));
}

export function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}
