// Who may ask how often. A bucket is a fixed window that opens with its first request: one a key
// and one that an account's keys share, one a client address without a key, one a client network
// for mints; some costly operations have one an account beside. A larger one of a client network
// counts calls with and without keys, however many accounts make them, as far as their own buckets
// allow them: what one stranger is refused takes nothing from its neighbours. Where they are kept:
// memory-buckets.ts, valkey-buckets.ts.

import { isIPv4, isIPv6 } from 'node:net';
import type { Settings } from '../settings/config.ts';

export const windowSeconds = 60;
export const mintWindowSeconds = 3_600;
export const listingWindowSeconds = 3_600;
export const signInWindowSeconds = 3_600;
export const changeWindowSeconds = 3_600;
/**
 * Passkeys and payout wallets that an account adds in a window: its person is told of each, and
 * whoever stole a session would drown in such messages what matters.
 */
export const changeLimit = 30;
/** Checks of signed refunds that an account may ask for in a minute: each costs 0.2 s of a core. */
export const scheduleLimit = 20;
/** Relays of one account that are refused in a window: looking at each reads chains. */
export const refusedRelays = 20;
/** Requests on an open swap that a party keeps beyond its budget, in a window (reserve.ts). */
export const swapLimit = 60;
/**
 * The same, of a party's swaps and broadcasts together: five swaps' worth. Swaps cost nothing to
 * agree on, so without it an account would have as many requests as it opens swaps for.
 */
export const partyLimit = 300;
/** Looks in a window whether an account is a party of an open swap that found that it is not. */
export const strangerLimit = 60;
/** How often each of the sockets that an address may have can be opened anew in a window. */
const openingsOfEach = 10;

export type Whose = 'key' | 'account' | 'address' | 'network';

