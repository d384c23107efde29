// A balancer as an operator has one before several processes: it asks each for /readyz, sends by
// turns to those that are ready, keeps connections, and sends again elsewhere what was not begun.

import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes drain for twice as long, or more. */
export const probeEveryMs = 500;
const probeMs = 3_000;
const answerMs = 60_000;

type Upstream = { readonly port: number; isReady: boolean };

export type Balancer = {
  readonly url: string;
  /** Is sent nothing before it was found ready. */
  add(port: number): void;
  remove(port: number): void;
  isReady(port: number): boolean;
  close(): Promise<void>;
};

export async function startBalancer(): Promise<Balancer> {
  const upstreams: Upstream[] = [];
  const agent = new Agent({ keepAlive: true });
  const stop = new AbortController();
  let turn = 0;

  /** In the order to try; where none is ready, all: clients get the market's own words. */
  const choose = (): Upstream[] => {
    const ready = upstreams.filter(({ isReady }) => isReady);
    const those = ready.length === 0 ? [...upstreams] : ready;
    turn += 1;
    return those.map((_, at) => those[(at + turn) % those.length] as Upstream);
  };

  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const from = request.socket.remoteAddress ?? '';
    const headers = { ...request.headers, 'x-forwarded-for': from };
    for (const { port } of choose()) {
      const { method, url: path } = request;
      const asked = send({ host: '127.0.0.1', port, agent, method, path, headers });
      asked.setTimeout(answerMs, () => asked.destroy(new Error('no answer')));
      asked.end(Buffer.concat(parts));
      try {
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        for await (const part of answer) response.write(part);
        response.end();
        return;
      } catch (error) {
        const wasSent = (error as { code?: string }).code !== 'ECONNREFUSED';
        if (response.headersSent) {
          response.destroy();
          return;
        }
        if (wasSent && method !== 'GET' && method !== 'HEAD') break;
      }
    }
    response.writeHead(502, { 'x-balancer': 'no answer' }).end();
  };

  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, client: Socket) => {
    const [first] = choose();
    if (first === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(first.port, '127.0.0.1', () => {
      const lines = [`GET ${request.url} HTTP/1.1`];
      for (let at = 0; at < request.rawHeaders.length; at += 2) {
        lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
      }
      upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
      client.pipe(upstream).pipe(client);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const probing = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all(
        upstreams.map(async (each) => {
          each.isReady = await isReady(each.port);
        }),
      );
      await sleep(probeEveryMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (port) => void upstreams.push({ port, isReady: false }),
    remove: (port) => {
      const at = upstreams.findIndex((each) => each.port === port);
      if (at !== -1) upstreams.splice(at, 1);
    },
    isReady: (port) => upstreams.some((each) => each.port === port && each.isReady),
    close: async () => {
      stop.abort();
      await probing;
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(probeMs);
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`, { signal });
    await reply.arrayBuffer();
    return reply.status === 200;
  } catch {
    return false;
  }
}
