// Where Prometheus and the operator's browser read: a server of its own, on loopback unless
// PARLEY_METRICS_HOST names another address, and behind a token where there is one. Without one it
// answers to names of this machine alone: a page in a browser here can lead a name of its own to
// loopback.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { collectDefaultMetrics } from 'prom-client';
import type { Settings } from '../settings/config.ts';
import type { Metrics } from './metrics.ts';

/** A scraper has few. */
const mostConnections = 32;
/** A scraper takes no longer: to say what it asks, and to have asked. */
const headersTimeoutMs = 2_000;
const requestTimeoutMs = 10_000;
const slowClientCheckMs = 1_000;

type Place = Pick<Settings, 'metricsHost' | 'metricsToken'> & { readonly metricsPort: number };

type MetricsServer = { readonly url: string; stop(): Promise<void> };

export type PageAnswer = {
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
};

/** Pages beside the metrics; null: the path has no page. */
export type Pages = { answer(path: string): Promise<PageAnswer | null> };

const noPages: Pages = { answer: async () => null };

/** `refresh`: reads what is read at a scrape; it has a time limit of its own and never throws. */
export async function serveMetrics(
  { registry }: Metrics,
  { metricsHost, metricsPort, metricsToken }: Place,
  refresh: () => Promise<void> = async () => {},
  pages: Pages = noPages,
): Promise<MetricsServer> {
  // The figures of the process: memory, processor time, open files, the lag of the event loop.
  collectDefaultMetrics({ register: registry });
  const mayRead = readersOf(metricsToken);
  const isMeant = metricsToken === null ? hostsOf(metricsHost) : () => true;
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: slowClientCheckMs,
  };
  const scrape = async (): Promise<PageAnswer> => {
    await refresh();
    return { type: registry.contentType, body: await registry.metrics(), headers: {} };
  };
  const answerTo = async ({ method, url = '' }: IncomingMessage) => {
    if (method !== 'GET') return null;
    return url === '/metrics' ? scrape() : pages.answer(url);
  };
  const server = createServer(limits, (request, response) => {
    if (!mayRead(request)) {
      response.writeHead(401, { 'www-authenticate': ['Bearer', 'Basic realm="operator"'] }).end();
      return;
    }
    if (!isMeant(request.headers.host)) {
      response.writeHead(421).end();
      return;
    }
    answerTo(request).then(
      (found) => {
        if (found === null) response.writeHead(404).end();
        else
          response.writeHead(200, { 'content-type': found.type, ...found.headers }).end(found.body);
      },
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(metricsPort, metricsHost, resolve);
  });
  const { port, address, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** By which Host header it is meant: an address, the machine's own name, or the one that is set. */
function hostsOf(own: string): (host: string | undefined) => boolean {
  return (host) => {
    // No browser leaves it out.
    if (host === undefined) return true;
    const name = host
      .toLowerCase()
      .replace(/:\d*$/, '')
      .replace(/^\[(.*)\]$/, '$1');
    return isIP(name) !== 0 || name === 'localhost' || name === own.toLowerCase();
  };
}

/**
 * Digests are compared: they have one length, and in constant time. A browser sends the token as
 * the password of any user.
 */
function readersOf(token: string | null): (request: IncomingMessage) => boolean {
  if (token === null) return () => true;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digest(token);
  return ({ headers: { authorization = '' } }) => {
    const [, way = '', shown = ''] = /^(Bearer|Basic) +(\S+)$/i.exec(authorization) ?? [];
    const given = way.toLowerCase() === 'basic' ? passwordOf(shown) : shown;
    return timingSafeEqual(digest(given), wanted);
  };
}

/** The user's name has no colon (RFC 7617). */
function passwordOf(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon < 0 ? '' : pair.slice(colon + 1);
}
