// The one way to Valkey or Redis: a connection that comes back by itself and never queues what it
// cannot send.

import { isIP } from 'node:net';
import { Redis } from 'iovalkey';
import { parseValkeyUrl } from '../settings/networks.ts';

export type Valkey = Redis;

const connectLimitMs = 2_000;
const silenceLimitMs = 3_000;
const disconnectLimitMs = 100;
const reconnectFirstMs = 100;
const reconnectMostMs = 5_000;
const keepAliveMs = 10_000;

/** Connects in the background; a command without a connection fails at once. */
export function connectValkey(url: string): Valkey {
  const address = parseValkeyUrl(url);
  if (address === null) throw new Error('VALKEY_URL is not an address of Valkey or Redis');
  const { host, port, tls, username, password, database } = address;
  const client = new Redis({
    host,
    port,
    db: database,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
    connectionName: 'parley',
    connectTimeout: connectLimitMs,
    // A peer that is silent: given up, and tried again.
    socketTimeout: silenceLimitMs,
    disconnectTimeout: disconnectLimitMs,
    keepAlive: keepAliveMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    retryStrategy: (attempt) => Math.min(reconnectFirstMs * 2 ** (attempt - 1), reconnectMostMs),
    // A primary that became a replica: its name may lead to the new one by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  // The caller of a command hears of the error; unheard, the event would be printed.
  client.on('error', () => {});
  return client;
}

/** A word that is safe to log: an error of the client may quote the password. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code;
  const word = /^[A-Z]{2,20}\b/.exec(String(message))?.[0];
  return word ?? (error instanceof Error ? error.name : 'unknown');
}
