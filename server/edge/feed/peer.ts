// A socket of the feed as the rest of it is used: says texts, writes ready bytes, is ended for a
// reason that is said before, and is dropped when it reads too slowly.

import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
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
const mostUnreadBytes = 1_048_576;
/** A reader this far behind is waited for, where we set the pace. */
const paceBytes = 262_144;
/** With the parting below 30 s, when connections.ts ends it without a word. */
const paceMs = 20_000;
/** For the other side to answer our close. */
const answerMs = 5_000;

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
  /** From now on every frame carries what this gives. */
  adorn(more: () => object): void;
  /** When so much was read that more may be written; ends a reader that takes too long. */
  drained(): Promise<void>;
};

export function createPeer(
  ws: WebSocket,
  socket: Socket,
  ended: (code: number) => void = () => {},
): Peer {
  const isOpen = () => ws.readyState === WebSocket.OPEN;
  const isFull = () => socket.writableLength > paceBytes;
  let adorned = (): object => ({});
  const bytesOf = (frame: object) => encodeFrame(JSON.stringify({ ...frame, ...adorned() }));
  const end: Peer['end'] = (code, sentence, more = {}) => {
    if (!isOpen()) return;
    setTimeout(() => ws.terminate(), answerMs).unref();
    ended(code);
    socket.write(bytesOf({ type: 'error', error: sentence, ...more }));
    // At most 123 bytes (RFC 6455, 5.5): half a character at the end becomes three bytes.
    ws.close(code, Buffer.from(sentence).subarray(0, 120).toString());
  };
  const write = (bytes: Buffer) => {
    if (!isOpen()) return;
    // Past the library, which would make a frame for each socket: it writes whole frames too.
    socket.write(bytes);
    if (socket.writableLength <= mostUnreadBytes) return;
    end(closeCodes.tooSlow, `more than ${mostUnreadBytes} bytes were not read: connect again`);
  };
  const drained = () => {
    if (!isFull() || !isOpen()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      const sentence = `what was sent was not read within ${paceMs / 1_000} s: connect again`;
      end(closeCodes.tooSlow, sentence);
      resolve();
    }, paceMs);
    socket.on('drain', resolve);
    socket.on('close', resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      socket.off('drain', resolve);
      socket.off('close', resolve);
    });
  };
  return {
    say: (frame) => write(bytesOf(frame)),
    write,
    end,
    drop: () => ws.terminate(),
    isOpen,
    isFull,
    pong: (data) => {
      if (isOpen() && !isFull()) ws.pong(data);
    },
    adorn: (more) => {
      adorned = more;
    },
    drained,
  };
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

const waves = 20;
const waveMs = 100;
/** For the last of them to answer. */
export const partingMs = 1_000;
const pollMs = 10;

/**
 * Ends all sockets at once: makers come back as they were closed, in waves. `open` loses who has
 * closed; whoever has not in time is dropped.
 */
export async function closeInWaves(
  open: ReadonlySet<{ readonly peer: Pick<Peer, 'end' | 'drop'> }>,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  const all = [...open];
  const size = Math.ceil(all.length / waves);
  for (let from = 0; from < all.length; from += size) {
    if (from > 0) await pause(waveMs);
    for (const { peer } of all.slice(from, from + size)) {
      peer.end(closeCodes.restart, 'the server restarts: connect again');
    }
  }
  for (let waited = 0; open.size > 0 && waited < partingMs; waited += pollMs) await pause(pollMs);
  for (const { peer } of open) peer.drop();
}
