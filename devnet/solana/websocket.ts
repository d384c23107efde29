// The server's side of a WebSocket (RFC 6455): as much as JSON-RPC subscriptions need. Text in and
// out, ping and pong, close; no extensions.

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

export type Socket = {
  send(text: string): void;
  close(): void;
};

const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const mostMessageBytes = 256 * 1024;
/** A reader that lets more than this wait is dropped. */
const mostWaitingBytes = 4 * 1024 * 1024;
const opcodes = { more: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

/** Answers an upgrade. `onText` gets whole messages, `onEnd` is called once. */
export function acceptSocket(
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
  handlers: { onText(text: string, socket: Socket): void; onEnd(socket: Socket): void },
): Socket | null {
  const key = request.headers['sec-websocket-key'];
  if (request.headers.upgrade?.toLowerCase() !== 'websocket' || key === undefined) {
    stream.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    return null;
  }
  const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
  stream.write(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
      `sec-websocket-accept: ${accept}\r\n\r\n`,
  );
  const socket = socketOn(stream);
  const read = reader(socket, stream, (text) => handlers.onText(text, socket));
  stream.on('data', read);
  stream.on('error', () => stream.destroy());
  stream.once('close', () => handlers.onEnd(socket));
  if (head.length > 0) read(head);
  return socket;
}

function socketOn(stream: Duplex): Socket {
  return {
    send: (text) => {
      if (stream.destroyed) return;
      stream.write(frame(opcodes.text, Buffer.from(text)));
      if (stream.writableLength > mostWaitingBytes) stream.destroy();
    },
    close: () => {
      if (!stream.destroyed) stream.end(frame(opcodes.close, Buffer.from([0x03, 0xe9])));
    },
  };
}

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), payload]);
  const long = length >= 65_536;
  const head = Buffer.alloc(long ? 10 : 4);
  head[0] = first;
  head[1] = long ? 127 : 126;
  if (long) head.writeBigUInt64BE(BigInt(length), 2);
  else head.writeUInt16BE(length, 2);
  return Buffer.concat([head, payload]);
}

type Frame = { opcode: number; isLast: boolean; payload: Buffer; end: number };

/** Null until the whole frame is there; 'bad' for one that no client may send. */
function nextFrame(bytes: Buffer): Frame | null | 'bad' {
  if (bytes.length < 2) return null;
  const isMasked = (bytes[1]! & 0x80) !== 0;
  let length = bytes[1]! & 0x7f;
  let at = 2;
  if (length >= 126) {
    const size = length === 126 ? 2 : 8;
    if (bytes.length < at + size) return null;
    length = size === 2 ? bytes.readUInt16BE(at) : Number(bytes.readBigUInt64BE(at));
    at += size;
  }
  if (!isMasked || length > mostMessageBytes || (bytes[0]! & 0x70) !== 0) return 'bad';
  const end = at + 4 + length;
  if (bytes.length < end) return null;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, end));
  for (let i = 0; i < payload.length; i++) payload[i]! ^= mask[i & 3]!;
  return { opcode: bytes[0]! & 0x0f, isLast: (bytes[0]! & 0x80) !== 0, payload, end };
}

function reader(socket: Socket, stream: Duplex, onText: (text: string) => void) {
  let waiting = Buffer.alloc(0);
  let parts: Buffer[] = [];
  const take = ({ opcode, isLast, payload }: Frame): void => {
    switch (opcode) {
      case opcodes.text:
      case opcodes.more:
        parts.push(payload);
        if (parts.reduce((sum, { length }) => sum + length, 0) > mostMessageBytes) {
          stream.destroy();
        } else if (isLast) {
          const text = Buffer.concat(parts).toString('utf8');
          parts = [];
          onText(text);
        }
        return;
      case opcodes.ping:
        stream.write(frame(opcodes.pong, payload));
        return;
      case opcodes.pong:
        return;
      default:
        socket.close();
    }
  };
  return (chunk: Buffer): void => {
    waiting = Buffer.concat([waiting, chunk]);
    for (let found = nextFrame(waiting); found !== null; found = nextFrame(waiting)) {
      if (found === 'bad') {
        stream.destroy();
        return;
      }
      waiting = waiting.subarray(found.end);
      take(found);
    }
  };
}
