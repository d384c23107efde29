// The peer of the feed: `ws` as its users write a broadcast.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { answerQuestions, microseconds } from './children.ts';

let server: WebSocketServer | undefined;

export const answers = {
  close: () => void server?.close(),
  listen: async (): Promise<number> => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  },
  /** Sends each text to every client, so far apart; answers when it began to, in microseconds. */
  send: async (texts: readonly string[], apartMs: number): Promise<number[]> => {
    const began: number[] = [];
    for (const text of texts) {
      const data = Buffer.from(text);
      began.push(microseconds());
      for (const client of server?.clients ?? []) client.send(data, { binary: false });
      await (apartMs > 0 ? sleep(apartMs) : new Promise(setImmediate));
    }
    return began;
  },
};

answerQuestions(answers);
