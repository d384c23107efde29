// The limits of requests. A bucket is a fixed window that opens with its first request: one a key
// and one that an account's keys share, one a client address without a key; some costly operations
// have one an account or network beside. A larger one of a client network counts calls with and
// without keys, as far as their own buckets allow them: a refused stranger takes nothing from its
// neighbours. Where they are kept: memory-buckets.ts, valkey-buckets.ts.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Settings } from '../settings/config.ts';
import { type HttpCode, HttpError } from './errors.ts';
import { addressIn } from './forwarded.ts';
import type { Left } from './headers.ts';

/**
 * Budgets count requests in windows of this length, a mint and a sign-in in an hour. Past them:
 * 429.
 */
export const windowSeconds = 60;
const hourSeconds = 3_600;
/**
 * Passkeys and payout wallets that an account adds in an hour: its person hears of each, and
 * whoever stole a session would drown in such messages what matters.
 */
const changeLimit = 30;
/** Checks of signed spends that an account may ask for in a minute: each costs 0.2 s of a core. */
export const scheduleLimit = 20;
/** Relays of one account that are refused in a minute: each has chains read. */
export const refusedRelays = 20;
/** Requests on an open swap that a party keeps beyond its budget, in a minute (reserve.ts). */
export const swapLimit = 60;
/**
 * The same, of a party's swaps and broadcasts together: five swaps' worth. Swaps cost nothing to
 * agree on, so without it an account would have as many requests as it opens swaps for.
 */
export const partyLimit = 300;
/** Times that an account publishes levels in a minute, each of one pair. */
const levelLimit = 120;
/**
 * An IPv6 /48 has these of requests, of mints and sign-ins: so many times what one client network
 * in it has. A customer gets one for little, with 256 networks in it; hosts of many customers are
 * in one too.
 */
export const siteTimes = { requests: 4, identities: 2 } as const;
/** In a minute, questions whether an account is a party of an open swap that found it is not. */
export const strangerLimit = 60;
/**
 * Quotes that go many at once, of an account in a minute, for each request that it has: 100 orders
 * priced anew every 5 s are 1 200. Without it a request would leave 50 times as many rows.
 */
export const quotesOfRequest = 10;
/**
 * A read that is answered with more counts one request more for each of these: a page of threads
 * with whole histories is 1 MB, and takes 20 ms of the processor.
 */
export const bytesOfRequest = 131_072;
/** How often each of the sockets that an address may have can be opened anew in a minute. */
const openingsOfEach = 10;

/** At once where the buckets are in memory, so that a read waits for nothing. */
export type Soon<T> = T | Promise<T>;
/** How many requests in a window an account may have now. */
export type LimitOf = (accountId: string) => number;
type Whose = 'key' | 'account' | 'address' | 'network';

/** A decision, and the tighter of the buckets that it asked. */
export type Spent = Left & {
  readonly allowed: boolean;
  /** Refused: the owner of the empty bucket; the account's where the key's is as well. */
  readonly whose: Whose;
};

/** How much in how long. Buckets of one name are kept together. */
export type Rule = {
  readonly name:
    | Kind
    | 'calls'
    | 'clients'
    | 'networks'
    | 'parties'
    | 'party-networks'
    | 'quotes'
    | 'reserves'
    | 'sites'
    | 'site-mints'
    | 'site-sign-ins'
    | 'socket-networks';
  readonly limit: number;
  readonly windowMs: number;
};

/** The requests that a bucket has given, and how long its window still is. */
export type Bucket = { readonly used: number; readonly leftMs: number };
export type Tally = { readonly allowed: boolean; readonly buckets: readonly Bucket[] };

export type Buckets = {
  /** `count` (1) from each bucket, one or two; where one of them has not as many, from none. */
  spend(rule: Rule, names: readonly string[], count?: number): Soon<Tally>;
  /** `count` (1) to each of a decision's buckets whose window is still open and that gave it. */
  giveBack(rule: Rule, names: readonly string[], count?: number): Soon<void>;
};

