// Sets the stage for trials of one token: actors, something to move, and the code of an escrow.

import type { Hex } from 'viem';
import { deployment as pinned, proxyInitCode } from '../../../contracts/evm/artifacts/abi.ts';
import type { Rpc } from '../../rpc.ts';
import { addressIn } from '../../token-words.ts';
import { gasPrice, headBlock } from '../node.ts';
import type { EvmDeployment } from '../plan.ts';
import { lendBalance, lends } from '../simulate.ts';
import { newActors } from './actors.ts';
import { askWord, callData } from './ask.ts';
import { recentHolder } from './holders.ts';
import { courseOf, marketCourse } from './steps.ts';
import { directed, played, playsTransactions, type Stage, type Verdict } from './trial.ts';

export type Theatre = Stage & {
  readonly deployment: EvmDeployment;
  /** The holder is somebody of this chain and has so much; null: an address of ours. */
  readonly borrowed: bigint | null;
  /** Transactions of plain accounts can be tried too. */
  readonly plays: boolean;
  /** Unix seconds of the best block. */
  readonly now: number;
  readonly gasPrice: bigint;
};

/** What keeps a token from being tried, as a sentence. */
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
  const [{ timestamp: now }, price, plays, escrowCode, lent] = await Promise.all([
    headBlock(rpc, signal),
    gasPrice(rpc, signal),
    playsTransactions(rpc, signal),
    escrowCodeOf(rpc, deployment, signal),
    lendBalance(rpc, token, actors.holder, most, signal),
  ]);
  const common = { rpc, token, escrowCode, deployment, plays, now, gasPrice: 2n * price };
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

/** The proxy's code: what its init code returns, behind the nine bytes that return it. */
async function escrowCodeOf(
  rpc: Rpc,
  { factory }: EvmDeployment,
  signal: AbortSignal,
): Promise<string> {
  const word = await askWord(rpc, factory, callData('implementation()'), signal);
  const implementation = addressIn(word) ?? pinned.implementation.address;
  return `0x${proxyInitCode(implementation as Hex).slice(2 + 2 * 9)}`;
}

/** Round through transfers, funding, claim and refund, in every way that this node can. */
export async function tryAmount(
  stage: Theatre,
  amount: bigint,
  signal: AbortSignal,
): Promise<Verdict> {
  const { token, actors, deployment, now } = stage;
  const course = courseOf(token, amount, actors, deployment, now);
  if (stage.plays) {
    const verdict = await played(stage, course, signal);
    if (verdict.kind !== 'works') return verdict;
  }
  const verdict = await directed(stage, course, stage.gasPrice, signal);
  // Some tokens allow one transfer in a transaction or a block: only the first one failed surely.
  const first = verdict.kind === 'fails' && verdict.what === course.steps[0]?.what;
  return verdict.kind === 'fails' && (stage.plays || !first)
    ? { ...verdict, sure: false }
    : verdict;
}

/** Sold to and bought from a market; only real transactions can use its own code. */
export async function tryMarket(
  stage: Theatre,
  amount: bigint,
  market: string,
  signal: AbortSignal,
): Promise<Verdict> {
  if (!stage.plays) return { kind: 'works' };
  return played(stage, marketCourse(stage.token, amount, stage.actors, market), signal);
}
