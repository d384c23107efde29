// The cause of log lines that a request brings about, wherever they are written: carried by the
// call itself, so that no room between edge and log has to know of requests.

import { AsyncLocalStorage } from 'node:async_hooks';

export type Cause = {
  readonly requestId: string;
  /** The id of the caller's trace, where it named one. */
  readonly traceId?: string;
};

const causes = new AsyncLocalStorage<Cause>();

/** The work, and all that it begins, has this cause. */
export function causedBy<Result>(cause: Cause, work: () => Result): Result {
  return causes.run(cause, work);
}

/** undefined: no request caused it, as in a pass. */
export function causeNow(): Cause | undefined {
  return causes.getStore();
}
