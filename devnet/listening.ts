// Servers of the dev network: where they listen, and how they end.

import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { DevnetError } from '../host/failure.ts';
import { loopback } from './processes.ts';

/** `fixed`: somebody chose it; `kept`: what the last run had. */
export type WantedPort = { readonly fixed?: number; readonly kept?: number };

/** At a port that stays the same from one run to the next where it is free. */
export async function listenOnLoopback(server: Server, wanted: WantedPort): Promise<number> {
  const { fixed = 0, kept = 0 } = wanted;
  if (fixed > 0) {
    return listen(server, loopback, fixed).catch((cause: unknown) => {
      throw new DevnetError(`port ${fixed} of ${loopback} cannot be listened on`, {}, { cause });
    });
  }
  const any = () => listen(server, loopback, 0);
  return kept > 0 ? listen(server, loopback, kept).catch(any) : any();
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
