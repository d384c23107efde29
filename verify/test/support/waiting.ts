// Waits of tests. Each has a limit, so that what never comes fails its test by name, and soon.

import { type EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Machines are shared: a step of one second alone has taken twenty on them. */
export const patienceMs = 60_000;

type Nothing = null | undefined | false;
/** The condition may be a page or a query: polling all the time takes them from the answer. */
const rests = { leastMs: 5, mostMs: 50 } as const;

/** `everyMs`: instead of a fourth of what was waited so far, 5 to 50 ms. */
type Patience = { readonly everyMs?: number; readonly mostMs?: number };

/** Resolves once `is` gives something true, with that. Throws what `is` throws. */
export async function waitUntil<T>(
  is: () => T | Promise<T>,
  { everyMs, mostMs = patienceMs }: Patience = {},
): Promise<Exclude<T, Nothing>> {
  // Some tests set the other clocks.
  const began = process.hrtime.bigint();
  for (;;) {
    const found = await is();
    if (found) return found as Exclude<T, Nothing>;
    const passedMs = Number((process.hrtime.bigint() - began) / 1_000_000n);
    if (passedMs > mostMs) throw new Error(`not within ${mostMs} ms: ${is}`);
    const restMs = Math.min(rests.mostMs, rests.leastMs + passedMs / 4);
    await sleep(everyMs ?? restMs);
  }
}

/** The arguments of the next event of that name. Throws after the same patience. */
export async function nextEvent(from: EventEmitter, event: string): Promise<unknown[]> {
  const limit = AbortSignal.timeout(patienceMs);
  try {
    return await once(from, event, { signal: limit });
  } catch (error) {
    if (!limit.aborted) throw error;
    throw new Error(`no '${event}' of ${from.constructor.name} within ${patienceMs} ms`);
  }
}
