// A market that notes what it is asked: it mints keys, lists two assets and shows a book.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const later = '2099-01-01T00:00:00.000Z';
const asset = (id: string, chain: string, address: string | null, decimals: number) => {
  const listing = { enabled: true, verified: true, status: 'open', symbol: id, name: id };
  return { id, chain, address, decimals, highValueFrom: null, ...listing };
};

/** Answers `price` at `/price`. `frames` reach each connection after its first frame. */
export async function fakeMarket(agreements: readonly object[] = []) {
  const asked: string[] = [];
  const greetings: Record<string, unknown>[] = [];
  const state = { price: '60000', frames: [] as object[], isRefusing: false };
  const answers: Readonly<Record<string, (url: URL) => unknown>> = {
    'GET /v1/keys/nonce': () => ({ nonce: 'n1', expiresAt: later }),
    'POST /v1/keys': () => ({ id: 'k', key: 'parley_dev_key', expiresAt: later, replaced: false }),
    'GET /v1/me': () => ({ userId: 'me', scopes: ['read', 'maker'], wallets: {} }),
    'GET /market/assets': ({ searchParams }) => {
      const address = searchParams.get('address');
      const found =
        searchParams.get('chain') === 'bitcoin'
          ? asset('id-btc', 'bitcoin', null, 8)
          : asset('id-usdc', 'ethereum', address, 6);
      return { assets: [found], nextCursor: null };
    },
    'GET /market/pairs/price': () => ({ agreements, median: null, windowSeconds: 86_400 }),
    'GET /price': () => state.price,
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const what = `${request.method} ${url.pathname}`;
    asked.push(what);
    if (state.isRefusing) {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end('{"error":"the account is refused"}');
      return;
    }
    const answer = answers[what]?.(url);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      greetings.push(JSON.parse(data.toString()) as Record<string, unknown>);
      if (greetings.length > 1) return;
      for (const frame of state.frames) socket.send(JSON.stringify(frame));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    greetings,
    state,
    close: async () => {
      for (const each of sockets.clients) each.terminate();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