export type BudgetSettings = Pick<
  Settings,
  | 'rateLimit'
  | 'rateLimitPerNetwork'
  | 'mintLimit'
  | 'signInLimit'
  | 'listingLimit'
  | 'feedSocketsPerIp'
  | 'feedSocketsPerNetwork'
  | 'clientPrefixes'
>;

/** The cost of one request of its kind, by account or by the client's address. */
type Kind = Charged | 'sockets' | 'strangers';
type Charged = 'changes' | 'levels' | 'listings' | 'mints' | 'relays' | 'schedules' | 'sign-ins';

export type Budgets = {
  /** `count`: its cost in requests (1). */
  spendCaller(
    caller: { keyId: string; accountId: string },
    ip: string,
    count?: number,
  ): Soon<Spent>;
  spendClient(ip: string): Soon<Spent>;
  /** One request of a party beyond its budget: on this part of the API, of all, of its network. */
  spendReserve(accountId: string, part: string, ip: string): Soon<Spent>;
  /** One of the kind, of the account or of the client's address. */
  spend(kind: Kind, who: string): Soon<Spent>;
  /** The same; throws where none is left. */
  charge(kind: Charged, who: string): Promise<void>;
  /** So many quotes of one request of the account; throws where it has not as many left. */
  chargeQuotes(accountId: string, count: number): Promise<void>;
  giveBack(kind: Kind, who: string): Soon<void>;
};

