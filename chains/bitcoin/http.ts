// One HTTP exchange with limits: time, size, and errors translated. Nothing of the address is ever
// put into a message, because it may hold credentials.

import { ParleyError } from '../../core/errors.ts';

export type HttpLimits = {
  readonly timeMs: number;
  readonly bytes: number;
};

export type HttpRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type HttpReply = { readonly status: number; readonly body: Uint8Array };

/** Throws `chain_timeout` or `chain_unavailable`, naming `source`. */
export async function exchange(
  source: string,
  request: HttpRequest,
  limits: HttpLimits,
  signal: AbortSignal,
): Promise<HttpReply> {
  const limit = AbortSignal.timeout(limits.timeMs);
  const both = AbortSignal.any([signal, limit]);
  const { url, method, headers, body } = request;
  try {
    both.throwIfAborted();
    const init = { method, headers, signal: both, redirect: 'error' as const };
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    return { status: response.status, body: await readBody(source, response, limits.bytes) };
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause;
    if (both.aborted) throw timedOut(source, cause);
    throw unavailable(source, reasonOf(cause), cause);
  }
}

async function readBody(source: string, response: Response, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > limit) throw unavailable(source, `its answer is over ${limit} bytes`);
    parts.push(part);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}

export function timedOut(source: string, cause?: unknown): ParleyError {
  const sentence = `the ${source} did not answer in time; nothing was changed`;
  return new ParleyError('chain_timeout', sentence, { source }, { cause });
}

export function unavailable(source: string, reason: string, cause?: unknown): ParleyError {
  const sentence = `the ${source} is not available: ${reason}`;
  return new ParleyError('chain_unavailable', sentence, { source }, { cause });
}

/** Such as ECONNREFUSED; never a text with the address in it. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : '';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}
