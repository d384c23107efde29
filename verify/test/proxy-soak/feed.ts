// A maker on the feed, through a proxy.

import tls from 'node:tls';
import { WebSocket } from 'ws';
import { nextEvent, waitUntil } from '../support/waiting.ts';
import type { RunningProxy } from './programs.ts';

export type Feed = {
  readonly frames: { readonly type: string; readonly rfq?: { readonly id: string } }[];
  readonly openedAt: number;
  isOpen(): boolean;
  close(): void;
};

export async function openFeed(proxy: RunningProxy, key: string): Promise<Feed> {
  const { port, certificate } = proxy;
  const socket = new WebSocket(`${proxy.url.replace('https', 'wss')}/v1/ws`, {
    createConnection: () =>
      tls.connect({ host: '127.0.0.1', port, servername: 'localhost', ca: certificate.ca }),
  });
  const frames: Feed['frames'] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const refusal = new Promise<never>((_, reject) => {
    socket.on('unexpected-response', (_request, { statusCode, headers }) => {
      reject(new Error(`no socket: ${statusCode} ${JSON.stringify(headers)}`));
    });
  });
  await Promise.race([nextEvent(socket, 'open'), refusal]);
  socket.send(JSON.stringify({ apiKey: key }));
  await waitUntil(() => frames.some(({ type }) => type === 'ready'));
  return {
    frames,
    openedAt: performance.now(),
    isOpen: () => socket.readyState === WebSocket.OPEN,
    close: () => socket.terminate(),
  };
}
