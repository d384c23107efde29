// Many makers in one process: sockets that count bytes, so that they take as little of the machine
// as can be, and when the last of them had each frame.

import { connect, type Socket } from 'node:net';
import { answerQuestions, microseconds } from './children.ts';

/** The times when the first and the last socket had each frame, in microseconds of this machine. */
export type Arrived = { readonly first: readonly number[]; readonly last: readonly number[] };

type Client = { socket: Socket; bytes: number; next: number };

const atOnce = 200;
/** A client that answers no ping is dropped: they say that they are there before they are asked. */
const aliveMs = 10_000;
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const clients: Client[] = [];
let ends: number[] = [];
let firsts: number[] = [];
let lasts: number[] = [];
let open = 0;
let done: (() => void) | null = null;

function count(client: Client, length: number): void {
  client.bytes += length;
  if (client.next >= ends.length || client.bytes < (ends[client.next] as number)) return;
  const now = microseconds();
  while (client.next < ends.length && client.bytes >= (ends[client.next] as number)) {
    firsts[client.next] ??= now;
    lasts[client.next] = now;
    client.next += 1;
  }
  if (client.next < ends.length) return;
  open -= 1;
  if (open === 0) done?.();
}

function masked(text: string): Buffer {
  const payload = Buffer.from(text);
  // A mask of zeros changes nothing.
  const head = [0x81, 0x80 | payload.length, 0, 0, 0, 0];
  if (payload.length > 125) throw new Error('the first frame is too long');
  return Buffer.concat([Buffer.from(head), payload]);
}

function join(port: number, first: string, until: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay();
    let text = '';
    let greeted = false;
    const client: Client = { socket, bytes: 0, next: 0 };
    const early = (data: Buffer) => {
      text += data.toString('latin1');
      if (!greeted && text.includes('\r\n\r\n')) {
        greeted = true;
        if (first !== '') socket.write(masked(first));
      }
      if (!text.includes(until)) return;
      socket.off('data', early);
      socket.on('data', (more) => count(client, more.length));
      clients.push(client);
      resolve();
    };
    socket.on('data', early);
    socket.on('error', reject);
    socket.write(
      'GET /v1/ws HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
  });
}

export const answers = {
  close: () => {
    for (const { socket } of clients) socket.destroy();
  },
  /** Opens sockets, sends `first` on each, and waits until each has been sent `until`. */
  join: async (port: number, count: number, first: string, until: string) => {
    for (let joined = 0; joined < count; joined += atOnce) {
      const some = Math.min(atOnce, count - joined);
      await Promise.all(Array.from({ length: some }, () => join(port, first, until)));
    }
  },
  /** From now on frames of these lengths come, in this order. */
  expect: (lengths: readonly number[]) => {
    let sum = 0;
    ends = lengths.map((each) => {
      sum += each;
      return sum;
    });
    [firsts, lasts] = [[], []];
    open = clients.length;
    for (const each of clients) [each.bytes, each.next] = [0, 0];
  },
  /** Waits until every socket has them all. */
  arrived: async (): Promise<Arrived> => {
    if (open > 0) {
      await new Promise<void>((resolve) => {
        done = resolve;
      });
    }
    return { first: firsts, last: lasts };
  },
};

setInterval(() => {
  for (const { socket } of clients) socket.write(pong);
}, aliveMs).unref();

answerQuestions(answers);
