// The peer of the feed: `ws` as its users write a broadcast.

import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { answerQuestions, microseconds } from './children.ts';

export type PeerQuestion =
  | { readonly listen: true }
  /** Sends each text to every client, so far apart; when it began to, in microseconds. */
  | { readonly texts: readonly string[]; readonly apartMs: number };

let server: WebSocketServer | undefined;

async function answer(question: PeerQuestion): Promise<unknown> {
  if ('listen' in question) {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    await new Promise((resolve) => server?.once('listening', resolve));
    return { port: (server.address() as AddressInfo).port };
  }
  const began: number[] = [];
  for (const text of question.texts) {
    const data = Buffer.from(text);
    began.push(microseconds());
    for (const client of server?.clients ?? []) client.send(data, { binary: false });
    if (question.apartMs > 0) await sleep(question.apartMs);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  return began;
}

answerQuestions(answer);
