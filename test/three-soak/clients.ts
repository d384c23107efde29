// Customers of the market behind nginx: requests over kept connections with TLS, timed, and sockets
// of the feed that count what they are told.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as send } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import type { Customer } from '../support/customers.ts';
import { until } from '../support/deals.ts';

const answerMs = 60_000;
const mostTries = 20;

/** `isUnnamed`: without an `Idempotency-Key`, as makers price anew. */
export type Sent = {
  readonly path: string;
  readonly body?: unknown;
  readonly isUnnamed?: true;
};
export type Client = {
  /** The body of a 2xx. What is told to come again does so; throws any other answer. */
  ask(who: Pick<Customer, 'key'>, sent: Sent): Promise<Record<string, unknown>>;
  /** Milliseconds of each answer since it was asked last. */
  times(): number[];
  close(): void;
};

type Answer = { readonly status: number; readonly text: string; readonly wait: string | null };

export function createClient(url: string): Client {
  const agent = new Agent({ keepAlive: true });
  let times: number[] = [];
  const sendOnce = (
    { key }: Pick<Customer, 'key'>,
    { path, body, isUnnamed }: Sent,
    name: string,
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const began = performance.now();
      const headers = { authorization: `Bearer ${key}` };
      const named = isUnnamed ? {} : { 'idempotency-key': name };
      const posted = { 'content-type': 'application/json', ...named };
      const asked = send(url + path, {
        agent,
        timeout: answerMs,
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? headers : { ...headers, ...posted },
      });
      asked.once('timeout', () => asked.destroy(new Error(`${path} was not answered`)));
      asked.once('error', reject);
      asked.once('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('error', reject);
        response.once('end', () => {
          times.push(performance.now() - began);
          const text = Buffer.concat(parts).toString();
          const wait = response.headers['retry-after'];
          resolve({ status: response.statusCode ?? 0, text, wait: wait ?? null });
        });
      });
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    ask: async (who, sent) => {
      const name = randomUUID();
      for (let tries = 1; ; tries += 1) {
        const { status, text, wait } = await sendOnce(who, sent, name);
        if (status >= 200 && status < 300) return JSON.parse(text) as Record<string, unknown>;
        if (wait === null || tries === mostTries) {
          throw new Error(`${sent.path}: ${status} ${text.slice(0, 300)}`);
        }
        await sleep(Number(wait) * 1_000);
      }
    },
    times: () => {
      const all = times;
      times = [];
      return all;
    },
    close: () => agent.destroy(),
  };
}

type Outcomes = { readonly outcomes: readonly { threadId?: string; error?: string }[] };

/** A batch is a 200 whatever becomes of its quotes. Throws where one was refused. */
export function mustAllBeQuoted(answer: Record<string, unknown>): void {
  const { outcomes } = answer as Outcomes;
  const [refused] = outcomes.filter(({ threadId }) => threadId === undefined);
  if (refused !== undefined) throw new Error(`a quote of a batch: ${refused.error}`);
}

export type Sockets = {
  /** RFQs that each socket was told of, together. */
  told(): number;
  close(): Promise<void>;
};

export async function openSockets(url: string, key: string, count: number): Promise<Sockets> {
  let told = 0;
  let ready = 0;
  const closed: string[] = [];
  const all = Array.from({ length: count }, () => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`);
    socket.on('open', () => socket.send(JSON.stringify({ apiKey: key })));
    socket.on('message', (data) => {
      const text = String(data);
      if (text.includes('"type":"rfq"')) told += 1;
      else if (text.includes('"type":"ready"')) ready += 1;
    });
    socket.on('error', ({ message }) => closed.push(message));
    socket.on('close', (code, why) => closed.push(`${code} ${why}`));
    return socket;
  });
  await until('all sockets are ready', async () => {
    if (ready === count) return true;
    throw new Error(`${ready} of ${count} are ready, ${closed.length} closed: ${closed[0]}`);
  });
  return {
    told: () => told,
    close: async () => {
      const ended = all.map((socket) => once(socket, 'close'));
      for (const socket of all) socket.close();
      await Promise.all(ended);
    },
  };
}
