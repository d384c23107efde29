// One delivery over HTTPS, to addresses that may be reached and to no other: a name is looked up
// here, every address it has is checked, and the connection goes to the one that was checked, so
// that a name server cannot answer differently in between. Redirects are not followed.

import { lookup, Resolver } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import { HostBusy } from './hosts.ts';
import type { MayReach } from './public-address.ts';

/** All of it: looking up, connecting, sending, and the head of the answer. */
export const deliveryMs = 10_000;
/** The body of an answer is read for a moment, so that the receiver may end well. */
const mostAnswerBytes = 16_384;
/** The part of it that is kept, for the log. */
const mostAnswerKept = 500;
const answerMs = 1_000;
/** Each holds one of the few threads that files need too. */
const mostLookups = 2;

export type Sending = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Gets the address before any bytes go to it; an exception ends the delivery. */
  readonly admit?: (address: string) => Promise<void>;
};

export type Sent = {
  readonly status: number;
  readonly error: string | null;
  /** How the body of the answer begins: one line of plain text; left out where it has none. */
  readonly answer?: string;
};

type Resolve = (host: string, limit: AbortSignal) => Promise<readonly string[]>;

const resolver = new Resolver({ timeout: 4_000, tries: 2 });
/** There is no such name, or none with such an address. */
const noneCodes = new Set(['ENOTFOUND', 'ENODATA']);
let lookups = 0;
const lookupsWaiting: (() => void)[] = [];

/** Without a thread: one that hangs holds up nobody. The system is asked for what is left. */
const resolveName: Resolve = async (host, limit) => {
  if (!/(^|\.)localhost\.?$/i.test(host)) {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length > 0) return found;
    const [failed] = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (!noneCodes.has(String((failed as { code?: string } | undefined)?.code))) throw failed;
  }
  return askSystem(host, limit);
};

async function askSystem(host: string, limit: AbortSignal): Promise<string[]> {
  if (lookups < mostLookups) lookups += 1;
  else await new Promise<void>((resolve) => lookupsWaiting.push(resolve));
  try {
    limit.throwIfAborted();
    const found = await lookup(host, { all: true, verbatim: true });
    return found.map(({ address }) => address);
  } finally {
    const next = lookupsWaiting.shift();
    if (next === undefined) lookups -= 1;
    else next();
  }
}

export async function sendDelivery(
  sending: Sending,
  mayReach: MayReach,
  options: { readonly resolve?: Resolve; readonly timeMs?: number } = {},
): Promise<Sent> {
  const { resolve = resolveName, timeMs = deliveryMs } = options;
  // Unlike AbortSignal.timeout nothing of it outlives the delivery.
  const limit = new AbortController();
  let late = false as boolean;
  const timer = setTimeout(() => {
    late = true;
    limit.abort();
  }, timeMs);
  try {
    const url = new URL(sending.url);
    const address = await addressOf(url, mayReach, resolve, limit.signal);
    await sending.admit?.(address);
    return { ...(await post(url, address, sending, limit.signal)), error: null };
  } catch (error) {
    if (error instanceof HostBusy) throw error;
    return { status: 0, error: late ? `no answer in ${timeMs / 1_000} s` : wordsOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

class Undeliverable extends Error {}

async function addressOf(
  { hostname }: URL,
  mayReach: MayReach,
  resolve: Resolve,
  limit: AbortSignal,
): Promise<string> {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) {
    if (!mayReach(literal)) throw new Undeliverable('the address is not a public one');
    return literal;
  }
  const found = await until(resolve(literal, limit), limit).catch((error: unknown) => {
    if (limit.aborted) throw error;
    return [];
  });
  // One inside address among public ones is as bad, and the words must not show which is inside.
  if (found.length === 0 || !found.every(mayReach)) {
    throw new Undeliverable('the name has no public address');
  }
  return found[0] as string;
}

/** A look-up cannot be stopped; the caller waits for it no longer. */
function until<T>(work: Promise<T>, limit: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(limit.reason);
    limit.addEventListener('abort', ended, { once: true });
    work.then(resolve, reject).finally(() => limit.removeEventListener('abort', ended));
  });
}

function post(
  url: URL,
  address: string,
  { headers, body }: Sending,
  signal: AbortSignal,
): Promise<Omit<Sent, 'error'>> {
  const family = isIP(address);
  const pinned: LookupFunction = (_host, { all }, done) => {
    if (all) (done as unknown as (e: null, found: object[]) => void)(null, [{ address, family }]);
    else done(null, address, family);
  };
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: pinned,
      // A connection of its own: another's would go where it went before.
      agent: false,
      ...trustedRoots(),
      rejectUnauthorized: true,
      signal,
    });
    let status: number | null = null;
    sending.on('response', (answer) => {
      status = answer.statusCode ?? 0;
      readOut(answer, (answer) => resolve({ status: status ?? 0, ...answer }));
    });
    sending.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode ?? 0 });
    });
    sending.on('error', (error) => (status === null ? reject(error) : resolve({ status })));
    sending.end(body);
  });
}

type Roots = Pick<ConnectionOptions, 'secureContext'>;
let known: { readonly of: readonly string[]; readonly roots: Roots } | null = null;

/** Made once: one for each connection is a tenth of what a delivery costs. */
function trustedRoots(): Roots {
  const of = tls.getCACertificates('default');
  if (known?.of !== of) known = { of, roots: { secureContext: tls.createSecureContext() } };
  return known.roots;
}

/** To its end, or to what is enough of it. */
function readOut(answer: IncomingMessage, done: (begins: Pick<Sent, 'answer'>) => void): void {
  let size = 0;
  const parts: Buffer[] = [];
  const end = () => {
    clearTimeout(timer);
    answer.destroy();
    done(plainLine(Buffer.concat(parts)));
  };
  const timer = setTimeout(end, answerMs);
  answer.on('data', (part: Buffer) => {
    if (size < mostAnswerKept) parts.push(part.subarray(0, mostAnswerKept - size));
    size += part.length;
    if (size > mostAnswerBytes) end();
  });
  answer.on('error', end);
  answer.on('close', end);
  answer.on('end', end);
}

/**
 * The text of bytes that somebody else chose: no control characters, and none that turn text
 * around.
 */
function plainLine(bytes: Buffer): Pick<Sent, 'answer'> {
  const text = bytes.toString('utf8').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return text.trim() === '' ? {} : { answer: text.trim() };
}

function wordsOf(error: unknown): string {
  if (error instanceof Undeliverable) return error.message;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? `no connection: ${code}` : 'no connection';
}
