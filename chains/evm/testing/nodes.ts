// Bad nodes for tests: one that never answers, and one that stands before a real node and changes
// what it says.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TestNode = { readonly url: string; stop(): Promise<void> };

function listen(server: Server): Promise<TestNode> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const stop = () =>
        new Promise<void>((done) => {
          server.closeAllConnections();
          server.close(() => done());
        });
      resolve({ url: `http://127.0.0.1:${port}`, stop });
    });
  });
}

/** Takes every request and answers none. */
export function hangingNode(): Promise<TestNode> {
  return listen(createServer(() => {}));
}

export type Request = { readonly method: string; readonly params: readonly unknown[] };
/** What a lie does: `undefined` hangs; `forward` asks the real node. */
export type Lie = (
  request: Request,
  forward: () => Promise<Answer>,
) => Promise<Answer | undefined> | Answer | undefined;
export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

async function body(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

type Asked = Request & { readonly id: number };

/** undefined where it hangs. */
async function told(rpcUrl: string, lie: Lie, asked: Asked): Promise<object | undefined> {
  const forward = async () => {
    const headers = { 'content-type': 'application/json' };
    const real = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(asked) });
    return (await real.json()) as Answer;
  };
  // A test may stop the real node while it is still asked.
  const answer = await Promise.resolve(lie(asked, forward)).catch(() => undefined);
  if (answer === undefined) return undefined;
  const plain = 'error' in answer ? { error: answer.error } : { result: answer.result };
  return { jsonrpc: '2.0', id: asked.id, ...plain };
}

/** A node that answers as `lie` says, each request of a batch by itself. */
export function lyingNode(rpcUrl: string, lie: Lie): Promise<TestNode> {
  const server = createServer(async (request, response) => {
    const text = await body(request);
    const asked = JSON.parse(text) as Asked | Asked[];
    const answers = await Promise.all([asked].flat().map((each) => told(rpcUrl, lie, each)));
    // One that hangs holds up its whole batch.
    if (answers.includes(undefined)) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
  });
  return listen(server);
}
