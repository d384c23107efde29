// Long work in short steps, so that whoever does it may do something else between two of them.

/** Each `yield` is a place to pause. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Without pauses. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
