// A node of a chain behind a secret in its URL, which tells a test all that it is asked, and which
// the test lets refuse with that, or break.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `no estimates`: each is refused, and quoted whole. */
type Manner = 'serve' | 'echo' | 'fail' | 'no estimates';

export type GuardedNode = { readonly url: string; manner: Manner; close(): void };

const estimates = new RegExp(
  '"(eth_estimateGas|eth_createAccessList|simulateTransaction|testmempoolaccept)"|' +
    // With state that is lent.
    '"eth_call","params":\\[\\{[^}]*\\},"latest",\\{',
);

/**
 * `secret` names each secret that the URL holds, and makes it where none is given; `hears` is told
 * path and body of each request.
 */
export async function guardedNode(
  rpcUrl: string,
  guard: 'login' | 'path',
  secret: (what: string, value?: string) => string,
  hears: (asked: string) => void = () => {},
): Promise<GuardedNode> {
  const path = guard === 'path' ? `/v3/${secret('path of a node')}` : '';
  const own = guard === 'path' ? '' : `${secret('user of a node')}:${secret('password of a node')}`;
  if (own !== '') secret('login of a node', Buffer.from(own).toString('base64'));
  const to = new URL(rpcUrl);
  const login = Buffer.from(`${to.username}:${to.password}`).toString('base64');
  to.username = '';
  to.password = '';
  const node = { url: '', manner: 'serve' as Manner, close: () => {} };
  const answer = async (request: IncomingMessage, reply: ServerResponse) => {
    let body = '';
    for await (const part of request) body += part;
    const headers = { 'content-type': 'application/json' };
    if (node.manner === 'fail') {
      reply.writeHead(500, headers).end(`failed ${request.url} ${request.headers.authorization}`);
      return;
    }
    // Beyond the guard: java-tron's API is a path for each call.
    const rest = (request.url ?? '').slice(path.length);
    hears(`${rest} ${body}`);
    const sends =
      /"(eth_sendRawTransaction|sendrawtransaction|testmempoolaccept|sendTransaction)"/.test(
        body,
      ) || rest === '/wallet/broadcasthex';
    if (node.manner === 'echo' && sends) {
      const { id } = JSON.parse(body) as { id?: number };
      // The end of it: of long words only the beginning is kept.
      const error = { code: -26, message: `refused: ${body.slice(-400)}` };
      const message = Buffer.from(error.message).toString('hex');
      const said =
        rest === '' || rest === '/'
          ? { jsonrpc: '2.0', id, error }
          : { result: false, code: 'SIGERROR', message };
      reply.writeHead(200, headers).end(JSON.stringify(said));
      return;
    }
    if (node.manner === 'no estimates' && (estimates.test(body) || /estimateenergy/.test(rest))) {
      const { id } = JSON.parse(body) as { id?: number };
      const error = { code: -32_000, message: `no estimates here, not of ${body}` };
      reply.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      return;
    }
    const authorization = `Basic ${login}`;
    const served = await fetch(new URL(`${to.pathname}${rest}`.replace('//', '/'), to), {
      method: 'POST',
      headers: { ...headers, authorization },
      body,
    });
    reply.writeHead(served.status, headers).end(Buffer.from(await served.arrayBuffer()));
  };
  const server = createServer((request, reply) => {
    answer(request, reply).catch(() => reply.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  node.url = `http://${own === '' ? '' : `${own}@`}127.0.0.1:${port}${path}`;
  node.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return node;
}
