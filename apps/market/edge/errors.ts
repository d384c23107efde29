// How a refusal leaves the server: its status, exactly `{ "error": sentence }`, and the code in the
// header x-<short name>-error. The only place that turns a kind of refusal into a status.

import { ParleyError, type RefusalKind } from '@parley/core/errors.ts';
import type { FastifyReply } from 'fastify';
import { causeNow } from '../ports/cause.ts';
import { notJson, tooLarge } from './body.ts';
import { baseHeaders, headersOf, jsonType, setHeaders } from './headers.ts';

/** Codes that only HTTP knows, by status, with the next step above as in packages/core/errors.ts. */
const codes = {
  400: [
    // The bytes that arrived are not HTTP/1.1; the connection is closed.
    'malformed_http',
    // Send a valid URL.
    'malformed_url',
    // Send a valid JSON body, in UTF-8 and without a byte order mark.
    'malformed_json',
    // The sentence names the field and what it must be. Unknown fields are refused. An optional
    // field may be null, which is the same as left out.
    'bad_field',
    // Correct the header that the sentence names.
    'bad_header',
  ],
  401: [
    // Send `Authorization: Bearer <key>` or `X-Api-Key: <key>`.
    'key_missing',
    // The key is wrong, revoked, replaced or expired: mint a new one.
    'key_invalid',
    // The session has ended, or there was none: sign in.
    'session_missing',
  ],
  403: [
    // Mint a key with the scope that the sentence names.
    'scope_missing',
    // The cookie counts for the market's own pages alone. The sentence says what is missing:
    // `Origin`, `Sec-Fetch-Site` or our header. Another site uses an API key
    // (docs/people.md#pages-of-other-sites). On `/v1/ws` a page of this origin may show no ticket,
    // only a key.
    'cross_site',
    // The header `Host` is not the market's own name: open the address that the sentence names.
    'wrong_site',
  ],
  404: [
    // This path does not exist. Slashes and capitals count: `/v1/rfqs/` is not `/v1/rfqs`.
    'not_found',
  ],
  405: [
    // Use a method from the `Allow` header.
    'method_not_allowed',
  ],
  408: [
    // Headers are awaited for 15 s and a whole request for 30 s: send it again.
    'request_timeout',
  ],
  409: [
    // The page shows another account (`x-<short name>-account`) than the one that is signed in by
    // now, or names none: the request had no effect. Load it again.
    'other_account',
    // The first request with this `Idempotency-Key` still runs: ask again in a second.
    'still_running',
    // The first request with this `Idempotency-Key` ran, and its reply can no longer be decrypted:
    // read what it changed, and build a claim again under a new key. The request did not run twice.
    'reply_sealed',
  ],
  413: [
    // Bodies are at most 65 536 bytes. Send a smaller one under a new `Idempotency-Key`.
    'body_too_large',
  ],
  415: [
    // Send `content-type: application/json` and no `content-encoding`: a compressed body is not
    // read. Do so under a new `Idempotency-Key`.
    'not_json',
  ],
  422: [
    // This `Idempotency-Key` was used with another body: take a new one.
    'key_reused',
    // The token can never be traded here; `status` and `reasons` beside `error` say why.
    'token_rejected',
    'asset_delisted',
  ],
  426: [
    // `/v1/ws` is a WebSocket (version 13): connect with a WebSocket client.
    'upgrade_required',
  ],
  429: [
    // Wait `Retry-After` seconds. On each open swap of yours, and for broadcasts, 60 requests a
    // minute go on, 300 on all together. Instead of a relay, send the claim yourself.
    'rate_limited',
    'account_rate_limited',
    'key_rate_limited',
    'mint_rate_limited',
    'listing_rate_limited',
    'schedule_rate_limited',
    'relay_rate_limited',
    'ping_rate_limited',
    'processor_time_limited',
    // Wait `Retry-After` seconds: too many steps of sign-ins came from your network.
    'sign_in_rate_limited',
    // Wait `Retry-After` seconds: the account added too many passkeys and payout wallets. Was it
    // you? End all sessions otherwise.
    'change_rate_limited',
    // The account sent more quotes many at once than it may in a minute: after `Retry-After`, or
    // fewer.
    'quote_rate_limited',
    // The account published levels 120 times within a minute: after `Retry-After`. Withdrawing is
    // never refused for it.
    'level_rate_limited',
    // The replies kept under `Idempotency-Key`s of this account are full for the day (UTC). This
    // request did nothing. Ask without the header, or after `Retry-After`. Fundings, claims,
    // refunds and broadcasts are never refused for it.
    'kept_replies_full',
  ],
  431: [
    // All headers together are at most 16 384 bytes; the connection is closed.
    'headers_too_large',
  ],
  500: [
    // A fault of ours, logged under the request that its sentence names (`X-Request-Id`). The
    // request had no effect; its `Idempotency-Key` gets this answer again, a new one runs.
    'internal',
  ],
  503: [
    // The operator has not said where the market's pages are (`PARLEY_PUBLIC_URL`). API keys work.
    'accounts_off',
    // Try again after `Retry-After` seconds; the market did nothing.
    'shutting_down',
    // The database does not answer, or could not do it now. Repeat the request after `Retry-After`
    // seconds, with the same `Idempotency-Key`: it may have been stored.
    'unavailable',
  ],
} as const;

