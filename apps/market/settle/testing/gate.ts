// A node that stops answering when a test says so: a plain proxy before the real one.

import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HangingNode = {
  /** The node's URL through the proxy. */
  readonly url: string;
  /** From now on requests whose body matches are taken and never answered; null = none. */
  hang(which: RegExp | null): void;
  close(): Promise<void>;
};

export async function hangingNode(target: string): Promise<HangingNode> {
  const to = new URL(target);
  let hanging: RegExp | null = null;
  const held = new Set<ServerResponse>();
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      if (hanging?.test(body.toString())) {
        held.add(outgoing);
        return;
      }
      const { hostname, port } = to;
      const { method, url, headers } = incoming;
      const path = to.pathname === '/' ? url : to.pathname + (url === '/' ? '' : url);
      const onward = request({ hostname, port, path, method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(target);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href.replace(/\/$/, ''),
    hang: (which) => {
      hanging = which;
      if (which !== null) return;
      for (const each of held) each.destroy();
      held.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
