// Long work in short steps, so that who does it may pause or give it up.

export type Steps<Result> = Generator<undefined, Result, undefined>;

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Whether it is given up by now: types keep what was read of a signal before an `await`. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
