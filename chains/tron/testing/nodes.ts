// Bad TRON nodes for tests: one that never answers, and one that stands before another node and
// changes what it says.

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

export type Asked = { readonly path: string; readonly body: Record<string, unknown> };
/** A status and a body; a text is sent as it is. */
export type Said = { readonly status?: number; readonly body: unknown };
/** What a lie does: `undefined` hangs; `forward` asks the real node. */
export type Lie = (
  asked: Asked,
  forward: () => Promise<Said>,
) => Promise<Said | undefined> | Said | undefined;

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

/** A node that answers as `lie` says; `url` is the real node's. */
export function lyingNode(url: string, lie: Lie): Promise<TestNode> {
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const path = (request.url ?? '').slice(1);
    const forward = async (): Promise<Said> => {
      const real = await fetch(`${url}/${path}`, { method: 'POST', body: text });
      const said = await real.text();
      // A path that is not served is answered with a page.
      return { status: real.status, body: real.ok ? JSON.parse(said) : said };
    };
    // A test may stop the real node while it is still asked.
    const asked = { path, body: JSON.parse(text) };
    const said = await Promise.resolve(lie(asked, forward)).catch(() => undefined);
    if (said === undefined) return;
    response.writeHead(said.status ?? 200, { 'content-type': 'application/json' });
    response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
  });
  return listen(server);
}
