// One HTTP exchange with a chain's node by `fetch`, for browsers, with the limits of Node's. A page
// cannot tell a node that it did not reach from one that does not answer its origin (CORS): either
// may have heard what was asked, so no failure here is one of a node that heard nothing.

import { base64 } from '@scure/base';
import {
  bodyOf,
  lateAfter,
  type NodeLimits,
  type NodeReply,
  type NodeRequest,
  NothingReadable,
} from './exchange.ts';

/** The exchange carries nothing of the person but the question, and no answer of an earlier one. */
const alone = {
  credentials: 'omit',
  referrerPolicy: 'no-referrer',
  // Where it leads may be the person's own network.
  redirect: 'error',
} as const;

/**
 * A browser keeps no answer to a POST. Asked to keep none, it also forgets that a node lets this
 * page ask (the CORS preflight), and asks it that again before each question.
 */
const cacheOf = { GET: 'no-store', POST: 'default' } as const;

/**
 * Throws AnswerTooLong, a `TimeoutError`, the signal's reason, or NothingReadable.
 * A redirection is a failure. User and password in the URL are sent as Basic auth.
 */
export async function exchangeWith(
  { url, method, headers, body }: NodeRequest,
  limits: NodeLimits,
  signal: AbortSignal,
): Promise<NodeReply> {
  signal.throwIfAborted();
  const over = new AbortController();
  const cancelled = () => over.abort(signal.reason);
  const timer = setTimeout(() => over.abort(lateAfter(limits.timeMs)), limits.timeMs);
  signal.addEventListener('abort', cancelled, { once: true });
  try {
    const asked = withoutCredentials(url);
    const all = { ...asked.headers, ...headers };
    const init = { ...alone, cache: cacheOf[method], method, headers: all, signal: over.signal };
    const answer = await fetch(asked.url, body === undefined ? init : { ...init, body });
    return { status: answer.status, body: await readWhole(answer, limits.bytes) };
  } catch (error) {
    // The reason of an abort, whatever the runtime says instead of it.
    if (over.signal.aborted) throw over.signal.reason;
    throw error instanceof TypeError ? new NothingReadable() : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancelled);
    // The received part of an unwanted answer would be read on.
    over.abort();
  }
}

async function readWhole(answer: Response, mostBytes: number): Promise<Uint8Array> {
  const whole = bodyOf(mostBytes);
  const reader = answer.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return whole.whole();
    whole.take(part.value);
  }
}

/** `fetch` refuses a URL that has any, and its words quote it. */
function withoutCredentials(given: string): Pick<NodeRequest, 'url' | 'headers'> {
  const url = new URL(given);
  const { username, password } = url;
  if (username === '' && password === '') return { url: url.href, headers: {} };
  [url.username, url.password] = ['', ''];
  const named = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${base64.encode(new TextEncoder().encode(named))}`;
  return { url: url.href, headers: { authorization } };
}
