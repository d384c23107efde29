// A message that a client has begun and not ended: how much may come meanwhile, and how long it may
// take. The library bounds its pieces and its length (peer.ts). It bounds no empty piece, and no
// ping between two pieces: each piece keeps in memory what was read together with it.

import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { closeCodes, mostPayloadBytes, type Peer } from './peer.ts';

/** All that is read from its first byte on: the message, the heads of its pieces, pings. */
const mostBytes = 2 * mostPayloadBytes;
/** Looks in a row, each a second after the one before, that find the same message unfinished. */
const mostLooks = 10;

export type Unfinished = {
  /** Once a second: ends a socket whose message takes too long. */
  look(): void;
};

/** The library's part of a frame or message that is not complete. Its names are private. */
type Reader = {
  readonly _receiver: {
    /** The opcode of a message in pieces; 0 = there is none. */
    readonly _fragmented: number;
    /** 0 = a new frame is next. */
    readonly _state: number;
    readonly _bufferedBytes: number;
  };
};

export function limitUnfinished(
  ws: WebSocket,
  socket: Socket,
  peer: Pick<Peer, 'isOpen' | 'end' | 'drop'>,
): Unfinished {
  const { _receiver: receiver } = ws as unknown as Reader;
  const isInPieces = () => receiver._fragmented !== 0;
  const isUnfinished = () => isInPieces() || receiver._state !== 0 || receiver._bufferedBytes > 0;
  /** The bytes of the socket when the last message was complete. */
  let bytesBefore = socket.bytesRead;
  let looks = 0;
  const begin = () => {
    bytesBefore = socket.bytesRead;
    looks = 0;
  };
  const beginUnlessInPieces = () => {
    if (!isInPieces()) begin();
  };
  ws.on('message', begin);
  ws.on('ping', beginUnlessInPieces);
  ws.on('pong', beginUnlessInPieces);
  // After the library has read it, whose listener was there before.
  socket.on('data', () => {
    if (!isUnfinished()) return begin();
    if (socket.bytesRead - bytesBefore <= mostBytes) return;
    // One that is ended has no more to say.
    if (!peer.isOpen()) return peer.drop();
    const sentence = `more than ${mostBytes} bytes came before a message ended`;
    peer.end(closeCodes.tooLarge, sentence);
  });
  return {
    look: () => {
      // A message that we do not read is not overdue.
      if (!isUnfinished() || ws.isPaused) looks = 0;
      else looks += 1;
      if (looks >= mostLooks) {
        peer.end(closeCodes.tooSlow, `a message was not complete after ${mostLooks} s`);
      }
    },
  };
}
