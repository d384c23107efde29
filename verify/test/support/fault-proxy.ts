// A way to a TCP server that may be cut, be held up, be closed for a while, and lead to another one.
// It alters no byte.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type FaultProxy = {
  readonly port: number;
  /** Ends the connections that are there. */
  cut(): void;
  /** The same, and takes no new ones until `heal`. */
  fail(): void;
  /** Reads nothing of either side until `heal`: neither is told. */
  hold(): void;
  heal(): void;
  /** From the next connection on; those that are there are ended. */
  pointTo(port: number): void;
  close(): Promise<void>;
};

export async function faultProxy(first: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let to = first;
  let isDown = false;
  let isHeld = false;
  const ways = new Set<readonly [Socket, Socket]>();
  const flow = ([client, upstream]: readonly [Socket, Socket]) => {
    client.pipe(upstream).pipe(client);
  };
  const server = createServer((client) => {
    client.on('error', () => {});
    if (isDown) {
      client.destroy();
      return;
    }
    const upstream = connect(to, '127.0.0.1').on('error', () => {});
    const way = [client, upstream] as const;
    ways.add(way);
    for (const each of way) {
      sockets.add(each);
      each.on('close', () => {
        sockets.delete(each);
        ways.delete(way);
        client.destroy();
        upstream.destroy();
      });
    }
    if (!isHeld) flow(way);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const each of sockets) each.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    fail: () => {
      isDown = true;
      cut();
    },
    hold: () => {
      isHeld = true;
      for (const [client, upstream] of ways) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
    },
    heal: () => {
      isDown = false;
      if (!isHeld) return;
      isHeld = false;
      for (const way of ways) flow(way);
    },
    pointTo: (port) => {
      to = port;
      cut();
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
