// The connections of a process: so many in all, fewer of one client, counted by its IPv4 address or
// IPv6 /64 so that it shuts out no neighbour, some of all in an IPv6 /48, which one customer may
// have, and none whose other side does not read what it is sent.

import type { Server, Socket } from 'node:net';
import type { Metrics } from '../ports/metrics.ts';
import type { Settings } from '../settings/config.ts';
import { listOf } from '../settings/networks.ts';
import { clientNetwork, siteOfClient } from './budgets.ts';
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

/** Sees to it until the server is closed. */
export function limitConnections(
  server: Server,
  { settings, metrics }: Needs,
  limits: ConnectionLimits = {},
): void {
  const { connections, connectionsPerNetwork, trustedProxies } = settings;
  const dropped = (why: 'process' | 'network' | 'unread') =>
    metrics.connectionsDropped.inc({ why });
  const reading = new Map<Socket, Reading>();
  server.maxConnections = connections ?? mostConnections;
  server.on('drop', () => dropped('process'));
  const proxies = listOf(trustedProxies);
  const counts = createShares();
  const sharesOf = (address: string): Share[] => {
    const site = clientNetwork(address, siteOfClient);
    const own = { name: clientNetwork(address), most: connectionsPerNetwork };
    return own.name === site ? [own] : [own, { name: site, most: mostOfSite(settings) }];
  };

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    reading.set(socket, { mark: markOf(socket), at: performance.now() });
    // A trusted proxy speaks for many.
    const shares = proxies(remoteAddress) ? [] : sharesOf(remoteAddress);
    const { over, release } = counts.take(shares);
    socket.once('close', () => {
      reading.delete(socket);
      release();
    });
    if (over === null) return;
    dropped('network');
    socket.destroy();
  });

  const checkAll = () => {
    const now = performance.now();
    for (const [socket, last] of reading) {
      const mark = markOf(socket);
      if (socket.writableLength === 0 || mark !== last.mark) {
        reading.set(socket, { mark, at: now });
      } else if (now - last.at >= (limits.unreadMs ?? unreadMs)) {
        dropped('unread');
        // The reset also frees the system's buffers for it.
        socket.resetAndDestroy();
      }
    }
  };
  const checking = setInterval(checkAll, limits.lookMs ?? lookMs);
  checking.unref();
  server.once('close', () => clearInterval(checking));
}

/**
 * The amount that the other side had taken, and when that was last found to be so, or all was sent.
 */
type Reading = { readonly mark: string; readonly at: number };

type Handled = { readonly _handle?: { readonly writeQueueSize?: number } | null };

/**
 * Changes when the other side takes something: the handle alone knows how much of a piece under way
 * was taken.
 */
function markOf(socket: Socket): string {
  const underway = (socket as unknown as Handled)._handle?.writeQueueSize ?? 0;
  return `${socket.bytesWritten - socket.writableLength} ${underway}`;
}
