// One HTTP exchange with a chain's node, bounded in time and size, over connections that are kept.
// By node:http, as a small exchange by `fetch` takes more than twice the processor time (`npm run
// bench -- exchange`), and asking nodes is most of what a server does while little is traded.

import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
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
  constructor(bytes: number) {
    super(`an answer of more than ${bytes} bytes`);
    this.name = 'AnswerTooLong';
  }
}

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
 * Throws an AnswerTooLong; a DOMException `TimeoutError` when the time is out, and the signal's
 * reason when that was aborted; else what the connection failed with, whose `code` is such as
 * ECONNREFUSED and whose message may hold the address. A redirection is a failure: a node's
 * address is the operator's to choose.
 */
export async function exchangeWith(
  { url, method, headers, body }: NodeRequest,
  limits: NodeLimits,
  signal: AbortSignal,
): Promise<NodeReply> {
  signal.throwIfAborted();
  const address = new URL(url);
  const { send, agent } = address.protocol === 'https:' ? secure : plain;
  const all: Record<string, string> = { 'accept-encoding': 'gzip, br', ...headers };
  if (body !== undefined) all['content-length'] = String(Buffer.byteLength(body));
  return new Promise<NodeReply>((resolve, reject) => {
    const asked = send(address, { method, headers: all, agent });
    const fail = (reason: unknown) => {
      end();
      reject(reason);
      asked.destroy();
    };
    const late = () => fail(new DOMException(`no answer in ${limits.timeMs} ms`, 'TimeoutError'));
    const cancelled = () => fail(signal.reason);
    const timer = setTimeout(late, limits.timeMs);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancelled);
    };
    signal.addEventListener('abort', cancelled, { once: true });
    asked.on('error', fail);
    asked.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      if (status >= 300 && status < 400) return fail(new Error(`HTTP ${status}, a redirection`));
      readWhole(unpacked(answer, fail), limits.bytes, fail, (whole) => {
        end();
        resolve({ status, body: whole });
      });
    });
    asked.end(body);
  });
}

function unpacked(answer: IncomingMessage, fail: (reason: unknown) => void): Readable {
  const packed = (answer.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (packed === 'identity') return answer;
  const unpack = unpackers[packed];
  // What follows fails as no JSON.
  if (unpack === undefined) return answer;
  return pipeline(answer, unpack(), (error) => {
    if (error) fail(error);
  });
}

const unpackers: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
};

function readWhole(
  stream: Readable,
  mostBytes: number,
  fail: (reason: unknown) => void,
  done: (whole: Buffer) => void,
): void {
  const parts: Buffer[] = [];
  let size = 0;
  stream.on('error', fail);
  stream.on('data', (part: Buffer) => {
    size += part.length;
    if (size > mostBytes) fail(new AnswerTooLong(mostBytes));
    else parts.push(part);
  });
  stream.on('end', () => done(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
}
