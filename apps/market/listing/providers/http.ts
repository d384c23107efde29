// JSON from one provider of market data, over HTTPS: in time, of a bounded size, at the provider's
// pace, never from where it redirects to. A key travels in a header and stands in no sentence.

import { mayAsk } from '../../settings/listing.ts';
import { ProviderFailure } from './facts.ts';
import { type Clock, createPace, realClock } from './pace.ts';

/** One try, from its first byte to the last of its answer. */
export const tryMs = 8_000;
/** The largest documented answers are some tens of kB. */
export const mostBytes = 1_048_576;
const tries = 2;
const betweenTriesMs = 500;
/** Where a provider says that it is asked too often, but not for how long. */
const pauseMs = 30_000;

export type ClientOptions = {
  readonly name: string;
  readonly base: string;
  readonly perMinute: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a body of status 200 says that it is asked too often. */
  readonly limited?: (body: unknown) => boolean;
  readonly clock?: Clock;
  readonly tryMs?: number;
};

/** `found` false = the provider answered, in JSON, that there is no such thing (404). */
export type Answer = { readonly found: boolean; readonly body: unknown };

export type JsonClient = {
  readonly name: string;
  /** Throws `ProviderFailure`; a call that `signal` ends is a failure of kind `unreachable`. */
  get(path: readonly string[], query: Record<string, string>, s: AbortSignal): Promise<Answer>;
};

export function jsonClient(options: ClientOptions): JsonClient {
  const { name, base, clock = realClock } = options;
  if (!mayAsk(base)) throw new Error(`${name} may only be asked over https`);
  const pace = createPace(name, options.perMinute, clock);

  async function once(url: URL, signal: AbortSignal): Promise<Answer> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(options.tryMs ?? tryMs)]);
    const response = await fetch(url, {
      headers: { ...options.headers, accept: 'application/json' },
      redirect: 'manual',
      signal: limit,
    });
    if (response.status === 429) {
      await drop(response);
      pace.pause(pauseOf(response.headers.get('retry-after')));
      throw new ProviderFailure('limited', `${name} is asked too often`);
    }
    if (response.status !== 200 && response.status !== 404) {
      await drop(response);
      throw new Refused(name, response.status);
    }
    const body = parse(name, await readText(name, response));
    if (response.status === 200 && options.limited?.(body) === true) {
      pace.pause(pauseMs);
      throw new ProviderFailure('limited', `${name} is asked too often`);
    }
    return { found: response.status === 200, body };
  }

  async function patiently(url: URL, signal: AbortSignal): Promise<Answer> {
    for (let left = tries - 1; ; left -= 1) {
      await pace.turn(signal);
      try {
        return await once(url, signal);
      } catch (error) {
        if (left === 0 || signal.aborted || !mayPass(error)) throw error;
      }
      await clock.sleep(betweenTriesMs, signal);
    }
  }

  return {
    name,
    get: (path, query, signal) =>
      patiently(urlOf(base, path, query), signal).catch((error: unknown) => {
        throw error instanceof ProviderFailure ? error : unreachable(name, error);
      }),
  };
}

class Refused extends ProviderFailure {
  readonly status: number;

  constructor(name: string, status: number) {
    const redirect = status >= 300 && status < 400;
    super('unreachable', `${name} ${redirect ? 'redirects' : 'answers'} with status ${status}`);
    this.status = status;
  }
}

/** Worth another try: no connection, late, a fault of the provider; or a pause that is short. */
function mayPass(error: unknown): boolean {
  if (error instanceof Refused) return error.status >= 500;
  return !(error instanceof ProviderFailure) || error.kind === 'limited';
}

function urlOf(base: string, path: readonly string[], query: Record<string, string>): URL {
  const url = new URL(`${base.replace(/\/$/, '')}/${path.map(encodeURIComponent).join('/')}`);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return url;
}

/** Milliseconds of a Retry-After in seconds; our own where it is none. */
function pauseOf(header: string | null): number {
  return /^\d{1,9}$/.test(header ?? '') ? Number(header) * 1_000 : pauseMs;
}

/** Counted after decompression, part by part: a small body may hold a large one. */
async function readText(name: string, response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type)) {
    await drop(response);
    throw new ProviderFailure('unreadable', `${name} answers with no JSON`);
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > mostBytes) {
      throw new ProviderFailure('unreadable', `${name} answers with more than ${mostBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Its message would quote the answer.
    throw new ProviderFailure('unreadable', `${name} answers with no JSON`);
  }
}

/** A body that is not read must not hold its connection. */
async function drop(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

function unreachable(name: string, cause: unknown): ProviderFailure {
  const late = cause instanceof Error && /^(TimeoutError|AbortError)$/.test(cause.name);
  const sentence = late ? `${name} did not answer in time` : `${name} cannot be reached`;
  return new ProviderFailure('unreachable', sentence, { cause });
}
