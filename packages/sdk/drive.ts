// Drives one swap to its end: runs `settle` again after every error that passes by itself.

import { sleep } from '@parley/chains/nodes/turn.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { type Outcome, type SettleInput, settle } from './settle.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export type Trouble = { readonly error: unknown; readonly verdict: Verdict };

export type DriveInput = {
  /** Asked before each run, since nodes and wallets may be others by then. */
  readonly ready: () => SettleInput | Promise<SettleInput>;
  /** Each error of a run, before anything follows of it. */
  readonly onTrouble?: (trouble: Trouble) => void;
  /** Between two runs, and between the polls of one; default asleep. */
  readonly pause?: SettleInput['pause'];
  readonly signal?: AbortSignal;
};

export type Driven =
  | { readonly is: 'ended'; readonly outcome: Outcome }
  /** It goes on with another call, once a person has done what lacks. */
  | (Trouble & { readonly is: 'stopped'; readonly verdict: 'person' | 'over' });

const leastPauseMs = 2_000;
const mostPauseMs = 60_000;

/** Resolves once the swap has ended, or stands still. Throws the signal's reason. */
export async function drive(input: DriveInput): Promise<Driven> {
  const { ready, onTrouble = () => {}, pause, signal } = input;
  let pauseMs: Millis = leastPauseMs;
  for (;;) {
    signal?.throwIfAborted();
    const beganMs = performance.now();
    try {
      const run = await ready();
      const waits = pause === undefined ? {} : { pause };
      const stops = signal === undefined ? {} : { signal };
      return { is: 'ended', outcome: await settle({ ...run, ...waits, ...stops }) };
    } catch (error) {
      signal?.throwIfAborted();
      const verdict = verdictOf(error);
      onTrouble({ error, verdict });
      if (verdict !== 'again') return { is: 'stopped', error, verdict };
    }
    // A run that went well for long has not failed again and again.
    if (performance.now() - beganMs > mostPauseMs) pauseMs = leastPauseMs;
    await (pause ?? sleep)(pauseMs, signal);
    pauseMs = Math.min(2 * pauseMs, mostPauseMs);
  }
}
