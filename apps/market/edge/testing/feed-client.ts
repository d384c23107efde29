// A maker's socket in tests: the frames that came, in order, and waiting for one of them.

import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire says
export type Frame = any;

export type FeedClient = {
  readonly ws: WebSocket;
  readonly frames: Frame[];
  send(frame: unknown): void;
  /** The first frame, from now on or before, that this is true of; throws when there is none. */
  frame(is: (frame: Frame) => boolean): Promise<Frame>;
  /** The next frame of this type. */
  of(type: string): Promise<Frame>;
  /** How the socket ended. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
};

const patienceMs = 20_000;

/** Resolves when the socket is open; `url` is the market's. */
export async function openFeed(
  url: string,
  options: { readonly headers?: Record<string, string> } = {},
): Promise<FeedClient> {
  const limited = { ...options, handshakeTimeout: patienceMs };
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`, limited);
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  ws.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    wake();
  });
  let ended: { code: number; reason: string } | null = null;
  ws.on('close', (code, reason) => {
    ended = { code, reason: reason.toString() };
    wake();
  });
  ws.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve);
    ws.once('error', reject);
  });
  const frame = (is: (frame: Frame) => boolean) =>
    new Promise<Frame>((resolve, reject) => {
      const check = () => {
        const found = frames.find(is);
        if (found === undefined && ws.readyState !== WebSocket.CLOSED) return;
        waiting.delete(check);
        clearTimeout(timer);
        if (found !== undefined) resolve(found);
        else reject(new Error(`closed without it: ${JSON.stringify(frames).slice(0, 2_000)}`));
      };
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`no such frame: ${is} in ${JSON.stringify(frames).slice(0, 2_000)}`));
      }, patienceMs);
      waiting.add(check);
      check();
    });
  return {
    ws,
    frames,
    send: (value) => ws.send(typeof value === 'string' ? value : JSON.stringify(value)),
    frame,
    of: (type) => frame((each) => each.type === type),
    get closed() {
      return waitUntil(() => ended);
    },
    close: () => ws.close(),
  };
}

/** Opened, with the book. */
export async function openMaker(url: string, first: object): Promise<FeedClient> {
  const client = await openFeed(url);
  client.send(first);
  await client.of('ready');
  return client;
}

/** Whether a frame is of this RFQ, as it was created or cancelled. */
export const about =
  (id: string, kind = 'created') =>
  (frame: Frame) =>
    frame.type === 'rfq' && frame.kind === kind && frame.rfq.id === id;

/** The headers of a handshake that is as it should be (RFC 6455). */
const goodHandshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** The HTTP answer to a handshake with these headers, or to another request. */
export function handshake(
  url: string,
  headers: Record<string, string>,
  { path = '/v1/ws', method = 'GET', good = goodHandshake as Record<string, string> } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers: { ...good, ...headers } });
    const answered = async (answer: IncomingMessage, isRead: boolean) => {
      const chunks = isRead ? await answer.toArray() : [];
      const body = Buffer.concat(chunks).toString();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
    };
    sent.on('upgrade', (answer, socket) => {
      socket.destroy();
      void answered(answer, false);
    });
    sent.on('response', (answer) => void answered(answer, true));
    sent.on('error', reject);
    sent.end();
  });
}
