// One address for the three ports of a java-tron, as gateways have it: the dev network names one
// address for each chain.

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loopback } from '../processes.ts';

export type Door = { readonly url: string; close(): Promise<void> };

/** `portOf`: by the first part of a path; another path is the wallet's. */
export async function oneDoor(portOf: Readonly<Record<string, number>>): Promise<Door> {
  const server = createServer((asked, answer) => {
    const [, room = ''] = (asked.url ?? '/').split(/[/?]/);
    const port = portOf[room] ?? portOf.wallet;
    const { method, url: path, headers } = asked;
    const to = { host: loopback, port, method, path, headers };
    const onward = request(
      { ...to, headers: { ...headers, host: `${loopback}:${port}` } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, loopback, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://${loopback}:${port}`, close };
}
