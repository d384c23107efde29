// Makers who quote over their sockets: each has some quotes under way at a time, a frame each, and
// sends the next when one is answered. Raw sockets: a client library would cost more than the
// market it measures.

import { connect, type Socket } from 'node:net';
import { answerQuestions } from './children.ts';
import type { Loaded } from './load.ts';

type Sent = Pick<Loaded, 'perSecond' | 'sent'>;

export type Frames = {
  readonly port: number;
  readonly seconds: number;
  readonly atOnce: number;
  readonly sockets: readonly {
    readonly key: string;
    /** Sent in this order, none twice. */
    readonly quotes: readonly string[];
  }[];
};

const textFrame = 0x81;
const maskBit = 0x80;

/** A frame of a client. A mask of zeros changes nothing. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length > 0xffff) throw new Error(`a frame of ${payload.length} bytes is too long`);
  const { length } = payload;
  const size = length > 125 ? [maskBit | 126, length >> 8, length & 0xff] : [maskBit | length];
  return Buffer.concat([Buffer.from([textFrame, ...size, 0, 0, 0, 0]), payload]);
}

/** Of the payload; a short one has its length in the second byte. */
function lengthOf(bytes: Buffer, at: number, head: number): number {
  if (head === 2) return bytes[at + 1]!;
  return head === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
}

/** Calls `each` with the text of every whole frame; the rest of the bytes. */
function framesIn(bytes: Buffer, each: (text: string) => void): Buffer {
  let at = 0;
  while (bytes.length >= at + 2) {
    const short = bytes[at + 1]!;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < at + head) break;
    const end = at + head + lengthOf(bytes, at, head);
    if (bytes.length < end) break;
    if (bytes[at] === textFrame) each(bytes.toString('latin1', at + head, end));
    at = end;
  }
  return bytes.subarray(at);
}

type Opened = { readonly socket: Socket; answers: (text: string) => void };

/** Ready when the market has sent the book. */
function open(port: number, key: string): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let rest: Buffer = Buffer.alloc(0);
    let greeted = false;
    const opened: Opened = {
      socket,
      answers: (text) => {
        if (text.startsWith('{"type":"ready"')) resolve(opened);
      },
    };
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (!greeted) {
        const end = rest.indexOf('\r\n\r\n');
        if (end < 0) return;
        greeted = true;
        rest = rest.subarray(end + 4);
        socket.write(masked(JSON.stringify({ apiKey: key })));
      }
      // The quotes that answers make room for go out as one.
      socket.cork();
      rest = framesIn(rest, (text) => opened.answers(text));
      socket.uncork();
    });
    socket.write(
      'GET /v1/ws HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
  });
}

async function quote({ port, seconds, atOnce, sockets }: Frames): Promise<Sent> {
  const ready = await Promise.all(sockets.map(({ key }) => open(port, key)));
  const frames = sockets.map(({ quotes }) => quotes.map(masked));
  let sent = 0;
  const start = performance.now();
  const end = start + seconds * 1_000;
  const run = (opened: Opened, own: readonly Buffer[]) =>
    new Promise<void>((resolve, reject) => {
      const { socket } = opened;
      let next = 0;
      let underway = 0;
      const send = () => {
        const frame = own[next];
        if (frame === undefined || performance.now() >= end) return;
        next += 1;
        underway += 1;
        sent += 1;
        socket.write(frame);
      };
      opened.answers = (text) => {
        if (!text.startsWith('{"type":"quoted"')) reject(new Error(`a quote was answered ${text}`));
        underway -= 1;
        send();
        if (underway === 0) resolve();
      };
      socket.on('close', () => reject(new Error('the market closed a socket')));
      socket.cork();
      for (let each = 0; each < atOnce; each += 1) send();
      socket.uncork();
    });
  await Promise.all(ready.map((opened, at) => run(opened, frames[at]!)));
  const perSecond = sent / ((performance.now() - start) / 1_000);
  for (const { socket } of ready) socket.destroy();
  return { perSecond, sent };
}

export const answers = { quote };

answerQuestions(answers);
