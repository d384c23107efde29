// A server of bare WebSockets, for tests of one side of the feed without a market.

import type { Socket } from 'node:net';
import { after } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { FeedSocket, socketLimits } from '../feed/peer.ts';

/**
 * Connects a client; returns the result of `accepted` for the server's side of it. Closed after the
 * file.
 */
export async function socketServer() {
  const where = { port: 0, host: '127.0.0.1' };
  const server = new WebSocketServer({ ...socketLimits, ...where, WebSocket: FeedSocket });
  await new Promise((resolve) => server.once('listening', resolve));
  after(() => {
    for (const each of server.clients) each.terminate();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return async <T>(accepted: (ws: WebSocket, socket: Socket) => T) => {
    const ours = new Promise<T>((resolve) => {
      server.once('connection', (ws, { socket }) => resolve(accepted(ws, socket)));
    });
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    await new Promise((resolve) => client.once('open', resolve));
    return { client, ours: await ours };
  };
}
