// Sets the stage for trials of one token: actors, and something to move.

import type { Rpc } from '../../nodes/rpc.ts';
import { headBlock } from '../node.ts';
import type { EvmDeployment } from '../plan.ts';
import { lendBalance, lends } from '../simulate.ts';
import { newActors } from './actors.ts';
import { recentHolder } from './holders.ts';
import { courseOf, marketCourse } from './steps.ts';
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
