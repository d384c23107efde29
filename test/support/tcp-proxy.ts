// A way to a TCP server that a test can cut, hold up and point elsewhere.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type TcpProxy = {
  readonly port: number;
  /** From now on connections go to this port; null = they are ended at once. */
  pointTo(port: number | null): void;
  /** Ends every connection without a word. */
  cut(): void;
  /** Nothing comes through, and nobody is told. */
  hold(held: boolean): void;
  close(): Promise<void>;
};

export async function tcpProxy(port: number | null): Promise<TcpProxy> {
  let target = port;
  let held = false;
  const pairs = new Set<[Socket, Socket]>();
  const server = createServer((client) => {
    client.on('error', () => {});
    if (target === null) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    upstream.on('error', () => {});
    const pair: [Socket, Socket] = [client, upstream];
    pairs.add(pair);
    for (const [one, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      one.pipe(other);
      one.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
      if (held) one.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const pair of pairs) for (const each of pair) each.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    pointTo: (next) => {
      target = next;
    },
    cut,
    hold: (wanted) => {
      held = wanted;
      for (const pair of pairs) {
        for (const each of pair) {
          if (held) each.pause();
          else each.resume();
        }
      }
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
