// Bad nodes for tests: those that never answer or always answer the same, and one that stands
// before a real JSON-RPC node and changes what it says.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, type TestContext } from 'node:test';
import { type Ended, exchanges } from '../nodes/transport-node.ts';

export type TestNode = { readonly url: string; stop(): Promise<void> };
/** `isCut`: it begins and never ends. `undefined` hangs. */
export type Reply = {
  readonly status?: number;
  readonly text: string | Uint8Array;
  readonly isCut?: boolean;
};

/** Answers a request by its text. */
export async function nodeOf(
  answer: (text: string, request: IncomingMessage) => Promise<Reply | undefined> | undefined,
): Promise<TestNode> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const said = await answer(await text(request), request);
    if (said === undefined) return;
    response.writeHead(said.status ?? 200, { 'content-type': 'application/json' });
    if (said.isCut === true) response.write(said.text);
    else response.end(said.text);
  };
  return serverOf((request, response) => {
    // A test may stop the real node while it is still asked.
    void handle(request, response).catch(() => response.destroy());
  });
}

export async function serverOf(answer: RequestListener): Promise<TestNode> {
  // An idle connection is the client's to end: one that is ended here as it sends fails a test.
  const server = createServer({ keepAliveTimeout: 0 }, answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const stop = () =>
    new Promise<void>((done) => {
      server.closeAllConnections();
      server.close(() => done());
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** Takes every request and answers none. */
export const hangingNode = (): Promise<TestNode> => nodeOf(() => undefined);

/** Answers every request with this text. */
export const fixedNode = (text: string, status = 200): Promise<TestNode> =>
  nodeOf(async () => ({ text, status }));

export type Request = { readonly method: string; readonly params: readonly unknown[] };
type Asked = Request & { readonly id: number };
export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };
/** `status`: that of HTTP, where the call is no part of a batch. */
type Said = Answer | (Partial<Answer> & { readonly status: number });
/** The effect of a lie: `undefined` hangs; `forward` asks the real node. */
export type Lie = (
  request: Request,
  forward: () => Promise<Answer>,
) => Promise<Said | undefined> | Said | undefined;

/** The answer of a real node. */
export async function answerOf(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  return (await (await fetch(rpcUrl, { method: 'POST', headers, body })).json()) as Answer;
}

/** A node that answers as `lie` says, each request of a batch by itself. */
export function lyingNode(rpcUrl: string, lie: Lie): Promise<TestNode> {
  const told = async (asked: Asked) => {
    const forward = async () => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(asked);
      const real = await fetch(rpcUrl, { method: 'POST', headers, body });
      return (await real.json()) as Answer;
    };
    const said = await lie(asked, forward);
    if (said === undefined) return undefined;
    const { status = 200, ...answer } = said as { status?: number };
    const { jsonrpc: _, ...plain } = answer as { jsonrpc?: string };
    return { status, answer: { jsonrpc: '2.0', ...plain, id: asked.id } };
  };
  return nodeOf(async (text) => {
    const asked = JSON.parse(text) as Asked | Asked[];
    const all = await Promise.all([asked].flat().map(told));
    const answers = all.map((each) => each?.answer);
    // One that hangs holds up its whole batch.
    if (answers.includes(undefined)) return undefined;
    if (Array.isArray(asked)) return { text: JSON.stringify(answers) };
    return { status: all[0]?.status ?? 200, text: JSON.stringify(answers[0]) };
  });
}

/** Makes nodes that are stopped after the test that they were made in. */
export function untilTested<Args extends readonly unknown[]>(
  make: (...args: Args) => Promise<TestNode>,
): (...args: Args) => Promise<TestNode> {
  const made: TestNode[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((each) => each.stop()));
  });
  return async (...args) => {
    const node = await make(...args);
    made.push(node);
    return node;
  };
}

/** The exchanges while this goes on, each by its methods, or by the end of its path. */
export async function exchangedIn(work: () => Promise<unknown>): Promise<string[][]> {
  const heard: string[][] = [];
  const hear = (message: unknown) => {
    const { url, body } = message as Ended;
    const all = [JSON.parse(body ?? '')].flat() as Partial<Request>[];
    const path = url.split('/').at(-1) ?? '';
    heard.push(all.map(({ method = path }) => method).sort());
  };
  exchanges.subscribe(hear);
  try {
    await work();
  } finally {
    exchanges.unsubscribe(hear);
  }
  return heard.sort();
}

/** The address of a node that is stopped with its test. */
export async function within(context: TestContext, making: Promise<TestNode>): Promise<string> {
  const { url, stop } = await making;
  context.after(stop);
  return url;
}
