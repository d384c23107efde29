// A socket of the feed as the rest of it is used: says texts, writes ready bytes, is ended for a
// reason that is said before, and is dropped when it reads too slowly.

import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { encodeFrame } from './frames.ts';

/** Why a socket is ended by us (decisions, 7: "Feed"). */
export const closeCodes = {
  tooLarge: 1009,
  restart: 1012,
  noKey: 4401,
  noScope: 4403,
  tooSlow: 4408,
  tooMany: 4429,
} as const;

/** A frame of a client. */
export const mostFrameBytes = 16_384;
/** A reader further behind is dropped. */
export const mostUnreadBytes = 1_048_576;
/** A reader this far behind is waited for, where we set the pace. */
const paceBytes = 262_144;
/** With the parting below 30 s, when connections.ts ends it without a word. */
export const paceMs = 20_000;
/** For the other side to answer our close. */
const partingMs = 5_000;

export type Peer = {
  say(frame: object): void;
  /** Whole frames; drops a reader that is too far behind. */
  write(bytes: Buffer): void;
  /** Says why, then closes; what is said after it is not sent. */
  end(code: number, sentence: string, more?: object): void;
  /** Without a word: nobody is there. */
  drop(): void;
  isOpen(): boolean;
  /** So much is unread that it would be waited for. */
  isFull(): boolean;
  /** Answers a ping of the protocol; ends a reader that does not read the answers. */
  pong(data: Buffer): void;
  /** Whether it has read as much as it must. */
  isBehind(): boolean;
  /** From now on every frame carries what this gives. */
  adorn(more: () => object): void;
  /** When so much was read that more may be written; ends a reader that takes too long. */
  drained(): Promise<void>;
};

export function createPeer(
  ws: WebSocket,
  socket: Socket,
  said: (code: number) => void = () => {},
): Peer {
  const isOpen = () => ws.readyState === WebSocket.OPEN;
  const isFull = () => socket.writableLength > paceBytes;
  let adorned = (): object => ({});
  const peer: Peer = {
    say: (frame) => peer.write(encodeFrame(JSON.stringify({ ...frame, ...adorned() }))),
    adorn: (more) => {
      adorned = more;
    },
    write: (bytes) => {
      if (!isOpen()) return;
      // Past the library, which would make a frame for each socket: it writes whole frames too.
      socket.write(bytes);
      if (!peer.isBehind()) return;
      const sentence = `more than ${mostUnreadBytes} bytes were not read: connect again`;
      peer.end(closeCodes.tooSlow, sentence);
    },
    end: (code, sentence, more = {}) => {
      if (!isOpen()) return;
      setTimeout(() => ws.terminate(), partingMs).unref();
      said(code);
      const frame = { type: 'error', error: sentence, ...more, ...adorned() };
      socket.write(encodeFrame(JSON.stringify(frame)));
      ws.close(code, shortened(sentence));
    },
    pong: (data) => {
      if (isOpen() && !isFull()) ws.pong(data);
    },
    isBehind: () => socket.writableLength > mostUnreadBytes,
    drop: () => ws.terminate(),
    isOpen,
    isFull,
    drained: () =>
      new Promise((resolve) => {
        if (!isFull() || !isOpen()) return resolve();
        const done = () => {
          clearTimeout(timer);
          socket.off('drain', done);
          socket.off('close', done);
          resolve();
        };
        const timer = setTimeout(() => {
          peer.end(
            closeCodes.tooSlow,
            `what was sent was not read within ${paceMs / 1_000} s: connect again`,
          );
          done();
        }, paceMs);
        socket.on('drain', done);
        socket.on('close', done);
      }),
  };
  return peer;
}

/** At most 123 bytes (RFC 6455, 5.5): half a character at the end becomes three bytes. */
function shortened(sentence: string): string {
  return Buffer.from(sentence).subarray(0, 120).toString();
}

/** Says why before the library closes for what the protocol forbids. */
export class FeedSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    const sentence = faults.get(code ?? 0);
    if (sentence !== undefined && this.readyState === WebSocket.OPEN && reason === undefined) {
      this.send(JSON.stringify({ type: 'error', error: sentence }));
      super.close(code, sentence);
      return;
    }
    super.close(code, reason);
  }
}

const faults = new Map([
  [1002, 'this breaks the WebSocket protocol'],
  [1007, 'a text frame must be valid UTF-8'],
  [1008, 'a frame is in too many pieces'],
  [closeCodes.tooLarge, `a frame is larger than ${mostFrameBytes} bytes`],
]);
