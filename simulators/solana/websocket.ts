// The chain's side of its WebSockets: whole texts in and out, within limits.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

export type Socket = {
  send(text: string): void;
  /** At once: who is there at the end of the chain may not hold it up. */
  close(): void;
};

export type Handlers = {
  onOpen(socket: Socket): void;
  onText(text: string, socket: Socket): void;
  onEnd(socket: Socket): void;
};

const mostMessageBytes = 256 * 1024;
/** A reader that lets more than this wait is dropped. */
const mostWaitingBytes = 4 * 1024 * 1024;

const goingAway = 1001;
const notText = 1003;

/** Answers upgrades, also those that are none. */
export type Acceptor = (request: IncomingMessage, stream: Duplex, head: Buffer) => void;

export function socketAcceptor(handlers: Handlers): Acceptor {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: mostMessageBytes,
    perMessageDeflate: false,
  });
  return (request, stream, head) => {
    server.handleUpgrade(request, stream, head, (accepted) => open(accepted, handlers));
  };
}

function open(accepted: WebSocket, { onOpen, onText, onEnd }: Handlers): void {
  const socket: Socket = {
    send: (text) => {
      if (accepted.readyState !== accepted.OPEN) return;
      accepted.send(text);
      if (accepted.bufferedAmount > mostWaitingBytes) accepted.terminate();
    },
    close: () => {
      accepted.close(goingAway);
      accepted.terminate();
    },
  };
  accepted.on('message', (data, isBinary) => {
    if (isBinary) accepted.close(notText);
    else onText(data.toString(), socket);
  });
  // What is wrong on the wire ends the connection, which `close` tells.
  accepted.on('error', () => undefined);
  accepted.once('close', () => onEnd(socket));
  onOpen(socket);
}