/** A decision, and the tighter of the buckets that it asked. */
export type Spent = {
  readonly allowed: boolean;
  /** Refused: whose bucket is out; the account's where the key's is as well. */
  readonly whose: Whose;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

/** At once where the buckets are in memory, so that a read waits for nothing. */
export type Soon<T> = T | Promise<T>;

export type Budgets = {
  spendCaller(caller: { keyId: string; accountId: string }, ip: string): Soon<Spent>;
  spendClient(ip: string): Soon<Spent>;
  /** One attempt to mint a key from this client network. */
  spendMint(ip: string): Soon<Spent>;
  /** One step of a sign-in from this client network. */
  spendSignIn(ip: string): Soon<Spent>;
  /** One passkey or payout wallet that is added to this account. */
  spendChange(accountId: string): Soon<Spent>;
  /** One token that this account asks to have listed. */
  spendListing(accountId: string): Soon<Spent>;
  /** Takes that back: it was asked for in vain. */
  giveBackListing(accountId: string): Soon<void>;
  /** One check of signed refunds for this account. */
  spendSchedule(accountId: string): Soon<Spent>;
  /** One claim that this account asks to have relayed; given back once it is taken on. */
  spendRelay(accountId: string): Soon<Spent>;
  giveBackRelay(accountId: string): Soon<void>;
  /** One request of a party beyond its budget, on this part of the API, and of all parts. */
  spendReserve(accountId: string, part: string): Soon<Spent>;
  /** One look whether this account is a party; given back where it is. */
  spendStranger(accountId: string): Soon<Spent>;
  giveBackStranger(accountId: string): Soon<void>;
  /** One socket opened from this address. */
  spendSocket(ip: string): Soon<Spent>;
};

export const ruleNames = [
  'calls',
  'changes',
  'clients',
  'listings',
  'mints',
  'networks',
  'parties',
  'relays',
  'reserves',
  'schedules',
  'sign-ins',
  'sockets',
  'strangers',
] as const;

/** How much in how long. Buckets of one name are kept together. */
export type Rule = {
  readonly name: (typeof ruleNames)[number];
  readonly limit: number;
  readonly windowMs: number;
};

/** What a bucket has given, and how long its window still is. */
export type Bucket = { readonly used: number; readonly leftMs: number };
export type Tally = { readonly allowed: boolean; readonly buckets: readonly Bucket[] };

export type Buckets = {
  /** One from each bucket, one or two; where one of them is out, from none. */
  spend(rule: Rule, names: readonly string[]): Soon<Tally>;
  /** One to each of the buckets of a decision whose window is still open and that has given one. */
  giveBack(rule: Rule, names: readonly string[]): Soon<void>;
};

export type BudgetSettings = Pick<
  Settings,
  | 'rateLimit'
  | 'rateLimitPerNetwork'
  | 'mintLimit'
  | 'signInLimit'
  | 'listingLimit'
  | 'feedSocketsPerIp'
  | 'clientPrefixes'
>;

export function createBudgets(settings: BudgetSettings, buckets: Buckets): Budgets {
  const window = { limit: settings.rateLimit, windowMs: windowSeconds * 1_000 };
  const calls: Rule = { name: 'calls', ...window };
  const clients: Rule = { name: 'clients', ...window };
  const networks: Rule = { ...window, name: 'networks', limit: settings.rateLimitPerNetwork };
  const reserves: Rule = { ...window, name: 'reserves', limit: swapLimit };
  const parties: Rule = { ...window, name: 'parties', limit: partyLimit };
  const strangers: Rule = { ...window, name: 'strangers', limit: strangerLimit };
  const mints: Rule = {
    name: 'mints',
    limit: settings.mintLimit,
    windowMs: mintWindowSeconds * 1_000,
  };
  const signIns: Rule = {
    name: 'sign-ins',
    limit: settings.signInLimit,
    windowMs: signInWindowSeconds * 1_000,
  };
  const changes: Rule = {
    name: 'changes',
    limit: changeLimit,
    windowMs: changeWindowSeconds * 1_000,
  };
  const listings: Rule = {
    name: 'listings',
    limit: settings.listingLimit,
    windowMs: listingWindowSeconds * 1_000,
  };
  const schedules: Rule = { name: 'schedules', limit: scheduleLimit, windowMs: window.windowMs };
  const relays: Rule = { name: 'relays', limit: refusedRelays, windowMs: window.windowMs };
  // Whoever reconnects for ever is held back; a whole network that comes back at once is not.
  const sockets: Rule = {
    name: 'sockets',
    limit: settings.feedSocketsPerIp * openingsOfEach,
    windowMs: window.windowMs,
  };
  const spendOne = (rule: Rule, ip: string, prefixes?: Prefixes) =>
    whenKnown(buckets.spend(rule, [clientNetwork(ip, prefixes)]), (tally) =>
      ofAddress(rule, tally),
    );
  const spendOwn = (rule: Rule, accountId: string) =>
    whenKnown(buckets.spend(rule, [accountId]), (tally) => ofAccount(rule, tally));
  /** Of its own buckets, and only where they allow it of the wider one that others share. */
  const spendBoth = (
    rule: Rule,
    names: readonly string[],
    spentOfOwn: (rule: Rule, tally: Tally) => Spent,
    wider: () => Soon<Spent>,
  ): Soon<Spent> =>
    whenKnown(buckets.spend(rule, names), (tally) => {
      const own = spentOfOwn(rule, tally);
      if (!own.allowed) return own;
      return whenKnown(wider(), (shared) => {
        if (shared.allowed) return own;
        return whenKnown(buckets.giveBack(rule, names), () => shared);
      });
    });
  const spendNetwork = (ip: string) => () =>
    whenKnown(
      buckets.spend(networks, [clientNetwork(ip, settings.clientPrefixes)]),
      ({ allowed, buckets: [network] }) => spentOf(networks, allowed, 'network', network!),
    );
  return {
    spendCaller: ({ accountId, keyId }, ip) =>
      spendBoth(calls, [accountId, keyId], ofCaller, spendNetwork(ip)),
    spendClient: (ip) => spendBoth(clients, [clientNetwork(ip)], ofAddress, spendNetwork(ip)),
    spendReserve: (accountId, part) =>
      spendBoth(reserves, [`${accountId} ${part}`], ofAccount, () => spendOwn(parties, accountId)),
    spendStranger: (accountId) => spendOwn(strangers, accountId),
    giveBackStranger: (accountId) => buckets.giveBack(strangers, [accountId]),
    spendMint: (ip) => spendOne(mints, ip, settings.clientPrefixes),
    spendSignIn: (ip) => spendOne(signIns, ip, settings.clientPrefixes),
    spendChange: (accountId) => spendOwn(changes, accountId),
    spendListing: (accountId) => spendOwn(listings, accountId),
    giveBackListing: (accountId) => buckets.giveBack(listings, [accountId]),
    spendSchedule: (accountId) => spendOwn(schedules, accountId),
    spendRelay: (accountId) => spendOwn(relays, accountId),
    giveBackRelay: (accountId) => buckets.giveBack(relays, [accountId]),
    spendSocket: (ip) => spendOne(sockets, ip),
  };
}

/** `next` of the value, at once where the value is there. */
export function whenKnown<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function ofAddress(rule: Rule, { allowed, buckets }: Tally): Spent {
  return spentOf(rule, allowed, 'address', buckets[0]!);
}

function ofAccount(rule: Rule, { allowed, buckets }: Tally): Spent {
  return spentOf(rule, allowed, 'account', buckets[0]!);
}

/** Account and key: equally large, but a key replaced opens a window of its own later. */
function ofCaller(rule: Rule, { allowed, buckets }: Tally): Spent {
  const [account, key] = buckets as [Bucket, Bucket];
  const keyIsTighter =
    key.used > account.used || (key.used === account.used && key.leftMs > account.leftMs);
  const whose = account.used >= rule.limit ? 'account' : 'key';
  return spentOf(rule, allowed, whose, keyIsTighter ? key : account);
}

function spentOf({ limit }: Rule, allowed: boolean, whose: Whose, bucket: Bucket): Spent {
  return {
    allowed,
    whose,
    limit,
    // More than the limit was given where the limit has been lowered since.
    remaining: Math.max(0, limit - bucket.used),
    resetSeconds: Math.max(1, Math.ceil(bucket.leftMs / 1_000)),
  };
}

const longestName = 64;

/** How many leading bits of an address its network is. */
export type Prefixes = { readonly ipv4: number; readonly ipv6: number };

/** What one client is counted by: its IPv4 address, or the /64 that one IPv6 customer gets. */
const ofOneClient: Prefixes = { ipv4: 32, ipv6: 64 };

/** The network of an address. */
export function clientNetwork(given: string, { ipv4, ipv6 }: Prefixes = ofOneClient): string {
  const ip = withoutPort(given);
  if (isIPv4(ip) && ipv4 === 32) return ip;
  if (isIPv4(ip)) return networkOfV4(ip.split('.').map(Number), ipv4);
  if (!isIPv6(ip)) return ip.slice(0, longestName);
  const groups = groupsOf(ip);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (mapped) return networkOfV4(groups.slice(6).flatMap(bytesOf), ipv4);
  const network = leading(groups, 16, ipv6).slice(0, Math.ceil(ipv6 / 16));
  return `${network.map((group) => group.toString(16)).join(':')}::/${ipv6}`;
}

function networkOfV4(bytes: readonly number[], bits: number): string {
  const network = leading(bytes, 8, bits).join('.');
  return bits === 32 ? network : `${network}/${bits}`;
}

/** Parts of `width` bits, with nothing after the first `bits`. */
function leading(parts: readonly number[], width: number, bits: number): number[] {
  return parts.map((part, at) => {
    const dropped = Math.min(width, Math.max(0, (at + 1) * width - bits));
    return (part >> dropped) << dropped;
  });
}

/** Some proxies forward the port too, which a client changes at will. */
function withoutPort(text: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? [];
  const [, plain] = /^([\d.]+):\d+$/.exec(text) ?? [];
  return bracketed ?? (plain !== undefined && isIPv4(plain) ? plain : text);
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(ip: string): number[] {
  const [address = ''] = ip.split('%');
  const [left = '', right] = address.split('::');
  const head = partsOf(left);
  const tail = partsOf(right ?? '');
  const gap = Math.max(0, 8 - head.length - tail.length);
  return [...head, ...Array<number>(gap).fill(0), ...tail];
}

function partsOf(text: string): number[] {
  return text
    .split(':')
    .filter((part) => part !== '')
    .flatMap((part) => {
      if (!part.includes('.')) return [Number.parseInt(part, 16)];
      const [a, b, c, d] = part.split('.').map(Number) as [number, number, number, number];
      return [a * 256 + b, c * 256 + d];
    });
}

function bytesOf(group: number): number[] {
  return [group >> 8, group & 255];
}
