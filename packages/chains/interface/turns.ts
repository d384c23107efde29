// Long work on what strangers send, in turns with all other work of a process.

import { atOnce, type Steps } from '@parley/core/steps.ts';

/** Does the steps with a rest between any two; throws what ends them early. */
export type InTurns = <Result>(steps: Steps<Result>, signal: AbortSignal) => Promise<Result>;

export const atAStretch: InTurns = async (steps) => atOnce(steps);

/** How a server reads what anybody may have made up. */
export type Care = {
  readonly inTurns: InTurns;
  /** Whether an escrow is one of its own: no PSBT of another one is verified. */
  readonly isOurs: (escrow: string) => Promise<boolean>;
};