/** `limitOf`: the limit of an account and each of its keys, where it is not the same for all. */
export function createBudgets(
  settings: BudgetSettings,
  buckets: Buckets,
  limitOf: LimitOf = () => settings.rateLimit,
): Budgets {
  const { rateLimit, clientPrefixes } = settings;
  const ruleOf = (name: Rule['name'], limit: number, seconds = windowSeconds): Rule => ({
    name,
    limit,
    windowMs: seconds * 1_000,
  });
  const clients = ruleOf('clients', rateLimit);
  const networks = ruleOf('networks', settings.rateLimitPerNetwork);
  const reserves = ruleOf('reserves', swapLimit);
  const parties = ruleOf('parties', partyLimit);
  // A network has no more of what is kept than of all else.
  const partyNetworks = ruleOf(
    'party-networks',
    Math.max(partyLimit, settings.rateLimitPerNetwork),
  );
  const siteRule = (name: Rule['name'], { limit, windowMs }: Rule, times: number): Rule => ({
    name,
    limit: limit * times,
    windowMs,
  });
  const socketNetworks = ruleOf('socket-networks', settings.feedSocketsPerNetwork * openingsOfEach);
  const kinds: Readonly<Record<Kind, Rule>> = {
    changes: ruleOf('changes', changeLimit, hourSeconds),
    levels: ruleOf('levels', levelLimit),
    listings: ruleOf('listings', settings.listingLimit, hourSeconds),
    mints: ruleOf('mints', settings.mintLimit, hourSeconds),
    relays: ruleOf('relays', refusedRelays),
    schedules: ruleOf('schedules', scheduleLimit),
    'sign-ins': ruleOf('sign-ins', settings.signInLimit, hourSeconds),
    // A client that reconnects for ever is held back; a whole network that comes back at once is
    // not.
    sockets: ruleOf('sockets', settings.feedSocketsPerIp * openingsOfEach),
    strangers: ruleOf('strangers', strangerLimit),
  };
  const sites = siteRule('sites', networks, siteTimes.requests);
  const identitySites = {
    mints: siteRule('site-mints', kinds.mints, siteTimes.identities),
    'sign-ins': siteRule('site-sign-ins', kinds['sign-ins'], siteTimes.identities),
  };
  const spendOne = (rule: Rule, name: string, whose: Whose, count = 1): Soon<Spent> =>
    whenKnown(buckets.spend(rule, [name], count), ({ allowed, buckets: [bucket] }) =>
      spentOf(rule, allowed, whose, bucket!),
    );
  const spendSocket = (ip: string): Soon<Spent> => {
    const name = clientNetwork(ip);
    const all = () => spendOne(socketNetworks, clientNetwork(ip, socketNetwork), 'network');
    return spendBoth(kinds.sockets, [name], spendOne(kinds.sockets, name, 'address'), all);
  };
  const spend = (kind: Kind, who: string): Soon<Spent> => {
    if (kind === 'sockets') return spendSocket(who);
    if (kind !== 'mints' && kind !== 'sign-ins') return spendOne(kinds[kind], who, 'account');
    return spendAround(kinds[kind], identitySites[kind], who, 'address');
  };
  /**
   * The request spends its own buckets, and only if they allow it the wider one that others share.
   */
  const spendBoth = (
    rule: Rule,
    names: readonly string[],
    own: Soon<Spent>,
    wider: () => Soon<Spent>,
    count = 1,
  ): Soon<Spent> =>
    whenKnown(own, (spent) => {
      if (!spent.allowed) return spent;
      return whenKnown(wider(), (shared) => {
        if (shared.allowed) return spent;
        return whenKnown(buckets.giveBack(rule, names, count), () => shared);
      });
    });
  const networkOf = networksOf(clientPrefixes);
  const siteOf = networksOf(siteOfClient);
  /** From the client's network, and from the /48 around that. */
  const spendAround = (rule: Rule, around: Rule, ip: string, whose: Whose, count = 1) => {
    const name = networkOf(ip);
    const own = spendOne(rule, name, whose, count);
    if (!name.includes(':') || clientPrefixes.ipv6 <= siteOfClient.ipv6) return own;
    const all = () => spendOne(around, siteOf(ip), 'network', count);
    return spendBoth(rule, [name], own, all, count);
  };
  const spendNetwork = (ip: string, count?: number) => () =>
    spendAround(networks, sites, ip, 'network', count);
  return {
    spendCaller: ({ accountId, keyId }, ip, count = 1) => {
      const names = [accountId, keyId];
      const calls = ruleOf('calls', limitOf(accountId));
      const own = whenKnown(buckets.spend(calls, names, count), (tally) =>
        ofCaller(calls, tally, count),
      );
      return spendBoth(calls, names, own, spendNetwork(ip, count), count);
    },
    spendClient: (ip) => {
      const name = clientNetwork(ip);
      return spendBoth(clients, [name], spendOne(clients, name, 'address'), spendNetwork(ip));
    },
    spendReserve: (accountId, part, ip) => {
      const name = `${accountId} ${part}`;
      const network = () => spendOne(partyNetworks, networkOf(ip), 'network');
      const all = () =>
        spendBoth(parties, [accountId], spendOne(parties, accountId, 'account'), network);
      return spendBoth(reserves, [name], spendOne(reserves, name, 'account'), all);
    },
    spend,
    charge: async (kind, who) => {
      const spent = await spend(kind, who);
      if (!spent.allowed) throw overOf(kind, spent);
    },
    chargeQuotes: async (accountId, count) => {
      const rule = ruleOf('quotes', quotesOfRequest * limitOf(accountId));
      const { allowed, buckets: own } = await buckets.spend(rule, [accountId], count);
      if (allowed) return;
      const { limit, remaining, resetSeconds } = spentOf(rule, allowed, 'account', own[0]!);
      const sentence =
        `too many quotes of this account (${limit} in ${windowSeconds} s): ${remaining} are left ` +
        `and ${count} were sent; try again in ${resetSeconds} s`;
      throw limited('quote_rate_limited', sentence, resetSeconds);
    },
    giveBack: (kind, who) => buckets.giveBack(kinds[kind], [who]),
  };
}

