// Tests only: a provider on loopback that answers as it is told, and badly where that is wanted.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Clock } from '../pace.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export type TestProvider = {
  readonly base: string;
  /** Paths with their queries, in order. */
  readonly asked: string[];
  readonly headers: IncomingMessage['headers'][];
  answer(how: Handler): void;
  json(body: unknown, status?: number): void;
};

export async function startProvider(t: TestContext): Promise<TestProvider> {
  let how: Handler = (_request, response) => response.writeHead(500).end();
  const asked: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    headers.push(request.headers);
    how(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    headers,
    answer: (next) => {
      how = next;
    },
    json: (body, status = 200) => {
      how = (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
        response.end(JSON.stringify(body));
      };
    },
  };
}

/** An answer of testing/recorded, which says where it is from. */
export function recorded(name: string): unknown {
  const file = new URL(`./recorded/${name}.json`, import.meta.url);
  return structuredClone((JSON.parse(readFileSync(file, 'utf8')) as { answer: unknown }).answer);
}

export type TestClock = Clock & {
  /** Every wait that was wanted, in milliseconds. */
  readonly waits: number[];
  pass(ms: number): void;
};

/** Time that passes only by waiting for it, and at once. */
export function testClock(startMs = Date.UTC(2026, 9, 1)): TestClock {
  let now = startMs;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    pass: (ms) => {
      now += ms;
    },
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      now += ms;
    },
  };
}
