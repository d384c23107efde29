// The time limit of one read of a chain: the wait ends with it, however the work treats the signal,
// as a refusal and not as a fault.

import { ParleyError } from '@parley/core/errors.ts';
import { unlessAborted } from './sources.ts';

/** Throws `chain_timeout` when `signal` ends first. */
export async function within<Result>(
  signal: AbortSignal,
  chain: string,
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await unlessAborted(work, signal);
  } catch (error) {
    // The error that a client library throws when its signal ends is the same thing.
    throw signal.aborted && !(error instanceof ParleyError) ? timedOut(chain, error) : error;
  }
}

function timedOut(chain: string, cause: unknown): ParleyError {
  const sentence = `chain "${chain}" did not answer in time; the request changed nothing`;
  return new ParleyError('chain_timeout', sentence, { chain }, { cause });
}
