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

/** A message of a client. */
export const mostFrameBytes = 16_384;
/** A little more than is allowed, so that most of what is too large is refused in our own words. */
export const mostPayloadBytes = 4 * mostFrameBytes;
/**
 * The limit of a message's pieces that are not empty. Proxies and libraries that cut one make a
 * few.
 */
const mostPieces = 64;
/** Reads of the network that one frame may take: each costs some 400 bytes until it is whole. */
const mostReads = 256;
/** A reader further behind is dropped. */
const mostUnreadBytes = 1_048_576;
/** A reader this far behind is waited for, where we set the pace. */
const paceBytes = 262_144;
/** With the parting below 30 s, when connections.ts ends it without a word. */
const paceMs = 20_000;
/** For the other side to answer our close. */
const answerMs = 5_000;

/** The limits that the library enforces by itself. */
export const socketLimits = {
  perMessageDeflate: false,
  // Answered below: not what nobody reads.
  autoPong: false,
  maxPayload: mostPayloadBytes,
  maxFragments: mostPieces,
  maxBufferedChunks: mostReads,
  closeTimeout: answerMs,
} as const;

export type Peer = {
  /** Sent when this turn of the event loop has no more to do, with what else it says. */
  say(frame: object): void;
  /** Whole frames; drops a reader that is too far behind. */
  write(bytes: Buffer): void;
  /** Says why, then closes; later frames are not sent. */
  end(code: number, sentence: string, more?: object): void;
  /** Ends it without a word, since the peer is gone. */
  drop(): void;
  isOpen(): boolean;
  /** So much is unread that it would be waited for. */
  isFull(): boolean;
  /** Answers a ping of the protocol; the newest of many at once. */
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
  // The answers to quotes that commit together go out as one: each alone is a call of the system.
  let isGathering = false;
  const send = () => {
    isGathering = false;
    socket.uncork();
  };
  const say = (frame: object) => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      process.nextTick(send);
    }
    write(bytesOf(frame));
  };
  const drained = () => {
    if (!isFull() || !isOpen()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      const sentence = `the frames sent were not read within ${paceMs / 1_000} s: connect again`;
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
  let isAnswering = false;
  let unanswered: Buffer | null = null;
  // RFC 6455, 5.5.3. An answer has 2 bytes and costs 300 until it is sent.
  const pong = (data: Buffer) => {
    if (!isOpen() || isFull()) return;
    if (isAnswering) {
      unanswered = data;
      return;
    }
    isAnswering = true;
    ws.pong(data, false, () => {
      isAnswering = false;
      const next = unanswered;
      unanswered = null;
      if (next !== null) pong(next);
    });
  };
  return {
    say,
    write,
    end,
    drop: () => ws.terminate(),
    isOpen,
    isFull,
    pong,
    adorn: (more) => {
      adorned = more;
    },
    drained,
  };
}

/** Says why before the library closes for what the protocol forbids. */
export class FeedSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    const fault = faults.get(code ?? 0);
    if (fault !== undefined && this.readyState === WebSocket.OPEN && reason === undefined) {
      const { as = code, sentence } = fault;
      this.send(JSON.stringify({ type: 'error', error: sentence }));
      super.close(as, sentence);
      return;
    }
    super.close(code, reason);
  }
}

type Fault = { readonly sentence: string; readonly as?: number };

const faults = new Map<number, Fault>([
  [1002, { sentence: 'this breaks the WebSocket protocol' }],
  [1007, { sentence: 'a text frame must be valid UTF-8' }],
  [1008, { sentence: 'a message came in too many pieces', as: closeCodes.tooLarge }],
  [closeCodes.tooLarge, { sentence: `a frame is larger than ${mostFrameBytes} bytes` }],
]);

const waves = 20;
const waveMs = 100;
/** For the last of them to answer. */
export const partingMs = 1_000;
const pollMs = 10;

/**
 * Ends all sockets at once: makers come back as they were closed, in waves. `open` loses who has
 * closed; a socket that has not closed in time is dropped.
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
