// Sets the stage for trials of one token: actors, and something to move.

import { type Rpc, RpcError } from '../../nodes/rpc.ts';
import { addressIn } from '../../tokens/words.ts';
import { headBlock, logsOf } from '../node.ts';
import type { EvmDeployment } from '../plan.ts';
import { lendBalance, lends } from '../simulate.ts';
import { askWord, callData } from './ask.ts';
import { courseOf, marketCourse, newActors } from './steps.ts';
import { directed, played, playsTransactions, type Stage, type Verdict } from './trial.ts';

export type Theatre = Stage & {
  readonly deployment: EvmDeployment;
  readonly borrowed: bigint | null;
  readonly plays: boolean;
  readonly now: number;
};

export type Closed = { readonly why: string };

export async function openStage(
  rpc: Rpc,
  token: string,
  deployment: EvmDeployment,
  most: bigint,
  signal: AbortSignal,
): Promise<Theatre | Closed> {
  if (!(await lends(rpc, signal))) {
    return { why: 'it cannot be tried with this node, which takes no state overrides' };
  }
  const actors = newActors();
  const [{ timestamp: now }, plays, lent] = await Promise.all([
    headBlock(rpc, signal),
    playsTransactions(rpc, signal),
    lendBalance(rpc, token, actors.holder, most, signal),
  ]);
  const common = { rpc, token, deployment, plays, now };
  if (lent !== null) return { ...common, actors, lent, borrowed: null };
  const holding = await recentHolder(rpc, token, signal);
  if (holding === null) {
    return {
      why: 'it cannot be tried: where it keeps its balances was not found, nor a recent holder',
    };
  }
  const { holder, balance } = holding;
  return { ...common, actors: { ...actors, holder }, lent: {}, borrowed: balance };
}

/** Seconds ahead, and their words: what works only for now would fail an escrow. */
const times = [
  [3_600, 'an hour from now'],
  [86_400, 'a day from now'],
] as const;

/** Round through transfers, funding, claim and refund, in every way that this node can. */
export async function tryAmount(
  stage: Theatre,
  amount: bigint,
  signal: AbortSignal,
): Promise<Verdict> {
  const { token, actors, deployment, now } = stage;
  const courseAt = (time: number) => courseOf(token, amount, actors, deployment, time);
  const course = courseAt(now);
  if (stage.plays) {
    const verdict = await played(stage, course, 0, signal);
    if (verdict.kind !== 'works') return verdict;
  }
  const verdict = await directed(stage, course, 0, signal);
  // Some tokens allow one transfer in a transaction or a block: only the first one failed surely.
  const first = verdict.kind === 'fails' && verdict.what === course.steps[0]?.what;
  if (verdict.kind === 'fails' && (stage.plays || !first)) return { ...verdict, sure: false };
  if (verdict.kind !== 'works') return verdict;
  for (const [ahead, when] of times) {
    const playing = stage.plays ? played : directed;
    const later = await playing(stage, courseAt(now + ahead), ahead, signal);
    if (later.kind === 'works') continue;
    return later.kind === 'untried' ? later : onlyLater(later, when);
  }
  return verdict;
}

function onlyLater(verdict: Extract<Verdict, { readonly what: string }>, when: string): Verdict {
  const what = `${when}, ${verdict.what}`;
  if (verdict.kind === 'fails') return { ...verdict, what, sure: false };
  const words = `the sender loses ${verdict.lost}, and ${verdict.gained} arrive`;
  return { kind: 'fails', what, words, sure: false };
}

/** Sold to and bought from a market; only real transactions can use its own code. */
export async function tryMarket(
  stage: Theatre,
  amount: bigint,
  market: string,
  signal: AbortSignal,
): Promise<Verdict> {
  if (!stage.plays) return { kind: 'works' };
  return played(stage, marketCourse(stage.token, amount, stage.actors, market), 0, signal);
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Blocks looked back, a few first: a busy token shows holders there already. */
const windows = [50, 1_000, 5_000] as const;
const mostHolders = 8;
const mostBytes = 4 * 2 ** 20;

export type Holding = { readonly holder: string; readonly balance: bigint };

export async function recentHolder(
  rpc: Rpc,
  token: string,
  signal: AbortSignal,
): Promise<Holding | null> {
  const { number: head } = await headBlock(rpc, signal);
  let best: Holding | null = null;
  for (const window of windows) {
    for (const holder of await receivers(rpc, token, Math.max(0, head - window), head, signal)) {
      // One of whom the token says nothing is no holder.
      const balance = await askWord(rpc, token, callData('balanceOf(address)', holder), signal);
      if (balance !== null && balance > (best?.balance ?? 0n)) best = { holder, balance };
    }
    if (best !== null) return best;
  }
  return null;
}

async function receivers(rpc: Rpc, token: string, from: number, to: number, signal: AbortSignal) {
  const short: Rpc = {
    ...rpc,
    call: (method, params, by) => rpc.call(method, params, by, { mostBytes }),
  };
  try {
    const logs = await logsOf(short, { address: token, topics: [transferTopic] }, from, to, signal);
    const named = logs.flatMap(({ topics }) => {
      const address = addressIn(BigInt(topics[2] ?? 0));
      return address === null || BigInt(address) === 0n ? [] : [address];
    });
    return [...new Set(named.reverse())].slice(0, mostHolders);
  } catch (error) {
    if (error instanceof RpcError) return [];
    throw error;
  }
}
