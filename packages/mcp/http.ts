// Streamable HTTP, for this machine: a token for every request, names that may be asked for, and a
// bound on everything.

import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  type McpServer,
  type ServerEventBus,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { messageOf } from '@parley/sdk/errors.ts';
import { createSessions, mostSessions } from './sessions.ts';
import { mostWaitSeconds } from './waiting.ts';

export type HttpOptions = {
  readonly port: number;
  readonly token: string;
  /** Beside the names of this machine: the names of a proxy before it. */
  readonly hosts: readonly string[];
  /** The origins of pages that may ask; default none but this machine's. */
  readonly origins: readonly string[];
  readonly serve: () => McpServer;
  /** Subscriptions of protocol 2026-07-28 hear of its events. */
  readonly bus?: ServerEventBus;
  readonly note: (text: string) => void;
};

export type HttpServer = { readonly url: string; close(): Promise<void> };

const loopback = '127.0.0.1';
export const path = '/mcp';
/** The longest arguments of a tool have some 2 kB; protocol and client put theirs around it. */
const mostBodyBytes = 262_144;
/** Twice the calls that run at once, for what lists tools and pings meanwhile. */
const mostRequests = 32;
/** One a client, which may listen all day: they take no place of a request. */
const mostStreams = mostSessions;
/** Twice the requests, as a client keeps one open that it does not use, and all streams. */
const mostConnections = 2 * mostRequests + mostStreams;
/** On one machine both take milliseconds: a slower client holds a place and sends nothing. */
const headersMs = 10_000;
const requestMs = 30_000;
/** How late past these limits it is seen. */
const checkMs = 1_000;
/** Longer than the longest wait of a tool. */
const answerMs = (mostWaitSeconds + 60) * 1_000;

