// One HTTP exchange with a chain's node, bounded in time and size, over kept connections. By
// node:http: `fetch` takes more than twice the processor time (`npm run bench -- exchange`).

import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

export type NodeRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type NodeLimits = {
  /** For all of it, connecting included. */
  readonly timeMs: number;
  /** Of the answer's body, unpacked. */
  readonly bytes: number;
};

export type NodeReply = { readonly status: number; readonly body: Buffer };

export class AnswerTooLong extends Error {
  constructor(most: number, what = 'bytes') {
    super(`an answer of more than ${most} ${what}`);
    this.name = 'AnswerTooLong';
  }
}

/** Objects and lists of one answer, some 60 bytes each: three times the fullest Bitcoin block. */
export const mostParts = 1_000_000;

/** A gateway's no, before any node: of our key, our account or our haste, not of the question. */
export class TurnedAway extends Error {
  constructor(status: number, words: string) {
    super(words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`);
    this.name = 'TurnedAway';
  }
}

const turningAway: ReadonlySet<number> = new Set([401, 402, 403, 407, 429]);

export function turnsAway(status: number): boolean {
  return turningAway.has(status);
}

/** Whoever is there takes a connection in much less: one that does not is left for another node. */
export const connectMs = 3_000;

const unreached = new WeakSet<object>();

/** Whether it failed before there was a connection, so that the other side has heard nothing. */
export function isUnreached(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unreached.has(error);
}

/** Gateways refuse who sends no word of themselves. */
const usual = { accept: '*/*', 'accept-encoding': 'gzip, br', 'user-agent': 'node' };

const kept = {
  keepAlive: true,
  // Nodes close what lies idle after 5 s or more, and what is sent just then is lost.
  timeout: 4_000,
  scheduling: 'lifo',
  maxFreeSockets: 32,
} as const;
const plain = { send: request, agent: new Agent(kept) };
const secure = { send: secureRequest, agent: new SecureAgent(kept) };

/**
 * Throws AnswerTooLong, a `TimeoutError`, the signal's reason, or what the connection failed with,
 * whose message may hold the address. A redirection is a failure. User and password in the URL are
 * sent as Basic auth.
 */
export async function exchangeWith(
  { url, method, headers, body }: NodeRequest,
  limits: NodeLimits,
  signal: AbortSignal,
): Promise<NodeReply> {
  signal.throwIfAborted();
  const address = new URL(url);
  const { send, agent } = address.protocol === 'https:' ? secure : plain;
  const all: Record<string, string> = { ...usual, ...headers };
  if (body !== undefined) all['content-length'] = String(Buffer.byteLength(body));
  return new Promise<NodeReply>((resolve, reject) => {
    const asked = send(address, { method, headers: all, agent });
    let reading: Readable | null = null;
    let isOver = false;
    let isReached = false;
    const over = () => {
      isOver = true;
      clearTimeout(timer);
      clearTimeout(connecting);
      signal.removeEventListener('abort', cancelled);
    };
    const fail = (reason: unknown) => {
      if (isOver) return;
      over();
      reject(reason);
      // What is here already would be unpacked to its end.
      reading?.destroy();
      asked.destroy();
    };
    const lateAfter = (ms: number) => {
      const reason = new DOMException(`no answer in ${ms} ms`, 'TimeoutError');
      if (!isReached) unreached.add(reason);
      fail(reason);
    };
    const late = () => lateAfter(limits.timeMs);
    // A busy process hears of its connection after its timers.
    const unmet = () => setImmediate(() => isReached || lateAfter(connectMs));
    const cancelled = () => fail(signal.reason);
    const timer = setTimeout(late, limits.timeMs);
    const connecting = connectMs < limits.timeMs ? setTimeout(unmet, connectMs) : undefined;
    signal.addEventListener('abort', cancelled, { once: true });
    asked.on('socket', (socket) => {
      const reached = () => {
        isReached = true;
        clearTimeout(connecting);
      };
      if (socket.connecting)
        socket.once(agent === secure.agent ? 'secureConnect' : 'connect', reached);
      else reached();
    });
    asked.on('error', (error) => {
      if (!isReached) unreached.add(error);
      fail(error);
    });
    asked.on('response', (answer) => {
      // Else one that was answered too early, or is not read to its end, keeps its connection.
      const leave = () => {
        if (!asked.writableFinished || !answer.complete) asked.destroy();
      };
      reading = readWhole(answer, limits.bytes, fail, (whole) => {
        over();
        resolve({ status: answer.statusCode ?? 0, body: whole });
        leave();
      });
    });
    asked.end(body);
  });
}

/** Reads it to its end, or says why not; null where it is not to be read. */
function readWhole(
  answer: IncomingMessage,
  mostBytes: number,
  fail: (reason: unknown) => void,
  done: (whole: Buffer) => void,
): Readable | null {
  const { statusCode: status = 0 } = answer;
  if (status >= 300 && status < 400) {
    fail(new Error(`HTTP ${status}, a redirection`));
    return null;
  }
  const stream = unpacked(answer, fail);
  if (stream === null) {
    fail(new Error('an answer that is packed otherwise than was asked for'));
    return null;
  }
  const parts: Buffer[] = [];
  let size = 0;
  let openings = 0;
  stream.on('error', fail);
  stream.on('data', (part: Buffer) => {
    size += part.length;
    openings += openingsIn(part);
    if (size > mostBytes) fail(new AnswerTooLong(mostBytes));
    else if (openings > mostParts) fail(new AnswerTooLong(mostParts, 'objects and lists'));
    else parts.push(part);
  });
  stream.on('end', () => done(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
  return stream;
}

const opensObject = 0x7b;
const opensList = 0x5b;

/** In texts too: who writes so many of them there is no node. */
function openingsIn(part: Buffer): number {
  let count = 0;
  for (const byte of part) if (byte === opensObject || byte === opensList) count += 1;
  return count;
}

const unpackers: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
]);

function unpacked(answer: IncomingMessage, fail: (reason: unknown) => void): Readable | null {
  const { 'content-encoding': packed = 'identity', 'content-length': length } = answer.headers;
  if (packed.toLowerCase() === 'identity' || length === '0') return answer;
  const unpacker = unpackers.get(packed.toLowerCase())?.();
  if (unpacker === undefined) return null;
  return pipeline(answer, unpacker, (error) => {
    if (error) fail(error);
  });
}
