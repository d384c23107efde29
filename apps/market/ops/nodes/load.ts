// How much a node takes in a row: the questions of watching and building come faster and faster,
// until it refuses or is overdue. The limit that is met is told, with what the market needs of it.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { onOneLine } from '@parley/host/command.ts';
import { inTime } from '../../doctor/parts.ts';
import type { Check, Load, Node } from './probes.ts';

/** Calls a second, one step after the other. */
export const steps = [5, 10, 20, 40] as const;
/** The usual time of a step. */
const usualStepMs = 3_000;
/** The limit of a node's own words. */
const mostWords = 120;
/** The most time that one answer may take in a burst: a builder of a customer waits for several in
 * a row. */
const lateMs = 5_000;

type Step = {
  readonly rate: number;
  readonly asked: number;
  readonly failed: number;
  readonly ms: readonly number[];
  readonly words: string;
};

export async function loadOf(
  { where, hide }: Pick<Node, 'where' | 'hide'>,
  { neededPerSecond, asks }: Load,
  ending: AbortSignal,
  stepMs = usualStepMs,
): Promise<Check> {
  const began = performance.now();
  const done: Step[] = [];
  for (const rate of steps) {
    const step = await stepOf(asks, rate, stepMs, ending);
    done.push(step);
    if (step.failed > 0 || ending.aborted) break;
  }
  const clean = done.filter(({ failed }) => failed === 0).at(-1);
  const first = done.find(({ failed }) => failed > 0);
  const best = clean?.rate ?? 0;
  // Hidden before it is cut: half a key is not found.
  const words = onOneLine(hide(first?.words ?? '')).slice(0, mostWords);
  const numbers =
    clean === undefined
      ? ''
      : `, half within ${middle(clean.ms, 0.5)} ms, 99 of 100 within ${middle(clean.ms, 0.99)} ms`;
  const met =
    first === undefined
      ? `no limit was met`
      : `at ${first.rate} a second it failed ${first.failed} of ${first.asked} (${words})`;
  const verdict = best >= neededPerSecond ? 'fits' : 'lacks';
  const says = `${best} calls a second for ${stepMs / 1_000} s${numbers}; ${met}; ${neededPerSecond} are needed`;
  const todo =
    verdict === 'fits' ? null : 'take a plan with more calls a second, or a node of your own';
  const ms = Math.round(performance.now() - began);
  return {
    node: where,
    what: 'calls in a row',
    verdict,
    says,
    todo,
    ms,
    facts: { best, needed: neededPerSecond },
  };
}

async function stepOf(
  asks: Load['asks'],
  rate: number,
  stepMs: number,
  ending: AbortSignal,
): Promise<Step> {
  const asked = Math.ceil((rate * stepMs) / 1_000);
  const ms: number[] = [];
  let failed = 0;
  let words = '';
  const begun: Promise<void>[] = [];
  for (let at = 0; at < asked && failed === 0 && !ending.aborted; at += 1) {
    const ask = asks[at % asks.length] as Load['asks'][number];
    const began = performance.now();
    const one = inTime(lateMs, ending, ask).then(
      () => void ms.push(performance.now() - began),
      (error: unknown) => {
        failed += 1;
        words = error instanceof Error ? error.message : '';
      },
    );
    begun.push(one);
    await sleep(1_000 / rate, ending).catch(() => {});
  }
  await Promise.all(begun);
  return { rate, asked: begun.length, failed, ms, words };
}

function middle(ms: readonly number[], share: number): number {
  const sorted = ms.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