export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { note, serve, bus } = options;
  const handler = createMcpHandler(serve, {
    ...(bus === undefined ? {} : { bus }),
    maxRequestBodySize: mostBodyBytes,
    maxSubscriptions: mostStreams,
    onerror: (error) => note(`http: ${error.message}`),
  });
  const sessions = createSessions({
    serve,
    maxRequestBodySize: mostBodyBytes,
    now: () => performance.now(),
  });
  const answered = async (asked: Request) =>
    (await sessions.answer(asked)) ?? (await handler.fetch(asked));
  const places = { requests: mostRequests, streams: mostStreams };
  const server = createServer(
    { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs },
    (request, response) => {
      const form = formOf(request.headers.accept);
      const kind = listens(request) ? 'streams' : 'requests';
      const limit = places[kind] === 0 ? busyBy(kind) : null;
      const why = refusalOf(request, options) ?? limit;
      if (why !== null) return refuse(request, response, why);
      if (form === null || (kind === 'streams' && form === 'json')) {
        return refuse(request, response, noForm);
      }
      places[kind] -= 1;
      const mostMs = kind === 'streams' ? null : answerMs;
      answer(request, response, mostMs, async (asked) => inForm(await answered(asked), form))
        .catch((error: unknown) => note(`http: ${messageOf(error)}`))
        .finally(() => {
          places[kind] += 1;
          if (!response.writableEnded) response.destroy();
        });
    },
  );
  server.maxConnections = mostConnections;
  await listening(server, options.port);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${loopback}:${port}${path}`,
    close: async () => {
      await handler.close();
      await sessions.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A stream has no end of its own: that of a session, or a subscription of newer clients. */
const listens = ({ method, headers }: IncomingMessage) =>
  method === 'GET' || headers['mcp-method'] === 'subscriptions/listen';

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, loopback, () => resolve());
  });
}

type Why = {
  readonly status: number;
  readonly sentence: string;
  readonly head?: Record<string, string>;
};

const busyBy = (kind: 'requests' | 'streams'): Why => ({
  status: 503,
  head: { 'retry-after': '1' },
  sentence: `${kind === 'streams' ? mostStreams : mostRequests} ${kind} run, as many as may`,
});

const noForm: Why = {
  status: 406,
  sentence:
    'Accept must take application/json or text/event-stream, and for a subscription name the latter',
};

type Form = 'json' | 'stream' | 'either';

/** A client's form by its Accept; null: neither. Only one that names streams wants any. */
function formOf(accept: string | undefined): Form | null {
  const ranges = (accept || '*/*').toLowerCase().split(',').map(rangeOf);
  // The closest range counts (RFC 9110, 12.5.1).
  const takes = (...names: readonly string[]) =>
    names
      .map((name) => ranges.find(([range]) => range === name)?.[1])
      .find((is) => is !== undefined);
  const json = takes('application/json', 'application/*', '*/*') === true;
  if (takes('text/event-stream')) return json ? 'either' : 'stream';
  if (json) return 'json';
  return takes('text/*', '*/*') ? 'stream' : null;
}

/** A range, and whether it is wanted at all. */
function rangeOf(text: string): readonly [string, boolean] {
  const [range = '', ...parameters] = text.split(';').map((each) => each.trim());
  return [range, !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each))];
}

const isStream = ({ headers }: Response) => headers.get('content-type') === 'text/event-stream';

const dataField = 'data: ';

/** Answers in the other form where the library's own is not taken, without progress. */
async function inForm(made: Response, form: Form): Promise<Response> {
  const { ok, status } = made;
  if (!ok || made.body === null || isStream(made) === (form === 'stream')) return made;
  if (form === 'either') return made;
  const text = await made.text();
  if (form === 'stream') {
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
    return new Response(`event: message\n${dataField}${text}\n\n`, { status, headers });
  }
  // A line feed alone ends a line: U+2028 may stand in JSON, where a regular expression ends one.
  const lines = text.split('\n').filter((line) => line.startsWith(dataField));
  const said = lines.map((line) => line.slice(dataField.length)).filter(Boolean);
  // A client that takes no stream waits for answers alone.
  const messages = said.filter((each) => 'id' in (JSON.parse(each) as object));
  const whole = messages.length === 1 ? messages.join() : `[${messages.join()}]`;
  return new Response(whole, { status, headers: { 'content-type': 'application/json' } });
}

/** null: it may be answered. A page of another name must not reach this machine (DNS rebinding). */
function refusalOf({ headers, url = '' }: IncomingMessage, options: HttpOptions): Why | null {
  const names = [...localhostAllowedHostnames(), ...options.hosts];
  const host = validateHostHeader(headers.host, names);
  if (!host.ok) return { status: 403, sentence: 'this server is not known by that name' };
  const origin = validateOriginHeader(headers.origin, [...names, ...options.origins]);
  if (!origin.ok) return { status: 403, sentence: 'pages of that origin may not ask' };
  // Not as a URL: `//` is none, and any page may ask for it.
  if (url.split('?', 1)[0] !== path) return { status: 404, sentence: `it is at ${path}` };
  if (isToken(headers.authorization, options.token)) return null;
  const head = { 'www-authenticate': 'Bearer' };
  return {
    status: 401,
    head,
    sentence: 'the token of this server is wanted: Authorization: Bearer TOKEN',
  };
}

/** The compared values have one length whatever was given, so that the time reveals nothing. */
function isToken(given: string | undefined, token: string): boolean {
  const [, said = ''] = /^Bearer +(\S+) *$/i.exec(given ?? '') ?? [];
  const [one, other] = [said, token].map((text) => sha256(utf8ToBytes(text)));
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, sentence, head = {} }: Why,
) {
  request.resume();
  const error = { code: -32_000, message: sentence };
  const body = JSON.stringify({ jsonrpc: '2.0', error, id: null });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...head });
  response.end(body);
}

type Handle = (request: Request) => Promise<Response>;

/** `mostMs`: null for a stream. */
async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  mostMs: number | null,
  handle: Handle,
) {
  const stop = new AbortController();
  response.once('close', () => stop.abort(new Error('the client left')));
  const slow = () => stop.abort(new Error('too slow'));
  const timer = mostMs === null ? undefined : setTimeout(slow, mostMs);
  try {
    const made = await handle(requestOf(incoming, stop.signal));
    response.writeHead(made.status, Object.fromEntries(made.headers));
    if (made.body === null) return void response.end();
    await pipeline(Readable.fromWeb(made.body as ReadableStream), response, {
      signal: stop.signal,
    });
  } finally {
    clearTimeout(timer);
  }
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '', headers } = incoming;
  const head = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) head.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // The library answers nobody who does not name both.
  head.set('accept', 'application/json, text/event-stream');
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Readable.toWeb(incoming) as BodyInit, duplex: 'half' } : {};
  return new Request(new URL(url, `http://${loopback}`), {
    method,
    headers: head,
    signal,
    ...body,
  } as RequestInit);
}
