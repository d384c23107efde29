// WebSocket connections of the maker. A message that is too long is refused by its head, before it
// takes memory, and none is unpacked: the runtime's own WebSocket has no such limit.

import type { Millis } from '@parley/core/nominal.ts';
import { WebSocket as BoundedSocket } from 'ws';

const handshakeTimeout: Millis = 10_000;

/** Closed with 1009 where a message has more than `maxPayload` bytes. */
export function openSocket(url: string, maxPayload: number): WebSocket {
  const how = { maxPayload, perMessageDeflate: false, handshakeTimeout };
  return new BoundedSocket(url, how) as unknown as WebSocket;
}
