// Waiting, with what every runtime has: for a time, and for the next turn of the event loop.

/** Rejects with the signal's reason when it ends first. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Calls when all that goes on without an answer has gone on. */
export function inNextTurn(work: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(work);
  else byMessage(work);
}

/** Not by a timer: browsers slow those down, to a second each where a page is hidden. */
function byMessage(work: () => void): void {
  const { port1, port2 } = new MessageChannel();
  const come = () => {
    port1.close();
    work();
  };
  port1.addEventListener('message', come, { once: true });
  port1.start();
  port2.postMessage(null);
}

export function nextTurn(): Promise<void> {
  return new Promise(inNextTurn);
}
