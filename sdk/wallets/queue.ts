// Work of one wallet, one piece at a time.

/** A queue of work: each begins when the one before has ended, however it did. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  };
}
