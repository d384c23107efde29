// Listening on loopback, and nothing else, at a port that stays the same from one run to the next
// where it is free.

import type { AddressInfo, Server } from 'node:net';
import { DevnetError } from '../../host/failure.ts';
import { loopback } from '../processes.ts';

/** `fixed`: somebody chose it; `kept`: what the last run had. */
export type WantedPort = { readonly fixed?: number; readonly kept?: number };

export async function listenOnLoopback(server: Server, wanted: WantedPort): Promise<number> {
  const { fixed = 0, kept = 0 } = wanted;
  if (fixed > 0) {
    return listen(server, fixed).catch((cause: unknown) => {
      throw new DevnetError(`port ${fixed} of ${loopback} cannot be listened on`, {}, { cause });
    });
  }
  return kept > 0 ? listen(server, kept).catch(() => listen(server, 0)) : listen(server, 0);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, loopback, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
