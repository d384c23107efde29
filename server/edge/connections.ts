// The connections of a process: so many in all, fewer of one client, counted by its IPv4 address or
// IPv6 /64 so that it shuts out no neighbour, and none whose other side does not read what it is
// sent.

import type { Server, Socket } from 'node:net';
import type { Settings } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import { listOf } from '../networks.ts';
import { clientNetwork } from './budgets.ts';

/** Descriptors that are left for nodes, the database, deliveries of webhooks, and files. */
export const reservedDescriptors = 2_000;
const lookMs = 5_000;
/** With the time between two looks 30 s. */
const unreadMs = 25_000;

/** With descriptors enough, and unless PARLEY_CONNECTIONS says so many. */
export const mostConnections = 25_000;

/** How many connections are served with so many descriptors. Throws where fewer than wanted. */
export function connectionsWithin(wanted: number | null, descriptors: number): number {
  // Of few, half are kept back.
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
  // Of no interest here, and it would ask name servers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/** What tests change. */
export type ConnectionLimits = { readonly lookMs?: number; readonly unreadMs?: number };

type Needs = {
  readonly settings: Pick<Settings, 'connections' | 'connectionsPerNetwork' | 'trustedProxies'>;
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
  server.maxConnections = connections ?? mostConnections;
  server.on('drop', () => dropped('process'));
  const proxies = listOf(trustedProxies);
  const counts = new Map<string, number>();
  const reading = new Map<Socket, Reading>();

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '', remoteFamily } = socket;
    reading.set(socket, { mark: markOf(socket), at: performance.now() });
    // A trusted proxy speaks for many.
    const family = remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4';
    const network = proxies.check(remoteAddress, family) ? null : clientNetwork(remoteAddress);
    const there = network === null ? 0 : (counts.get(network) ?? 0) + 1;
    if (network !== null) counts.set(network, there);
    socket.once('close', () => {
      reading.delete(socket);
      if (network === null) return;
      const left = (counts.get(network) as number) - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
    if (there <= connectionsPerNetwork) return;
    dropped('network');
    socket.destroy();
  });

  const look = () => {
    const now = performance.now();
    for (const [socket, last] of reading) {
      const mark = markOf(socket);
      if (socket.writableLength === 0 || mark !== last.mark) {
        reading.set(socket, { mark, at: now });
      } else if (now - last.at >= (limits.unreadMs ?? unreadMs)) {
        dropped('unread');
        // What the system holds for it goes as well.
        socket.resetAndDestroy();
      }
    }
  };
  const looking = setInterval(look, limits.lookMs ?? lookMs);
  looking.unref();
  server.once('close', () => clearInterval(looking));
}

/** What the other side had taken, and when that was last found to be so, or nothing waited. */
type Reading = { readonly mark: string; readonly at: number };

type Handled = { readonly _handle?: { readonly writeQueueSize?: number } | null };

/** Changes when the other side takes something: of a piece under way the handle alone knows. */
function markOf(socket: Socket): string {
  const underway = (socket as unknown as Handled)._handle?.writeQueueSize ?? 0;
  return `${socket.bytesWritten - socket.writableLength} ${underway}`;
}
