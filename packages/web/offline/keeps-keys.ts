// Whether this browser keeps what a swap of its person needs, found out before there is any.

/** A database of its own, which tells no look for swaps that something is kept. */
const probe = 'probe of parley';
const probeMs = 5_000;

/** Whether keys of a swap could be kept here. The engine asks a browser that does not say. */
export async function keepsKeys(): Promise<boolean> {
  try {
    globalThis.localStorage.setItem(probe, '');
    globalThis.localStorage.removeItem(probe);
    if ((navigator.locks as LockManager | undefined) === undefined) return false;
    return await opens();
  } catch {
    return false;
  }
}

function opens(): Promise<boolean> {
  return new Promise((resolve) => {
    const request = indexedDB.open(probe);
    request.onerror = () => resolve(false);
    request.onsuccess = () => {
      request.result.close();
      indexedDB.deleteDatabase(probe);
      resolve(true);
    };
    setTimeout(() => resolve(true), probeMs);
  });
}
