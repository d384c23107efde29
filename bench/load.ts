// Loads an HTTP server over keep-alive connections, one request under way on each, for some
// seconds. Raw sockets: a client library would cost more than the server it measures.

import { connect, type Socket } from 'node:net';
import { answerQuestions } from './children.ts';

export type Load = {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Sent round and round, each connection from another place. */
  readonly requests: readonly Request[];
  /** Where in `requests` to begin, and to go on without repeating. */
  readonly from: number;
};
export type Request = {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: string;
};
export type Loaded = {
  readonly perSecond: number;
  readonly sent: number;
  /** Answers by status. */
  readonly statuses: Record<string, number>;
};

const endOfHead = Buffer.from('\r\n\r\n');

async function load({ port, connections, seconds, requests, from }: Load): Promise<Loaded> {
  const bytes = new Array<Buffer | undefined>(requests.length);
  const statuses: Record<string, number> = {};
  let next = from;
  let answered = 0;
  const take = () => {
    const at = next++ % requests.length;
    bytes[at] ??= bytesOf(requests[at]!);
    return bytes[at];
  };
  const start = performance.now();
  const end = start + seconds * 1_000;
  const one = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let gathered: Buffer | null = null;
      socket.on('error', reject);
      socket.on('close', resolve);
      socket.on('data', (chunk) => {
        const all: Buffer = gathered === null ? chunk : Buffer.concat([gathered, chunk]);
        const length = lengthOf(all);
        if (length === null || all.length < length) {
          gathered = all;
          return;
        }
        gathered = null;
        answered += 1;
        const status = all.toString('latin1', 9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (performance.now() < end) socket.write(take());
        else socket.end();
      });
      socket.write(take());
    });
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  await Promise.all(sockets.map(one));
  const perSecond = answered / ((performance.now() - start) / 1_000);
  return { perSecond, sent: next - from, statuses };
}

/** Length of the whole answer; null while its head is not complete. */
function lengthOf(bytes: Buffer): number | null {
  const head = bytes.indexOf(endOfHead);
  if (head < 0) return null;
  const match = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head));
  if (match === null) throw new Error(`no content-length in ${bytes.toString('latin1', 0, head)}`);
  return head + 4 + Number(match[1]);
}

function bytesOf({ method, path, key, body }: Request): Buffer {
  const content =
    body === undefined
      ? ''
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
  return Buffer.from(`${head}${content}\r\n${body ?? ''}`);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

export const answers = { load };

answerQuestions(answers);
