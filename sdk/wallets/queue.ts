/** Rejects with the signal's reason once it aborts: whatever comes of the work then is dropped. */
export async function inTime<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const late = Promise.withResolvers<never>();
  const leave = () => late.reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Who waits until its signal aborts is not begun, and gets the signal's reason at once. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const before = last;
    const run = before.then(() => inTime(work, signal));
    last = run.catch(() => {});
    return inTime(() => run, signal);
  };
}
