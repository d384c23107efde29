// The headers that every answer carries: lists of names and values in turn. Those of an answer to a
// key, the most of what is asked, are one list that is written with it: setting each by itself, and
// reading all of them back, took a tenth of its processor time.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { isKnown } from './etags.ts';
import { requestIdHeader } from './request-ids.ts';

/** The rest of a budget, in requests. */
export type Left = {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until a budget was spent. */
    spent: Left | null;
  }
  interface FastifyContextConfig {
    /** Its headers wait for its answer, and are set with it. */
    headersWait?: boolean;
  }
}

const safety = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
  // The header for browsers that know no frame-ancestors.
  'x-frame-options',
  'DENY',
] as const;
const uncached = ['cache-control', 'no-store'] as const;
export const baseHeaders = [...safety, ...uncached] as const;
/** A browser may keep it for its person, and asks before each use whether it has changed. */
const kept = ['cache-control', 'private, no-cache'] as const;
export const jsonType = 'application/json; charset=utf-8';

export function budgetHeaders(spent: Left): string[] {
  const limit = String(spent.limit);
  const remaining = String(spent.remaining);
  return [
    'ratelimit-limit',
    limit,
    'ratelimit-remaining',
    remaining,
    'ratelimit-reset',
    String(spent.resetSeconds),
    'x-ratelimit-limit',
    limit,
    'x-ratelimit-remaining',
    remaining,
  ];
}

export function setHeaders(reply: FastifyReply, list: readonly string[]): void {
  for (let at = 0; at < list.length; at += 2) reply.header(list[at]!, list[at + 1]);
}

/** The headers of one request's answer, those of its budget once that is spent. */
export function headersOf(request: FastifyRequest): string[] {
  const { spent, headers, server } = request;
  const list = [requestIdHeader, request.id];
  if (spent !== null) list.push(...budgetHeaders(spent));
  const { cors } = server.edge;
  if (cors !== null) list.push(...Object.entries(cors.headers(request)).flat());
  // After an upgrade in vain Node tells no error of the connection's next head, until its limit.
  if (headers.upgrade !== undefined) list.push('connection', 'close');
  return list;
}

/** JSON that is the same until its tag changes: a client that has it is not sent it again. */
export class Tagged {
  readonly json: Buffer;
  readonly etag: string;

  constructor(json: Buffer, etag: string) {
    this.json = json;
    this.etag = etag;
  }
}

/** `body`: text or bytes are JSON that was made before. `more`: further headers. */
export function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  body: unknown,
  { status = 200, more = [] }: { readonly status?: number; readonly more?: readonly string[] } = {},
): void {
  const { raw } = reply;
  const list = headersOf(request);
  list.push(...more);
  if (body instanceof Tagged) {
    list.push(...safety, ...kept, 'etag', body.etag);
    if (isKnown(request.headers['if-none-match'], body.etag)) {
      raw.writeHead(304, list);
      raw.end();
      return;
    }
  } else list.push(...baseHeaders);
  const json = jsonOf(body);
  list.push('content-type', jsonType, 'content-length', String(Buffer.byteLength(json)));
  raw.writeHead(status, list);
  raw.end(json);
}

export function jsonOf(body: unknown): string | Buffer {
  if (body instanceof Tagged) return body.json;
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}
