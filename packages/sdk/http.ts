// One request to the market: limits, idempotency, and retries where a second try does nothing
// twice.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { ParleyApiError } from './errors.ts';
import { askedAt, isItThere, leadsElsewhere, whatCame, whyUnreached } from './wrong-address.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type HttpOptions = {
  /** Such as `https://market.example`: without a path, unless a proxy has put the market behind one. */
  readonly baseUrl: string;
  /** An API key; white space around it is left out. Without one only public calls can be made. */
  readonly key?: string;
  /**
   * Whether plain http may leave this machine, where others can read the key; default false. A
   * `fetch` of one's own is free to.
   */
  readonly allowHttp?: boolean;
  readonly timeoutMs?: number;
  /** Tries of a request that is safe to repeat; default 3. */
  readonly tries?: number;
  /** Instead of the runtime's. It may sign requests in its own way, so no call is refused here. */
  readonly fetch?: Fetch;
  /** Names the machine code's header: `x-<shortName>-error`; default `parley`. */
  readonly shortName?: string;
  /** Hears by how many seconds this machine's clock is ahead of the date of each answer. */
  readonly heardClock?: (aheadSeconds: number) => void;
  /** The market's name in the texts that wallets sign; default `Parley`. */
  readonly productName?: string;
};

export const defaultProductName = 'Parley';

export type Request = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: unknown;
  /** An effect's own; made up when absent, so that a retry is the same request. */
  readonly idempotencyKey?: string | undefined;
  /** A mint: its nonce is single-use, so a retry could not succeed. */
  readonly once?: boolean;
  readonly signal?: AbortSignal | undefined;
};

const maxAnswerBytes = 8 * 1024 * 1024;
const maxWaitSeconds = 30;

export async function call<T>(options: HttpOptions, request: Request): Promise<T> {
  const init = toInit(options, request);
  const url = address(options, request);
  const tries = request.once === true ? 1 : (options.tries ?? 3);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once<T>(options, url, init, request.signal);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!(error instanceof ParleyApiError) || attempt >= tries || !repeatable(error)) throw error;
      const seconds = error.retryAfterSeconds ?? 0.2 * 2 ** (attempt - 1);
      if (seconds > maxWaitSeconds) throw error;
      await sleep(seconds * 1000, request.signal);
    }
  }
}

/**
 * An idempotency key makes a repeat the same effect; 409 `still_running` is a twin not yet done.
 */
function repeatable(error: ParleyApiError): boolean {
  const { status, code } = error;
  return [0, 429, 502, 503, 504].includes(status) || (status === 409 && code === 'still_running');
}

function address(options: HttpOptions, request: Request): string {
  const url = new URL(`${options.baseUrl.replace(/\/+$/, '')}${request.path}`);
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

function toInit(options: HttpOptions, request: Request): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (options.key !== undefined) headers.authorization = `Bearer ${options.key}`;
  if (request.method !== 'GET') {
    const named = request.idempotencyKey ?? crypto.randomUUID();
    headers['idempotency-key'] = headerText(named, 'the idempotency key');
  }
  const init: RequestInit = { method: request.method, headers, redirect: 'manual' };
  if (request.body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(request.body);
  }
  return init;
}

export const keyText = (key: string): string => headerText(key, 'the API key');

const faultNames: Readonly<Record<string, string>> = {
  '\r': 'a line break',
  '\n': 'a line break',
  '\t': 'a tab',
  '\0': 'a NUL',
};

/**
 * Without white space around it, such as a file leaves. Throws TypeError for what no header
 * carries, and never shows the text: it may be a key, which `fetch` would print whole.
 */
function headerText(text: string, what: string): string {
  if (typeof text !== 'string') throw new TypeError(`${what} must be a text, not ${typeof text}`);
  const kept = text.trim();
  const at = kept.search(/[^ -~]/);
  if (at < 0) return kept;
  const fault = kept.charAt(at);
  const kind = fault < '\x80' ? 'a control character' : 'a character beyond ASCII';
  const named = faultNames[fault] ?? kind;
  const where = `after ${at} of its ${kept.length} characters`;
  throw new TypeError(`${what} holds ${named} ${where}: no header carries that`);
}

