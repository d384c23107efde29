// Requests to identity providers. An answer of a provider costs a bounded time and a bounded number
// of bytes, and no other host is asked instead: redirects are faults.

import type { CustomFetchOptions } from 'openid-client';
import { isSafeUrl } from '../settings/networks.ts';

/** A discovery document has some 5 KiB, a set of keys some 10 KiB. */
const mostBytes = 256 * 1024;
/** A person waits for it. */
const mostMs = 5_000;

/** A provider that is not there, or that does not speak the protocol. Names nothing it said. */
export class ProviderFault extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'ProviderFault';
  }
}

/** Where a library has wrapped it; null where there is none. */
export function faultIn(error: unknown): ProviderFault | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ProviderFault) return each;
  }
  return null;
}

/** https, or http to this machine. */
export function mayBeAsked(url: string): boolean {
  return URL.canParse(url) && isSafeUrl(new URL(url));
}

export async function askProvider(
  url: string,
  { method, headers, body }: Pick<CustomFetchOptions, 'method' | 'headers' | 'body'>,
  limitMs: number,
): Promise<Response> {
  if (!mayBeAsked(url)) throw new ProviderFault('an address of it is no https');
  const ms = Math.min(limitMs, mostMs);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), ms);
  try {
    const sent = {
      method,
      headers,
      ...(body == null ? {} : { body: body as RequestInit['body'] }),
    };
    const response = await fetch(url, {
      ...sent,
      redirect: 'manual',
      signal: ending.signal,
    } as RequestInit);
    const { status } = response;
    if (status >= 300 && status < 400) throw new ProviderFault(`it answers with a redirect`);
    if (status >= 500) throw new ProviderFault(`it answers ${status}`);
    const bytes = await wholeBody(response);
    if (bytes.length === 0) throw new ProviderFault(`it answers ${status} with nothing`);
    return new Response(bytes, { status, headers: response.headers });
  } catch (error) {
    if (error instanceof ProviderFault) throw error;
    const reason = ending.signal.aborted ? `no answer within ${ms} ms` : 'it cannot be reached';
    throw new ProviderFault(reason, { cause: error });
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

/** Counted as it is read, and so after it was unpacked. */
async function wholeBody(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw new ProviderFault(`it answers more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
