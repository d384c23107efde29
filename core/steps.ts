// Long work in short steps, so that whoever does it may do something else between two of them, or
// give it up.

/** Each `yield` is a place to pause. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Without pauses. */
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