async function once<T>(
  options: HttpOptions,
  url: string,
  init: RequestInit,
  signal?: AbortSignal,
): Promise<T> {
  const limit = AbortSignal.timeout(options.timeoutMs ?? 15_000);
  const both = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  const asked = askedAt(init.method, url);
  let response: Response;
  let text: string;
  const askedAtMs = Date.now();
  try {
    response = await (options.fetch ?? fetch)(url, { ...init, signal: both });
    const ahead = aheadOf(response, askedAtMs, Date.now());
    if (ahead !== null) options.heardClock?.(ahead);
    text = await bounded(response);
  } catch (cause) {
    signal?.throwIfAborted();
    throw unanswered(`no answer to ${asked}: ${whyUnreached(url, cause)}`, cause);
  }
  // A page hears of no more than that there was a redirection.
  if (response.type === 'opaqueredirect') throw unanswered(leadsElsewhere(asked, url, null));
  if (response.status >= 300 && response.status < 400) {
    throw unanswered(leadsElsewhere(asked, url, response.headers.get('location')));
  }
  if (!response.ok) throw refusal(options, asked, response, text);
  const came = whatCame(text);
  if ('value' in came) return came.value as T;
  const { status } = response;
  const message = `${asked} answered ${status} with ${came.else}. ${isItThere(options.baseUrl)}`;
  throw new ParleyApiError({ status, code: 'bad_answer', message });
}

/** No market has answered: one may be there all the same. */
function unanswered(message: string, cause?: unknown): ParleyApiError {
  return new ParleyApiError({ status: 0, code: 'no_answer', message }, { cause });
}

/** A date has whole seconds, and is of some moment between question and answer. */
function aheadOf({ headers }: Response, askedAtMs: number, heardAtMs: number): number | null {
  const dateMs = Date.parse(headers.get('date') ?? '');
  if (!Number.isFinite(dateMs)) return null;
  if (dateMs + 1_000 < askedAtMs) return Math.round((askedAtMs - dateMs) / 1_000);
  return dateMs > heardAtMs ? Math.round((heardAtMs - dateMs) / 1_000) : 0;
}

async function bounded(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return text + decoder.decode();
    size += part.value.length;
    if (size > maxAnswerBytes) {
      await reader?.cancel();
      throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
}

function refusal(
  { shortName = 'parley', baseUrl }: HttpOptions,
  asked: string,
  response: Response,
  text: string,
): ParleyApiError {
  const { status, headers } = response;
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  const code = headers.get(`x-${shortName}-error`);
  const came = whatCame(text);
  const { sentence, reasons } = fieldsOf('value' in came ? came.value : {});
  // A market that has no such path says so with a code of its own.
  const isOwn = sentence !== null && code !== 'not_found';
  const other = 'else' in came ? came.else : 'other JSON';
  const what =
    sentence === null ? `${asked} answered ${status} with ${other}` : `${sentence} (${asked})`;
  return new ParleyApiError({
    status,
    code: code ?? `http_${status}`,
    message: isOwn ? sentence : `${what}. ${isItThere(baseUrl)}`,
    retryAfterSeconds: Number.isFinite(after) ? after : null,
    txid: headers.get(`x-${shortName}-txid`),
    reasons,
    requestId: nameOf(headers.get('x-request-id')),
  });
}

/** It is shown to people and agents: a text that reads like a sentence is no name. */
function nameOf(given: string | null): string | null {
  return given !== null && /^[\w.:=+/@-]{1,64}$/.test(given) ? given : null;
}

function fieldsOf(answer: { error?: unknown; reasons?: unknown }) {
  const { error, reasons } = answer;
  return {
    sentence: typeof error === 'string' ? error : null,
    reasons: Array.isArray(reasons) ? reasons.filter((each) => typeof each === 'string') : [],
  };
}
