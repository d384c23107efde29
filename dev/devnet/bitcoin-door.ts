// The dev chain's bitcoind for pages, which a Core node never answers: reading and sending alone,
// and for pages of this machine alone. A node's other methods write files.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenOnLoopback } from './listening.ts';

/** The methods that the SDK calls on a Core node. */
const methods: ReadonlySet<string> = new Set([
  'estimatesmartfee',
  'getbestblockhash',
  'getblock',
  'getblockchaininfo',
  'getblockcount',
  'getblockhash',
  'getblockheader',
  'getmempoolentry',
  'getmempoolinfo',
  'getrawmempool',
  'getrawtransaction',
  'gettxout',
  'gettxspendingprevout',
  'scantxoutset',
  'sendrawtransaction',
]);
const mostBytes = 4_194_304;
const limitMs = 60_000;
// A saved rescue page has the origin `null`. The node's password keeps the others with it out.
const ownPages = /^(?:null|https?:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?)$/;

export type Door = {
  /** With the node's user and password, as the node's own URL has them. */
  readonly url: string;
  close(): Promise<void>;
};

/** `rpcUrl`: the node's, with its user and password. `wanted`: the port, where it is free. */
export async function openDoor(rpcUrl: string, wanted: number): Promise<Door> {
  const { origin, username, password } = new URL(rpcUrl);
  const server = createServer((request, response) => {
    answer(origin, request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server, wanted);
  return {
    url: `http://${username}:${password}@127.0.0.1:${port}`,
    close: () => closeServer(server),
  };
}

async function answer(node: string, request: IncomingMessage, response: ServerResponse) {
  const { origin, authorization = '' } = request.headers;
  const end = (status: number) => void response.writeHead(status).end();
  if (origin === undefined || !ownPages.test(origin)) return end(403);
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-headers', 'authorization, content-type');
  response.setHeader('access-control-max-age', '600');
  response.setHeader('vary', 'origin');
  if (request.method === 'OPTIONS') return end(204);
  if (request.method !== 'POST' || request.url !== '/') return end(404);
  const body = await bodyOf(request);
  if (body === null) return end(413);
  if (!isAllowed(body)) return end(403);
  const headers = { authorization, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(limitMs);
  const answered = await fetch(node, { method: 'POST', headers, body, signal });
  response.writeHead(answered.status, { 'content-type': 'application/json' });
  response.end(await answered.text());
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** One call, or several at once. */
function isAllowed(body: string): boolean {
  try {
    const calls: unknown = JSON.parse(body);
    const all = Array.isArray(calls) ? calls : [calls];
    return all.every((each: { method?: unknown }) => methods.has(String(each.method)));
  } catch {
    return false;
  }
}
