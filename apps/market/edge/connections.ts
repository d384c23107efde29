// The connections of a process: so many in all, fewer of one client, counted by its IPv4 address or
// IPv6 /64 so that it shuts out no neighbour, some of all in an IPv6 /48, which one customer may
// have, and none whose other side does not read what it is sent. Where they run short, those go
// that have shown no key.

import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Metrics } from '../ports/metrics.ts';
import type { Settings } from '../settings/config.ts';
import { listOf } from '../settings/networks.ts';
import { clientNetwork, networksOf, siteOfClient } from './budgets.ts';
import { createShares, type Share } from './shares.ts';

/** Descriptors that are left for nodes, the database, deliveries of webhooks, and files. */
const reservedDescriptors = 2_000;
export const lookMs = 5_000;
/** It is reset within 30 s: checks come late, and one that comes early does not count. */
export const unreadMs = 20_000;

/** With descriptors enough, and unless PARLEY_CONNECTIONS says so many. */
const mostConnections = 25_000;

/** The share of one site in all connections: 65 536 clients have 200 each. */
const shareOfSite = 1 / 4;

/** A share of all for those that have shown no key; the rest is kept for addresses that did. */
const shareOfStrangers = 3 / 4;
/** How long an address is known after a key was shown from it, and how many are remembered. */
const knownMs = 3_600_000;
const mostKnown = 20_000;
const againMs = 60_000;
/** Beyond the limit, for as long as it takes to let others go. */
const overlap = 100;

/** The limit of one site: a single client never has more than half of it. */
function mostOfSite({ connections, connectionsPerNetwork }: Counted): number {
  const share = Math.floor((connections ?? mostConnections) * shareOfSite);
  return Math.max(share, connectionsPerNetwork * 2);
}

/** How many connections are served with so many descriptors. Throws where fewer than wanted. */
export function connectionsWithin(wanted: number | null, descriptors: number): number {
  // If there are few descriptors, half of them are kept back.
  const there = descriptors - Math.min(reservedDescriptors, Math.ceil(descriptors / 2));
  if (wanted === null) return Math.min(mostConnections, there);
  if (wanted <= there) return wanted;
  const needed = Math.min(wanted + reservedDescriptors, wanted * 2);
  throw new Error(
    `PARLEY_CONNECTIONS=${wanted} needs ${needed} open files, and this process may have` +
      ` ${descriptors}: raise nofile (ulimit -n), or set PARLEY_CONNECTIONS=${there}`,
  );
}

