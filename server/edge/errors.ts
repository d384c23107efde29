// How a refusal leaves the server: its status, exactly `{ "error": sentence }`, and the code in the
// header x-<short name>-error. The only place that turns a kind of refusal into a status.

import type { FastifyReply } from 'fastify';
import { ParleyError, type RefusalKind } from '../../core/errors.ts';
import { causeNow } from '../ports/cause.ts';
import { notJson, tooLarge } from './body.ts';

/** Codes that only HTTP knows, by status. docs/errors.md lists what to do next. */
const codes = {
  400: ['malformed_http', 'malformed_url', 'malformed_json', 'bad_field', 'bad_header'],
  401: ['key_missing', 'key_invalid', 'session_missing'],
  403: ['scope_missing', 'cross_site', 'wrong_site'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: ['other_account', 'still_running', 'reply_sealed'],
  413: ['body_too_large'],
  415: ['not_json'],
  417: ['expectation_failed'],
  422: ['key_reused', 'token_rejected', 'asset_delisted'],
  426: ['upgrade_required'],
  429: [
    'rate_limited',
    'account_rate_limited',
    'key_rate_limited',
    'mint_rate_limited',
    'sign_in_rate_limited',
    'change_rate_limited',
    'listing_rate_limited',
    'schedule_rate_limited',
    'relay_rate_limited',
    'ping_rate_limited',
    'quote_rate_limited',
    'level_rate_limited',
    'processor_time_limited',
    'kept_replies_full',
  ],
  431: ['headers_too_large'],
  500: ['internal'],
  503: ['accounts_off', 'shutting_down', 'unavailable'],
} as const;

export type HttpCode = (typeof codes)[keyof typeof codes][number];

export const httpCodes = Object.fromEntries(
  Object.entries(codes).flatMap(([status, own]) => own.map((code) => [code, Number(status)])),
) as Readonly<Record<HttpCode, number>>;

const statuses: Record<RefusalKind, number> = {
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
    return { status: statuses[error.kind], code: error.code, sentence: error.message, headers };
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
  if (databaseDown.test(code) || connecting.has(syscall)) return again('does not answer');
  if (databaseBusy.test(code)) return again('could not do it now; nothing happened');
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
  reply
    .code(refusal.status)
    .headers(refusal.headers)
    .header(`x-${shortName}-error`, refusal.code)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: refusal.sentence }));
}
