// Servers of the dev network: where they listen, and how they end.

import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { loopback } from './processes.ts';

/** At the port that the last run had, where it is free. */
export async function listenOnLoopback(server: Server, kept = 0): Promise<number> {
  return listen(server, loopback, kept).catch(() => listen(server, loopback, 0));
}

/** The port. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** At once, whoever is connected. */
export function closeServer(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