/** `next` of the value, at once where the value is there. */
export function whenKnown<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The refusal where a budget of a kind is out: the code, and the sentence up to when to retry. */
const overs: Readonly<Record<Charged, readonly [HttpCode, (limit: number) => string, string?]>> = {
  mints: [
    'mint_rate_limited',
    (limit) => `too many keys asked for from this client network (${limit} an hour)`,
  ],
  'sign-ins': [
    'sign_in_rate_limited',
    (limit) => `too many tries to sign in from this client network (${limit} an hour)`,
  ],
  changes: [
    'change_rate_limited',
    (limit) => `${limit} passkeys and payout wallets were added to this account within an hour`,
  ],
  levels: [
    'level_rate_limited',
    (limit) => `this account published levels ${limit} times within ${windowSeconds} s`,
  ],
  listings: [
    'listing_rate_limited',
    (limit) => `too many tokens asked for by this account (${limit} an hour)`,
  ],
  schedules: [
    'schedule_rate_limited',
    (limit) =>
      `too many schedules of signed spends from this account (${limit} in ${windowSeconds} s)`,
  ],
  relays: [
    'relay_rate_limited',
    (limit) =>
      `${limit} relays that this account asked for within ${windowSeconds} s were refused or are` +
      ' not answered yet',
    ', or send it yourself',
  ],
};

export function overOf(kind: Charged, { limit, resetSeconds }: Spent): HttpError {
  const [code, said, otherwise = ''] = overs[kind];
  return limited(code, `${said(limit)}; try again in ${resetSeconds} s${otherwise}`, resetSeconds);
}

const overCodes = {
  account: 'account_rate_limited',
  key: 'key_rate_limited',
  address: 'rate_limited',
  network: 'rate_limited',
} as const satisfies Record<Whose, HttpCode>;

/** The refusal of a caller that is over a budget of requests. */
export function overBudget({ whose, limit, resetSeconds }: Spent): HttpError {
  const sentence =
    `too many requests for this ${whose} (${limit} in ${windowSeconds} s);` +
    ` try again in ${resetSeconds} s`;
  return limited(overCodes[whose], sentence, resetSeconds);
}

export function limited(code: HttpCode, sentence: string, seconds: number): HttpError {
  return new HttpError(code, sentence, { 'retry-after': String(seconds) });
}

/** Account and key: equally large, but a key replaced opens a window of its own later. */
function ofCaller(rule: Rule, { allowed, buckets }: Tally, count: number): Spent {
  const [account, key] = buckets as [Bucket, Bucket];
  const keyIsTighter =
    key.used > account.used || (key.used === account.used && key.leftMs > account.leftMs);
  const whose = account.used + count > rule.limit ? 'account' : 'key';
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
/** Addresses whose networks are remembered: one asks again and again. About 2 MB. */
const mostRemembered = 10_000;

/** `clientNetwork` of these prefixes, remembered. */
export function networksOf(prefixes: Prefixes = ofOneClient): (ip: string) => string {
  const known = new Map<string, string>();
  return (ip) => {
    const found = known.get(ip);
    if (found !== undefined) return found;
    const network = clientNetwork(ip, prefixes);
    // A forwarded value may be no address.
    if (ip.length > longestName) return network;
    if (known.size >= mostRemembered) known.clear();
    known.set(ip, network);
    return network;
  };
}

/** How many leading bits of an address its network is. */
export type Prefixes = { readonly ipv4: number; readonly ipv6: number };

/**
 * The prefix by which one client is counted: its IPv4 address, or the /64 that one IPv6 customer
 * gets.
 */
const ofOneClient: Prefixes = { ipv4: 32, ipv6: 64 };

/**
 * The prefix by which sockets of the feed are counted beside it: one customer may have as much for
 * little.
 */
export const socketNetwork: Prefixes = { ipv4: 24, ipv6: 48 };

/** A customer of IPv6 may have this for little, of all kinds; an IPv4 address as it is. */
export const siteOfClient: Prefixes = { ipv4: 32, ipv6: 48 };

/** The network of an address, such as `192.0.2.0/24`; a lone IPv4 address is its own network. */
export function clientNetwork(given: string, { ipv4, ipv6 }: Prefixes = ofOneClient): string {
  const ip = addressIn(given) ?? given;
  if (isIP(ip) === 0) return ip.slice(0, longestName);
  const address = ipaddr.process(ip);
  if (address instanceof ipaddr.IPv6) {
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6}`)}/${ipv6}`;
  }
  if (ipv4 === 32) return address.toString();
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${ipv4}`)}/${ipv4}`;
}
