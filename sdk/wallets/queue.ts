// Work of one wallet, one piece at a time.

/**
 * A queue of work: each begins when the one before has ended, however it did. Who waits until its
 * signal aborts is not begun, and gets the signal's reason at once.
 */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    new Promise((resolve, reject) => {
      const run = last.then(() => {
        signal.throwIfAborted();
        signal.removeEventListener('abort', leave);
        return work();
      });
      const leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      last = run.then(resolve, reject);
    });
}
