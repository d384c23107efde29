// Connections that have shown no key, by network: which of them goes first where one has to go. The
// network that holds most of them loses the one that asked for nothing for longest.

import type { Socket } from 'node:net';

export type Strangers = ReturnType<typeof createStrangers>;

export function createStrangers() {
  const networks = new Map<Socket, string>();
  /** Those of each network, the one idle for longest first. */
  const held = new Map<string, Set<Socket>>();
  /** Networks by how many they hold, so that the most is found at once. */
  const bySize = new Map<number, Set<string>>();
  let most = 0;
  const moved = (network: string, from: number, to: number) => {
    bySize.get(from)?.delete(network);
    if (to > 0) bySize.set(to, (bySize.get(to) ?? new Set()).add(network));
    most = Math.max(most, to);
    while (most > 0 && (bySize.get(most)?.size ?? 0) === 0) {
      bySize.delete(most);
      most -= 1;
    }
  };
  const remove = (socket: Socket) => {
    const network = networks.get(socket);
    const sockets = network === undefined ? undefined : held.get(network);
    if (network === undefined || sockets === undefined) return;
    networks.delete(socket);
    sockets.delete(socket);
    if (sockets.size === 0) held.delete(network);
    moved(network, sockets.size + 1, sockets.size);
  };
  const add = (socket: Socket, network: string) => {
    const sockets = held.get(network) ?? new Set();
    held.set(network, sockets.add(socket));
    networks.set(socket, network);
    moved(network, sockets.size - 1, sockets.size);
  };
  return {
    add,
    remove,
    /** It has asked for something: it is idle from now on. */
    asked: (socket: Socket) => {
      const network = networks.get(socket);
      if (network === undefined) return;
      remove(socket);
      add(socket, network);
    },
    /** All of a network, which has shown a key. */
    forget: (network: string) => {
      for (const socket of held.get(network) ?? []) remove(socket);
    },
    count: () => networks.size,
    /** Null: there is none. */
    first: (): Socket | null => {
      const [network = ''] = bySize.get(most) ?? [];
      const [socket] = held.get(network) ?? [];
      return socket ?? null;
    },
  };
}
