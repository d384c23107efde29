// The rules under examination: the functions of core/ and how settle/ joins them. A mutation is
// the same set with one of them altered.

import { deadlines } from '../../core/deadlines.ts';
import { sighting } from '../../core/facts.ts';
import { claimGate, fundGate, refundGate } from '../../core/gates.ts';
import { nextSteps } from '../../core/next.ts';
import { outcome } from '../../server/settle/outcome.ts';

export type Rules = {
  readonly deadlines: typeof deadlines;
  readonly sighting: typeof sighting;
  readonly outcome: typeof outcome;
  readonly nextSteps: typeof nextSteps;
  readonly fundGate: typeof fundGate;
  readonly claimGate: typeof claimGate;
  readonly refundGate: typeof refundGate;
};

export const realRules: Rules = {
  deadlines,
  sighting,
  outcome,
  nextSteps,
  fundGate,
  claimGate,
  refundGate,
};
