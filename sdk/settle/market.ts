// Questions to the market, each with a limit of its own: whatever it does, or leaves undone, the
// customer's own chains are looked at again soon.

import { ParleyApiError } from '../errors.ts';
import type { Context } from './context.ts';

type How = { readonly signal: AbortSignal };

/** For the retries too. Far less than any deadline leaves: the shortest time to react is 30 min. */
export const marketLimitMs = 20_000;

/** Throws ParleyApiError `no_answer` when the limit is reached; the caller's signal ends it too. */
export async function asked<T>(
  context: Pick<Context, 'signal'>,
  ask: (how: How) => Promise<T>,
  limitMs = marketLimitMs,
): Promise<T> {
  const { signal } = context;
  signal?.throwIfAborted();
  const limit = new AbortController();
  const message = `the market took longer than ${limitMs} ms`;
  const late = new ParleyApiError({ status: 0, code: 'no_answer', message });
  const timer = setTimeout(() => limit.abort(late), limitMs);
  const both = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(both.reason);
  both.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([ask({ signal: both }), ended.promise]);
  } finally {
    clearTimeout(timer);
    both.removeEventListener('abort', end);
  }
}
