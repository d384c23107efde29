// The parts that every step of a job is given, and how one ends that is put off.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { ParleyError } from '@parley/core/errors.ts';
import type { Attempt } from './db/attempts.ts';
import type { Job } from './db/jobs.ts';
import type { Case, Gas, Parts, SigningTime } from './port.ts';
import type { Short } from './spending.ts';

/** A job with everything that a step of it needs. */
export type On = {
  readonly deps: Parts;
  readonly gas: Gas;
  readonly job: Job;
  readonly about: Case;
  readonly escrow: WatchedEscrow;
  readonly adapter: ChainAdapter;
  readonly signal: AbortSignal;
  /** All that this step knows to be signed for it, as it was kept, oldest first. */
  readonly attempts: readonly Attempt[];
};

export const realTime: SigningTime = {
  elapsedMs: () => performance.now(),
  pause: (ms, signal) => sleep(ms, undefined, { signal }),
  limit: (ms) => AbortSignal.timeout(ms),
  leaseClock: () => null,
};

/** Put off by what may be spent, or by what is in flight: no failure of anything. */
export class TooShort extends Error {
  readonly short: Short;
  constructor(short: Short) {
    super(short);
    this.short = short;
  }
}

const passing: readonly string[] = ['overloaded', 'chain_timeout', 'chain_unavailable'];

/** A refusal that says nothing of what was tried. */
export function isPassing({ code }: ParleyError): boolean {
  return passing.includes(code);
}
