// Between a proxy and the market: counts the requests that are marked. Where it is deadly, such a
// request has its effect, and the connection ends in place of the answer.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A header that proxies pass on. */
export const mark = 'x-soak-mark';

export type Tap = {
  readonly port: number;
  /** Requests with this mark that came. */
  seen(name: string): number;
  /** Takes requests, and passes on no answer: as a market that hangs. */
  mute(): void;
  close(): Promise<void>;
};

export async function openTap(to: number, isDeadly = false): Promise<Tap> {
  const seen = new Map<string, number>();
  const sockets = new Set<Socket>();
  let isMute = false;
  const server = createServer((from) => {
    const upstream = connect(to, '127.0.0.1');
    let isDying = false;
    for (const each of [from, upstream]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => {
        sockets.delete(each);
        from.destroy();
        upstream.destroy();
      });
    }
    from.on('data', (chunk: Buffer) => {
      // A head comes in one piece: proxies write it at once.
      const marked = new RegExp(`${mark}: (\\S+)`, 'gi');
      for (const [, name = ''] of chunk.toString('latin1').matchAll(marked)) {
        seen.set(name, (seen.get(name) ?? 0) + 1);
        isDying = isDeadly;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (isDying) from.destroy();
      else if (!isMute) from.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen: (name) => seen.get(name) ?? 0,
    mute: () => {
      isMute = true;
    },
    close: async () => {
      for (const each of sockets) each.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
