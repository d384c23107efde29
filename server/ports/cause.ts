// What the lines of the log are about that a request causes, wherever they are written: carried by
// the call itself, so that no room between edge and log has to know of requests.

import { AsyncLocalStorage } from 'node:async_hooks';

export type Cause = {
  readonly requestId: string;
  /** Of the caller's trace, where it named one. */
  readonly traceId?: string;
};

const causes = new AsyncLocalStorage<Cause>();

/** What `work` does, and what it begins, is of this cause. */
export function causedBy<Result>(cause: Cause, work: () => Result): Result {
  return causes.run(cause, work);
}

/** undefined: nobody asked for it, as of a pass. */
export function causeNow(): Cause | undefined {
  return causes.getStore();
}
