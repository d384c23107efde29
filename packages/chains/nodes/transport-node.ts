// One HTTP exchange with a chain's node, bounded in time and size, over kept connections. By
// node:http: `fetch` takes more than twice the processor time.

import { type Channel, channel } from 'node:diagnostics_channel';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import {
  bodyOf,
  lateAfter,
  markUnreached,
  type NodeLimits,
  type NodeReply,
  type NodeRequest,
  unconnected,
} from './exchange.ts';

/** A present node takes a connection in much less: one that does not is left for another node. */
export const connectMs = 3_000;

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

/** How an exchange ended: the status of its answer, or what it failed with. */
export type Ended = Pick<NodeRequest, 'url' | 'method' | 'body'> & {
  readonly ms: number;
  readonly status?: number;
  readonly failure?: unknown;
};

/** Each exchange of this process, for whoever counts them; costs nothing while nobody does. */
export const exchanges: Channel = channel('parley:node-exchange');

/**
 * Throws AnswerTooLong, a `TimeoutError`, the signal's reason, or what the connection failed with,
 * as a code: no failure holds the address. A redirection is a failure. User and password in the URL
 * are sent as Basic auth.
 */
export async function exchangeWith(
  asked: NodeRequest,
  limits: NodeLimits,
  signal: AbortSignal,
): Promise<NodeReply> {
  signal.throwIfAborted();
  if (!exchanges.hasSubscribers) return exchange(asked, limits, signal);
  const began = performance.now();
  const { url, method, body = '' } = asked;
  const tell = (of: Pick<Ended, 'status' | 'failure'>) =>
    exchanges.publish({ url, method, body, ms: performance.now() - began, ...of } satisfies Ended);
  try {
    const reply = await exchange(asked, limits, signal);
    tell({ status: reply.status });
    return reply;
  } catch (failure) {
    tell({ failure });
    throw failure;
  }
}

/** An address that is none is not repeated: it may hold a key all the same. */
function addressOf(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address !== null && /^https?:$/.test(address.protocol)) return address;
  const code = address === null ? 'ERR_INVALID_URL' : 'ERR_INVALID_PROTOCOL';
  throw Object.assign(new Error('the address of the node is none of http or https'), { code });
}

async function exchange(
  { url, method, headers, body }: NodeRequest,
  limits: NodeLimits,
  signal: AbortSignal,
): Promise<NodeReply> {
  const address = addressOf(url);
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
      // The part received so far would be unpacked to its end.
      reading?.destroy();
      asked.destroy();
    };
    const failAfter = (ms: number) => {
      const reason = lateAfter(ms);
      if (!isReached) markUnreached(reason);
      fail(reason);
    };
    const late = () => failAfter(limits.timeMs);
    // A busy process hears of its connection after its timers.
    const unmet = () => setImmediate(() => isReached || failAfter(connectMs));
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
      const bare = unconnected(error);
      if (!isReached) markUnreached(bare);
      fail(bare);
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
  done: (whole: Uint8Array) => void,
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
  const body = bodyOf(mostBytes);
  stream.on('error', (error) => fail(unconnected(error)));
  stream.on('data', (part: Buffer) => {
    try {
      body.take(part);
    } catch (error) {
      fail(error);
    }
  });
  stream.on('end', () => done(body.whole()));
  return stream;
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
    if (error) fail(unconnected(error));
  });
}
