// The name of a request: in its answer (`X-Request-Id`), in the lines of the log that it causes,
// and in the sentence of a fault. Made at the edge, or by a proxy that is trusted.

import type { IncomingMessage } from 'node:http';
import type { Deps } from '../ports/deps.ts';
import { listOf } from '../settings/networks.ts';

export const requestIdHeader = 'x-request-id';

/** The form of a request id from a proxy: a log, header or shell reads it as it is. */
const wellFormed = /^[\w.:=+/@-]{8,64}$/;
const idDigits = 20;
/** Asked for at once: 10 bytes alone took a tenth of a read. Each is used in one name. */
const pooledBytes = 5_000;

type Made = Pick<IncomingMessage, 'headers' | 'socket'>;
type Needs = Pick<Deps, 'randomBytes'> & {
  readonly settings: Pick<Deps['settings'], 'trustedProxies'>;
};

export type RequestIds = {
  /** Another one. */
  next(): string;
  /** The one that a trusted proxy gave it, else another one. */
  of(request: Made): string;
};

export function createRequestIds({ settings, randomBytes }: Needs): RequestIds {
  let pool = '';
  let at = 0;
  const next = () => {
    if (at === pool.length) {
      pool = Buffer.from(randomBytes(pooledBytes)).toString('hex');
      at = 0;
    }
    at += idDigits;
    return pool.slice(at - idDigits, at);
  };
  const { trustedProxies } = settings;
  if (trustedProxies.length === 0) return { next, of: next };
  const proxies = listOf(trustedProxies);
  return {
    next,
    of: ({ headers, socket }) => {
      const given = headers[requestIdHeader];
      if (typeof given !== 'string' || !wellFormed.test(given)) return next();
      const { remoteAddress: peer } = socket;
      // A client could give many requests one name, or that of another's.
      if (peer === undefined || !proxies(peer)) return next();
      return given;
    },
  };
}

/** W3C Trace Context, 2.2: version, trace id, parent id, flags. A later version may have more. */
const traceparent =
  /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2}(?=.{53}(?:-|$)))-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;

/** The trace that the caller names in a well-formed header, else undefined. */
export function traceIdOf(headers: IncomingMessage['headers']): string | undefined {
  return traceparent.exec(String(headers.traceparent))?.[1];
}
