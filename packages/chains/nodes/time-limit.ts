// The time limit of one read of a chain: the wait ends with it, however the work treats the signal,
// as a refusal and not as a fault.

import { withResolvers } from '@parley/core/engines.ts';
import { ParleyError } from '@parley/core/errors.ts';

/** Throws `chain_timeout` when `signal` ends first. */
export async function within<Result>(
  signal: AbortSignal,
  chain: string,
  work: Promise<Result>,
): Promise<Result> {
  const { promise, reject } = withResolvers<never>();
  const end = () => reject(timedOut(chain, signal.reason));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    // The error that a client library throws when its signal ends is the same thing.
    throw signal.aborted && !(error instanceof ParleyError) ? timedOut(chain, error) : error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function timedOut(chain: string, cause: unknown): ParleyError {
  const sentence = `chain "${chain}" did not answer in time; nothing changed`;
  return new ParleyError('chain_timeout', sentence, { chain }, { cause });
}
