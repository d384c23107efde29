// Questions to the market, each with a limit of its own: whatever it does, or leaves undone, the
// customer's own chains are looked at again soon.

import { type Hex32, opens } from '../../core/hashlock.ts';
import { ParleyApiError } from '../errors.ts';
import { mayBeFunded, type SwapRecord } from '../stores/store.ts';
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

/** Between two questions for the secret, in pauses between questions to the market. */
const pausesBetween = 5;

/**
 * The secret, where the market has shown it: of a chain whose node shows nothing. Who has a
 * preimage of the hashlock has the secret, so nothing of it has to be believed. Never waits: what
 * the market answers counts in a later pass.
 */
export function heardSecret(context: Context, record: SwapRecord): Hex32 | null {
  const { client, heard, swapId } = context;
  const now = performance.now();
  const isDue = now - heard.askedAtMs > context.marketPollMs * pausesBetween;
  if (client === null || !mayBeFunded(record) || heard.secret !== null || !isDue) {
    return heard.secret;
  }
  // Not again before it has answered, or the limit has passed.
  heard.askedAtMs = Infinity;
  const answered = asked(context, (how) => client.swap(swapId, how)).then(({ secret }) => {
    if (secret === null) return;
    if (isHex32(secret) && opens(secret, record.swap.hashlock)) heard.secret = secret;
    else context.tell('market_lied', null, 'the secret that the market shows opens nothing');
  });
  answered
    .catch((error: unknown) => {
      if (context.signal?.aborted) return;
      context.tell('market_refused', null, error instanceof Error ? error.message : String(error));
    })
    .finally(() => {
      heard.askedAtMs = performance.now();
    });
  return null;
}

function isHex32(said: unknown): said is Hex32 {
  return typeof said === 'string' && /^[0-9a-f]{64}$/.test(said);
}
