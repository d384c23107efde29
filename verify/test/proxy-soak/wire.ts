// Clients of a proxy, each from an address of its own: by HTTP/1.1, by HTTP/2, and byte by byte.

import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import tls from 'node:tls';
import type { RunningProxy } from './programs.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
export type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** An address of this machine; default 127.0.0.1. */
  readonly from?: string;
};

/** The limit of the slowest answer: the proxy gives up on the market before. */
const answerMs = 90_000;

type Where = Pick<RunningProxy, 'port' | 'certificate'>;

function connected({ port, certificate }: Where, from = '127.0.0.1', protocol = 'http/1.1') {
  // Node takes the local address, and its types do not know it.
  const options: tls.ConnectionOptions & { localAddress: string } = {
    host: '127.0.0.1',
    port,
    localAddress: from,
    servername: 'localhost',
    ca: certificate.ca,
    ALPNProtocols: [protocol],
  };
  return tls.connect(options);
}

/** One request on a connection of its own. */
export function ask(proxy: Where, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, from } = asked;
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        method,
        path,
        headers: { host: `localhost:${proxy.port}`, ...headers },
        timeout: answerMs,
        createConnection: () => connected(proxy, from),
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response;
          const body = Buffer.concat(parts).toString();
          resolve({ status, headers: headers as Answer['headers'], body });
        });
      },
    );
    request.on('timeout', () => request.destroy(new Error(`${method} ${path}: no answer`)));
    request.on('error', reject);
    request.end(body);
  });
}

export type Session = {
  /** `isOpen`: the end of the request is never sent. */
  ask(path: string, asked?: Asked & { readonly isOpen?: boolean }): Promise<Answer>;
  close(): void;
};

/** Many requests on one connection. */
export async function openSession(proxy: Where, from?: string): Promise<Session> {
  const session = http2.connect(`https://localhost:${proxy.port}`, {
    createConnection: () => connected(proxy, from, 'h2'),
  });
  session.on('error', () => {});
  await once(session, 'connect');
  return {
    ask: (path, { method = 'GET', headers = {}, body, isOpen = false } = {}) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':method': method, ':path': path, ...headers });
        const parts: Buffer[] = [];
        let got: http2.IncomingHttpHeaders & { ':status'?: number } = {};
        stream.on('response', (given) => {
          got = given as typeof got;
        });
        stream.on('data', (part: Buffer) => parts.push(part));
        stream.on('error', reject);
        stream.on('close', () => {
          const body = Buffer.concat(parts).toString();
          resolve({ status: got[':status'] ?? 0, headers: got as Answer['headers'], body });
        });
        if (isOpen) stream.write(body ?? 'x');
        else stream.end(body);
      }),
    close: () => session.destroy(),
  };
}

export type Said = { readonly text: string; readonly closed: boolean; readonly ms: number };

/**
 * Sends pieces, `everyMs` apart, and hears for at most `mostMs` or until the other side closes. One
 * that is deaf reads only then.
 */
export async function say(
  proxy: Where,
  pieces: readonly string[],
  { everyMs = 0, mostMs = 3_000, from = '127.0.0.1', isDeaf = false } = {},
): Promise<Said> {
  const socket = connected(proxy, from);
  const heard: Buffer[] = [];
  socket.on('error', () => {});
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)));
  await Promise.race([once(socket, 'secureConnect'), closed]);
  const began = performance.now();
  if (isDeaf) socket.pause();
  else socket.on('data', (chunk: Buffer) => heard.push(chunk));
  const pause = (ms: number) =>
    Promise.race([closed, new Promise<false>((resolve) => setTimeout(resolve, ms, false))]);
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    if (everyMs > 0 && (await pause(everyMs))) break;
  }
  let isClosed = await pause(Math.max(0, mostMs - (performance.now() - began)));
  if (isDeaf) {
    // A client that does not read does not see an end either: the rest is read now.
    socket.on('data', (chunk: Buffer) => heard.push(chunk));
    socket.resume();
    isClosed = await pause(5_000);
  }
  socket.destroy();
  const text = Buffer.concat(heard).toString('latin1');
  return { text, closed: isClosed, ms: performance.now() - began };
}
