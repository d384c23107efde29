// The runner of tests lends processes what it has: each asks by a connection to a socket, whose first
// line is the answer (verify/test/runner/clusters.ts, browser.ts).

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** @throws Error with `lacking` where the socket ends without an answer */
export async function ask(
  path: string,
  lacking: string,
): Promise<{ readonly answer: string; readonly socket: Socket }> {
  const socket = connect(path);
  const [answer] = await Promise.race([
    once(createInterface(socket), 'line'),
    once(socket, 'close').then(() => {
      throw new Error(lacking);
    }),
  ]);
  return { answer, socket };
}
