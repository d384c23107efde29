// The name of a request: in its answer (`X-Request-Id`), in the lines of the log that it causes,
// and in the sentence of a fault. Made at the edge, or by a proxy that is trusted.

import type { IncomingMessage } from 'node:http';
import type { Deps } from '../ports/deps.ts';
import { listOf } from '../settings/networks.ts';

export const requestIdHeader = 'x-request-id';

/** The form of a request id from a proxy: a log, header or shell reads it as it is. */
const wellFormed = /^[\w.:=+/@-]{8,64}$/;
/** The prefix of a process: two of them meet once in 2^48. */
const prefixBytes = 6;

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
  const next = idsOf(randomBytes);
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

/**
 * 20 hex digits: a part of the process, and one of the request. A counter costs a request no
 * randomness. It is mixed by a permutation that is this process's own, so that a client does not
 * read from two ids how many requests came in between.
 */
function idsOf(randomBytes: Deps['randomBytes']): () => string {
  let prefix = '';
  let count = 0;
  let key = 0;
  let a = 1;
  let b = 1;
  const begin = () => {
    prefix = Buffer.from(randomBytes(prefixBytes)).toString('hex');
    const drawn = Buffer.from(randomBytes(12));
    key = drawn.readUInt32LE(0);
    // Odd, and so invertible.
    a = drawn.readUInt32LE(4) | 1;
    b = drawn.readUInt32LE(8) | 1;
  };
  begin();
  return () => {
    let mixed = count ^ key;
    mixed = Math.imul(mixed ^ (mixed >>> 16), a);
    mixed = Math.imul(mixed ^ (mixed >>> 15), b);
    mixed = (mixed ^ (mixed >>> 16)) >>> 0;
    count = (count + 1) >>> 0;
    const id = prefix + mixed.toString(16).padStart(8, '0');
    // After 2^32 of them they would come again.
    if (count === 0) begin();
    return id;
  };
}

/** W3C Trace Context, 2.2: version, trace id, parent id, flags. Later versions may have more. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;
/** The length of version 00, and not a byte more. */
const lengthOfFirst = 55;

/**
 * The trace that the caller says it is part of; undefined: there is none, or none that is well
 * formed.
 */
export function traceIdOf(headers: IncomingMessage['headers']): string | undefined {
  const given = headers.traceparent;
  if (typeof given !== 'string') return undefined;
  const [whole, traceId] = traceparent.exec(given) ?? [];
  if (whole === undefined) return undefined;
  const isFirst = given.startsWith('00');
  const ends = given.length === lengthOfFirst || (!isFirst && given[lengthOfFirst] === '-');
  return ends ? traceId : undefined;
}