export type HttpCode = (typeof codes)[keyof typeof codes][number];

export const httpCodes = Object.fromEntries(
  Object.entries(codes).flatMap(([status, own]) => own.map((code) => [code, Number(status)])),
) as Readonly<Record<HttpCode, number>>;

export const statusOfKind: Record<RefusalKind, number> = {
  invalid: 400,
  forbidden: 403,
  absent: 404,
  conflict: 409,
  timeout: 504,
  unavailable: 503,
};

/** A refusal that HTTP itself makes. */
export class HttpError extends Error {
  readonly code: HttpCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpCode, sentence: string, headers: Readonly<Record<string, string>> = {}) {
    super(sentence);
    this.name = 'HttpError';
    this.code = code;
    this.headers = headers;
  }
}

/** A refusal ready to leave. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly sentence: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** The answer to the caller for anything thrown. `null` = not a refusal: a fault of ours. */
export function refusalOf(error: unknown, shortName: string): Refusal | null {
  if (error instanceof ParleyError) {
    const headers: Record<string, string> = {};
    // On a broadcast that timed out: the transaction to look up before it is sent again.
    const { txid } = error.facts;
    if (error.kind === 'timeout' && typeof txid === 'string') {
      headers[`x-${shortName}-txid`] = txid;
    }
    if (error.kind === 'unavailable') headers['retry-after'] = '5';
    return { status: statusOfKind[error.kind], code: error.code, sentence: error.message, headers };
  }
  if (error instanceof HttpError) {
    const { code, message, headers } = error;
    return { status: httpCodes[code], code, sentence: message, headers };
  }
  return refusalOfFastify(error);
}

function refusalOfFastify(error: unknown): Refusal | null {
  type Fault = { code?: string; statusCode?: number; syscall?: string };
  const { code = '', statusCode = 0, syscall = '' } = error as Fault;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return httpRefusal('body_too_large', tooLarge().sentence);
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return httpRefusal('not_json', notJson('').sentence);
  }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return httpRefusal('bad_header', 'the body is not as long as content-length says');
  }
  const again = (what: string) => ({
    ...httpRefusal('unavailable', `the database ${what}; try again in 5 seconds`),
    headers: { 'retry-after': '5' },
  });
  if (databaseDown.test(code) || connecting.has(syscall))
    return again('does not answer, and may have stored it');
  if (databaseBusy.test(code)) return again('could not do it now; the market did nothing');
  if (statusCode >= 400 && statusCode < 500) {
    return { ...httpRefusal('bad_header', 'the request is malformed'), status: statusCode };
  }
  return null;
}

// Connection lost (class 08), shutdown and start-up of the server (57P0x), no connection to be had.
const databaseDown = /^(08...|57P0\d|ECONNREFUSED|ECONNRESET|EPIPE)$/;
// The system's calls that make a connection, whatever they end with: a name is not known while a
// database moves (ENOTFOUND, EAI_AGAIN), a host is gone (EHOSTUNREACH), a stopped server took its
// socket away (ENOENT).
const connecting: ReadonlySet<string> = new Set(['getaddrinfo', 'connect']);

// Failures that another try may well pass: conflicts (40001, 40P01), resources that are out (class
// 53), what was waited for too long (57014, 55P03, 25P03), a primary that is one no more (25006).
const databaseBusy = /^(40001|40P01|53...|57014|55P03|25P03|25006)$/;

/** The answer to a fault of ours: which lines of the log tell the rest, and no more. */
export function fault(requestId = causeNow()?.requestId): Refusal {
  const where = requestId === undefined ? '' : ` as request ${requestId}`;
  return httpRefusal('internal', `something failed on our side; it has been logged${where}`);
}

export function httpRefusal(code: HttpCode, sentence: string): Refusal {
  return { status: httpCodes[code], code, sentence, headers: {} };
}

export function sendRefusal(reply: FastifyReply, refusal: Refusal, shortName: string): void {
  const { request } = reply;
  // A URL that is malformed has no route, and no config, whatever the type says.
  const { config } = request.routeOptions as {
    readonly config?: { readonly headersWait?: boolean };
  };
  if (config?.headersWait) setHeaders(reply, [...baseHeaders, ...headersOf(request)]);
  reply
    .code(refusal.status)
    .headers(refusal.headers)
    .header(`x-${shortName}-error`, refusal.code)
    .type(jsonType)
    .send(JSON.stringify({ error: refusal.sentence }));
}
