// Who may ask how often. A bucket is a fixed window that opens with its first request: one an
// account with all its keys, one a client address without a key, one a client address for mints.
// In memory: a restart opens every window afresh. Instants in milliseconds.

import { isIPv6 } from 'node:net';
import type { Settings } from '../config.ts';

export const windowSeconds = 60;
const mintWindowSeconds = 3_600;
// 100 000 buckets are about 15 MB. A full set first drops windows that ended, then the oldest.
const capacity = 100_000;

type Bucket = { endsAt: number; used: number };

export type Spent = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

export type Budgets = {
  spendCaller(caller: { keyId: string; accountId: string }): Spent;
  spendClient(ip: string): Spent;
  /** One attempt to mint a key from this address. */
  spendMint(ip: string): Spent;
};

export function createBudgets(
  settings: Pick<Settings, 'rateLimit' | 'mintLimit'>,
  now: () => number,
  most: number = capacity,
): Budgets {
  const accounts = new Map<string, Bucket>();
  const clients = new Map<string, Bucket>();
  const mints = new Map<string, Bucket>();
  const window = windowSeconds * 1_000;
  const mintWindow = mintWindowSeconds * 1_000;
  const { rateLimit, mintLimit } = settings;
  return {
    // A key's own bucket is as large as its account's, and whatever it spends is spent from both,
    // so it is never the tighter of the two: the account's alone is kept.
    spendCaller: ({ accountId }) => spend(accounts, accountId, now(), window, rateLimit, most),
    spendClient: (ip) => spend(clients, clientNetwork(ip), now(), window, rateLimit, most),
    spendMint: (ip) => spend(mints, clientNetwork(ip), now(), mintWindow, mintLimit, most),
  };
}

function spend(
  buckets: Map<string, Bucket>,
  name: string,
  at: number,
  windowMs: number,
  limit: number,
  most: number,
): Spent {
  const bucket = bucketOf(buckets, name, at, windowMs, most);
  const allowed = bucket.used < limit;
  if (allowed) bucket.used += 1;
  return {
    allowed,
    limit,
    remaining: limit - bucket.used,
    resetSeconds: Math.max(1, Math.ceil((bucket.endsAt - at) / 1_000)),
  };
}

function bucketOf(
  buckets: Map<string, Bucket>,
  name: string,
  at: number,
  windowMs: number,
  most: number,
): Bucket {
  const known = buckets.get(name);
  if (known !== undefined) {
    // A clock set back must not lengthen a window.
    if (at >= known.endsAt || known.endsAt - at > windowMs) {
      known.endsAt = at + windowMs;
      known.used = 0;
    }
    return known;
  }
  if (buckets.size >= most) makeRoom(buckets, at);
  const bucket = { endsAt: at + windowMs, used: 0 };
  buckets.set(name, bucket);
  return bucket;
}

/** Drops ended windows; when none has ended, the oldest tenth. */
function makeRoom(buckets: Map<string, Bucket>, at: number): void {
  const before = buckets.size;
  for (const [name, bucket] of buckets) if (at >= bucket.endsAt) buckets.delete(name);
  if (buckets.size < before) return;
  let surplus = Math.ceil(before / 10);
  for (const name of buckets.keys()) {
    if (surplus === 0) return;
    buckets.delete(name);
    surplus -= 1;
  }
}

/** What one client is counted by: its IPv4 address, or the /64 that one IPv6 customer gets. */
export function clientNetwork(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped) return mapped[1] as string;
  if (!isIPv6(ip)) return ip.slice(0, 64);
  const [left = '', right] = (ip.split('%')[0] as string).split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const gap = right === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array<string>(gap).fill('0'), ...tail].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