/** How many files this process may have open: `ulimit -n`, where the system has one. */
export function openFiles(): number {
  // The report leaves out the network, which is of no interest here and would ask name servers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/** The limits that tests change. */
export type ConnectionLimits = { readonly lookMs?: number; readonly unreadMs?: number };

type Counted = Pick<Settings, 'connections' | 'connectionsPerNetwork'>;

type Needs = {
  readonly settings: Counted & Pick<Settings, 'trustedProxies'>;
  readonly metrics: Pick<Metrics, 'connectionsDropped'>;
};

type Finished = { readonly request: IncomingMessage; readonly socket: Socket };

export type Connections = {
  /** A key was shown from this address, and it was good. */
  showedKey(address: string): void;
  /**
   * Ends those on which no request is whole. A server that closes waits for them, and checks no
   * limit of Node's any more.
   */
  endIncomplete(): void;
};

/** Sees to it until the server is closed. */
export function limitConnections(
  server: Server,
  { settings, metrics }: Needs,
  limits: ConnectionLimits = {},
): Connections {
  const { connections, connectionsPerNetwork, trustedProxies } = settings;
  const dropped = (why: 'process' | 'network' | 'stranger' | 'unread') =>
    metrics.connectionsDropped.inc({ why });
  const most = connections ?? mostConnections;
  const strangers = createStrangers();
  const known = createKnown();
  const networkOf = networksOf();
  const reading = new Map<Socket, Reading>();
  // Node drops one before it is here: only while there is none to go in its place.
  const makeRoom = () => {
    const isShort = reading.size >= most && strangers.count() > 0;
    server.maxConnections = most + (isShort ? Math.min(overlap, most) : 0);
  };
  makeRoom();
  server.on('drop', () => dropped('process'));
  const proxies = listOf(trustedProxies);
  const counts = createShares();
  const sharesOf = (address: string): Share[] => {
    const site = clientNetwork(address, siteOfClient);
    const own = { name: clientNetwork(address), most: connectionsPerNetwork };
    return own.name === site ? [own] : [own, { name: site, most: mostOfSite(settings) }];
  };
  const letGo = () => {
    const over = reading.size > most || strangers.count() > Math.max(1, most * shareOfStrangers);
    const first = over ? strangers.first() : null;
    if (first === null) return;
    strangers.remove(first);
    reading.delete(first);
    dropped('stranger');
    first.destroy();
  };

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    reading.set(socket, { mark: markOf(socket), looks: 0 });
    // A trusted proxy speaks for many.
    const isProxy = proxies(remoteAddress);
    const { over, release } = counts.take(isProxy ? [] : sharesOf(remoteAddress));
    socket.once('close', () => {
      reading.delete(socket);
      requests.delete(socket);
      strangers.remove(socket);
      release();
      makeRoom();
    });
    if (over === null) {
      const network = clientNetwork(remoteAddress);
      if (!isProxy && !known.has(network)) strangers.add(socket, network);
      letGo();
      makeRoom();
      return;
    }
    dropped('network');
    socket.destroy();
  });
  /** The last request of each, until it is answered; null: it speaks another protocol by now. */
  const requests = new Map<Socket, IncomingMessage | null>();
  server.on('request', (request: IncomingMessage) => {
    const { socket } = request;
    strangers.asked(socket);
    requests.set(socket, request);
  });
  // A listener on each answer took a hundredth of a read.
  const answered = (message: unknown) => {
    const { request, socket } = message as Finished;
    if (requests.get(socket) === request) requests.delete(socket);
  };
  const finished = channel('http.server.response.finish');
  finished.subscribe(answered);
  server.on('upgrade', ({ socket }: IncomingMessage) => requests.set(socket, null));

  const everyMs = limits.lookMs ?? lookMs;
  // Looks are counted and not time: a process that stood still has sent nothing meanwhile.
  const mostLooks = Math.ceil((limits.unreadMs ?? unreadMs) / everyMs);
  const checkAll = () => {
    for (const [socket, last] of reading) {
      const mark = markOf(socket);
      const isTaken = socket.writableLength === 0 || mark !== last.mark;
      const looks = isTaken ? 0 : last.looks + 1;
      reading.set(socket, { mark, looks });
      if (looks < mostLooks) continue;
      dropped('unread');
      // The reset also frees the system's buffers for it.
      socket.resetAndDestroy();
    }
  };
  const checking = setInterval(checkAll, everyMs);
  checking.unref();
  server.once('close', () => {
    clearInterval(checking);
    finished.unsubscribe(answered);
  });
  return {
    showedKey: (address) => {
      const network = networkOf(address);
      if (known.add(network)) strangers.forget(network);
    },
    endIncomplete: () => {
      for (const socket of reading.keys()) {
        const request = requests.get(socket);
        if (request !== null && request?.complete !== true) socket.destroy();
      }
    },
  };
}

/**
 * Connections that have shown no key, by network: which of them goes first where one has to go. The
 * network that holds most of them loses the one that asked for nothing for longest.
 */
function createStrangers() {
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

/** Networks from which a key was shown of late; the one that showed it longest ago goes first. */
function createKnown() {
  const until = new Map<string, number>();
  return {
    /** False: it was added a moment ago. */
    add: (network: string): boolean => {
      const now = performance.now();
      if (now < (until.get(network) ?? 0) - knownMs + againMs) return false;
      until.delete(network);
      const [oldest = ''] = until.keys();
      if (until.size >= mostKnown) until.delete(oldest);
      until.set(network, now + knownMs);
      return true;
    },
    has: (network: string) => performance.now() < (until.get(network) ?? 0),
  };
}

/** The amount that the other side had taken, and how many looks since then found no more taken. */
type Reading = { readonly mark: string; readonly looks: number };

type Handled = { readonly _handle?: { readonly writeQueueSize?: number } | null };

/**
 * Changes when the other side takes something: the handle alone knows how much of a piece under way
 * was taken.
 */
function markOf(socket: Socket): string {
  const underway = (socket as unknown as Handled)._handle?.writeQueueSize ?? 0;
  return `${socket.bytesWritten - socket.writableLength} ${underway}`;
}
