// Settings of the server, read from an environment; main.ts passes the real one.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Network } from '../../core/families.ts';
import { type AssetSettings, type ChainSettings, parseAssets, parseChains } from './chains.ts';
import { type KeeperSettings, parseKeeper } from './keeper.ts';
import { type LaunchpadSettings, parseLaunchpads } from './launchpads.ts';
import {
  defaultListingRules,
  type ListingRules,
  type Parsed,
  type ProviderSettings,
  parseListingRules,
  parseMarketData,
} from './listing.ts';
import { misspelt, recording, serviceLink } from './misspelt.ts';
import { networkNames } from './networks.ts';
import { type PeopleSettings, readPeople } from './people.ts';
import { parseValkeyUrl } from './valkey-url.ts';

export type Settings = {
  readonly network: Network;
  readonly productName: string;
  readonly shortName: string;
  /** Hosts that texts to sign may name: those of this market's own pages. */
  readonly sites: readonly string[];
  readonly host: string;
  readonly port: number;
  /** Where state lives: the embedded database, dev chains, the server's own key. */
  readonly home: string;
  /** What server/ports/keyring.ts derives from, hex or base64; null = a file in `home`. */
  readonly encryptionKey?: string | null;
  /** A PostgreSQL of one's own; null = the embedded one. */
  readonly databaseUrl: string | null;
  readonly databaseConnections: number;
  /** A Valkey or Redis that processes share budgets through; null = each counts alone. A secret. */
  readonly valkeyUrl: string | null;
  /** Chains to serve; null = dev chains are started. */
  readonly chains: readonly ChainSettings[] | null;
  readonly assets: readonly AssetSettings[] | null;
  /** Launchpads whose tokens are looked at by themselves. */
  readonly launchpads: readonly LaunchpadSettings[];
  /**
   * Chains with a gas key. `dev`: every dev chain but Bitcoin has one of its own; `apart`: they are
   * with a watchtower in a process of its own.
   */
  readonly keeper: readonly KeeperSettings[] | 'dev' | 'apart';
  /** How many dev EVM chains to start. */
  readonly devEvmChains: number;
  readonly devControlPort: number;
  /** Port of Prometheus metrics on loopback; null = none. */
  readonly metricsPort: number | null;
  /** Requests a key or account may make in 60 s; also one client IP without a key. */
  readonly rateLimit: number;
  /** Requests of a client network in 60 s, however many accounts make them. */
  readonly rateLimitPerNetwork: number;
  /** Key mints a client IP may try in an hour. */
  readonly mintLimit: number;
  /** Steps of sign-ins in the browser that a client network may try in an hour. */
  readonly signInLimit: number;
  /** Tokens that an account may ask to have listed in an hour. */
  readonly listingLimit: number;
  /** Sockets of the maker feed that a client IP may have open. */
  readonly feedSocketsPerIp: number;
  /** Connections of the process; null = as many as its descriptors are enough for. */
  readonly connections: number | null;
  /** Connections of an IPv4 address or an IPv6 /64. */
  readonly connectionsPerNetwork: number;
  /** How many leading bits of an address are the network that its requests count for. */
  readonly clientPrefixes: { readonly ipv4: number; readonly ipv6: number };
  /** How long an unanswered acceptance binds, in seconds. */
  readonly acceptTtlSeconds: number;
  /** Whether API keys stay good where the database is found to be an older one. */
  readonly keepKeys: boolean;
  /** Time limit of one chain read for a request. */
  readonly chainTimeoutMs: number;
  /** How often each chain is polled. */
  readonly followIntervalMs: number;
  /** Addresses whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Networks that webhooks may be delivered to although they are not public. */
  readonly webhookNetworks: readonly string[];
  /** Who is asked about a token's market, in this order; none = nobody. Holds keys: a secret. */
  readonly marketData: readonly ProviderSettings[];
  /** What is wanted of a token that is listed by request or from a launchpad. */
  readonly listingRules: ListingRules;
  /** What people are offered in the browser. Holds secrets. */
  readonly people: PeopleSettings;
  readonly logLevel: string;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings. Throws one Error that names every setting that is wrong. */
export function readSettings(given: Environment): Settings {
  const wrong: string[] = [];
  const { env, read } = recording(given);
  const text = (name: string, otherwise: string) => env[name] || otherwise;
  const whole: Whole = (name, otherwise, least, most) => {
    const given = env[name];
    if (given === undefined || given === '') return otherwise;
    const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    if (value >= least && value <= most) return value;
    const otherFault = `${name} must be a whole number from ${least} to ${most}; got "${given}"`;
    wrong.push(serviceLink(name, given) ?? otherFault);
    return otherwise;
  };
  const network = text('PARLEY_NETWORK', 'dev');
  if (network !== 'dev' && network !== 'testnet' && network !== 'mainnet') {
    wrong.push(`PARLEY_NETWORK must be dev, testnet or mainnet; got "${network}"`);
  }
  const devEvmChains = whole('PARLEY_DEV_EVM_CHAINS', 1, 0, 4);
  const named = chainsOf(env, network as Network, wrong);
  const chains = named === null ? null : [...named.values];
  const dev = network === 'dev' && chains === null;
  if (network !== 'dev' && chains === null) {
    wrong.push(`PARLEY_NETWORK=${network} needs PARLEY_CHAINS: dev chains run with dev only`);
  }
  const served = named === null ? devChainKeys(devEvmChains) : [...named.values, ...named.refused];
  const assets = assetsOf(env, served, wrong);
  const launchpads = launchpadsOf(env, served, wrong);
  const keeper = keeperOf(env, served, dev, wrong);
  const shortName = text('PARLEY_SHORT_NAME', 'parley');
  if (!/^[a-z][a-z0-9]{0,15}$/.test(shortName)) {
    wrong.push(`PARLEY_SHORT_NAME must be 1 to 16 lower-case letters and digits`);
  }
  const productName = text('PARLEY_PRODUCT_NAME', 'Parley');
  // Wallets sign texts with it, in which a line break would begin another line.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(productName)) {
    wrong.push('PARLEY_PRODUCT_NAME must be one line, without control characters');
  }
  const people = readPeople(env, (name) => json(env, name, wrong), whole, wrong);
  const settings: Settings = {
    network: network as Network,
    productName,
    shortName,
    sites: [
      ...sitesOf(env, wrong),
      ...(people.publicUrl === null ? [] : [new URL(people.publicUrl).host]),
    ],
    host: text('HOST', '127.0.0.1'),
    port: whole('PORT', 8080, 0, 65_535),
    home: text('PARLEY_HOME', '.parley'),
    encryptionKey: env.PARLEY_ENCRYPTION_KEY || null,
    databaseUrl: env.DATABASE_URL || null,
    valkeyUrl: valkeyUrlOf(env, wrong),
    databaseConnections: whole('PARLEY_DATABASE_CONNECTIONS', 10, 3, 200),
    chains,
    assets,
    launchpads,
    keeper,
    devEvmChains,
    devControlPort: whole('PARLEY_DEV_PORT', 0, 0, 65_535),
    metricsPort: env.PARLEY_METRICS_PORT ? whole('PARLEY_METRICS_PORT', 0, 0, 65_535) : null,
    ...limitsOfClients(whole, dev),
    clientPrefixes: prefixesOf(env, wrong),
    acceptTtlSeconds: whole('PARLEY_ACCEPT_TTL', 600, 10, 86_400),
    keepKeys: whole('PARLEY_KEEP_KEYS', 0, 0, 1) === 1,
    chainTimeoutMs: whole('PARLEY_CHAIN_TIMEOUT_MS', 5_000, 100, 60_000),
    followIntervalMs: whole('PARLEY_FOLLOW_INTERVAL_MS', dev ? 300 : 5_000, 50, 600_000),
    trustedProxies: proxiesOf(env, wrong),
    webhookNetworks: networksOf(env, wrong),
    marketData: parsedOf(env, 'PARLEY_MARKET_DATA', parseMarketData, [], wrong),
    listingRules: parsedOf(
      env,
      'PARLEY_LISTING_RULES',
      parseListingRules,
      defaultListingRules,
      wrong,
    ),
    people,
    logLevel: text('PARLEY_LOG_LEVEL', dev ? 'warn' : 'info'),
  };
  wrong.push(...misspelt(given, read));
  if (wrong.length > 0) throw new Error(`settings refused:\n- ${wrong.join('\n- ')}`);
  return settings;
}

/** A setting that is a whole number. */
type Whole = (name: string, otherwise: number, least: number, most: number) => number;

function limitsOfClients(whole: Whole, dev: boolean) {
  const feedSocketsPerIp = whole('PARLEY_FEED_SOCKETS_PER_IP', dev ? 20_000 : 20, 1, 1_000_000);
  const rateLimit = whole('PARLEY_RATE_LIMIT', 300, 1, 10_000_000);
  const connections = whole('PARLEY_CONNECTIONS', 0, 0, 1_000_000);
  return {
    rateLimit,
    rateLimitPerNetwork: whole(
      'PARLEY_RATE_LIMIT_PER_NETWORK',
      (dev ? 1_000 : 10) * rateLimit,
      1,
      1_000_000_000,
    ),
    mintLimit: whole('PARLEY_MINT_LIMIT', dev ? 1_000 : 20, 1, 1_000_000),
    signInLimit: whole('PARLEY_SIGN_IN_LIMIT', dev ? 10_000 : 120, 1, 1_000_000),
    listingLimit: whole('PARLEY_LISTING_LIMIT', dev ? 1_000 : 20, 1, 1_000_000),
    feedSocketsPerIp,
    connections: connections === 0 ? null : connections,
    connectionsPerNetwork: whole(
      'PARLEY_CONNECTIONS_PER_NETWORK',
      10 * feedSocketsPerIp,
      1,
      10_000_000,
    ),
  };
}

/** `32,56`: of IPv4 and of IPv6. */
function prefixesOf(env: Environment, wrong: string[]): Settings['clientPrefixes'] {
  const given = env.PARLEY_CLIENT_PREFIXES || '32,56';
  const [ipv4, ipv6] = /^\d{1,3},\d{1,3}$/.test(given) ? given.split(',').map(Number) : [];
  if (inside(ipv4, 32) && inside(ipv6, 128)) return { ipv4, ipv6 };
  wrong.push(
    'PARLEY_CLIENT_PREFIXES must be the bits of an IPv4 and an IPv6 network, 8 to 32 and 8 to' +
      ` 128, such as 32,56; got "${given}"`,
  );
  return { ipv4: 32, ipv6: 56 };
}

function inside(bits: number | undefined, most: number): bits is number {
  return bits !== undefined && bits >= 8 && bits <= most;
}

function valkeyUrlOf(env: Environment, wrong: string[]): string | null {
  const given = env.VALKEY_URL || null;
  // What was given is not quoted: it may hold a password.
  if (given !== null && parseValkeyUrl(given) === null) {
    wrong.push(
      'VALKEY_URL must be redis://[user:password@]host[:port][/database],' +
        ' or begin with rediss://, valkey:// or valkeys://',
    );
  }
  return given;
}

function sitesOf(env: Environment, wrong: string[]): string[] {
  const given = (env.PARLEY_SITES ?? '').split(',').map((each) => each.trim().toLowerCase());
  const sites = given.filter((each) => each !== '');
  for (const each of sites) {
    if (/^[a-z\d.-]+(:\d+)?$/.test(each)) continue;
    wrong.push(`PARLEY_SITES holds "${each}", which is no host, such as market.example`);
  }
  return sites;
}

function proxiesOf(env: Environment, wrong: string[]): string[] {
  const given = (env.PARLEY_TRUSTED_PROXIES ?? '').split(',').map((each) => each.trim());
  const proxies = given.filter((each) => each !== '');
  for (const each of proxies) {
    if (!isNetwork(each) && !networkNames.includes(each)) {
      wrong.push(`PARLEY_TRUSTED_PROXIES holds "${each}", which is no address nor network`);
    }
  }
  return proxies;
}

/** An address, or one with the length of its network's prefix; not everybody's (/0). */
function networksOf(env: Environment, wrong: string[]): string[] {
  const given = (env.PARLEY_WEBHOOK_ALLOW_CIDRS ?? '').split(',').map((each) => each.trim());
  const networks = given.filter((each) => each !== '');
  for (const each of networks) {
    if (isNetwork(each)) continue;
    wrong.push(`PARLEY_WEBHOOK_ALLOW_CIDRS holds "${each}", which is no address nor network`);
  }
  return networks;
}

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return longest > 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= longest));
}

function chainsOf(env: Environment, network: Network, wrong: string[]) {
  const given = json(env, 'PARLEY_CHAINS', wrong);
  if (given === undefined) return null;
  const parsed = parseChains(given, network);
  wrong.push(...parsed.wrong);
  return parsed;
}

function assetsOf(
  env: Environment,
  chains: readonly Pick<ChainSettings, 'chain' | 'family'>[],
  wrong: string[],
): AssetSettings[] | null {
  const given = json(env, 'PARLEY_ASSETS', wrong);
  if (given === undefined) return null;
  const parsed = parseAssets(given, chains);
  wrong.push(...parsed.wrong);
  return [...parsed.values];
}

function launchpadsOf(
  env: Environment,
  chains: readonly Pick<ChainSettings, 'chain' | 'family'>[],
  wrong: string[],
): readonly LaunchpadSettings[] {
  const given = json(env, 'PARLEY_LAUNCHPADS', wrong);
  if (given === undefined) return [];
  const parsed = parseLaunchpads(given, chains);
  wrong.push(...parsed.wrong);
  return parsed.values;
}

function keeperOf(
  env: Environment,
  chains: readonly Pick<ChainSettings, 'chain' | 'family'>[],
  dev: boolean,
  wrong: string[],
): Settings['keeper'] {
  if (env.PARLEY_KEEPER === 'off') return [];
  if (env.PARLEY_KEEPER === 'apart') return 'apart';
  const given = json(env, 'PARLEY_KEEPER', wrong);
  if (given === undefined) return dev ? 'dev' : [];
  const parsed = parseKeeper(given, chains);
  wrong.push(...parsed.wrong);
  return parsed.values;
}

function parsedOf<Value>(
  env: Environment,
  name: string,
  parse: (given: unknown) => Parsed<Value>,
  otherwise: Value,
  wrong: string[],
): Value {
  const given = json(env, name, wrong);
  if (given === undefined) return otherwise;
  const parsed = parse(given);
  wrong.push(...parsed.wrong);
  return parsed.value;
}

/** The key and chain id of the dev EVM chains, from the first on. */
export function devEvmChain(index: number): { key: string; chainId: number } {
  const key = index === 0 ? 'evm-dev' : `evm-dev-${index + 1}`;
  return { key, chainId: 31_337 + index };
}

/** What the dev network will serve: Bitcoin is listed even where no bitcoind is found later. */
function devChainKeys(evmChains: number): Pick<ChainSettings, 'chain' | 'family'>[] {
  const evm = Array.from({ length: evmChains }, (_, at) => devEvmChain(at).key);
  return [
    { chain: 'bitcoin-regtest', family: 'bitcoin' },
    ...evm.map((chain) => ({ chain, family: 'evm' as const })),
    { chain: 'tron-dev', family: 'tron' },
    { chain: 'solana-dev', family: 'solana' },
  ];
}

/** A setting that is JSON, or `@file` naming a file that holds it; undefined where not given. */
function json(env: Environment, name: string, wrong: string[]): unknown {
  const given = env[name];
  if (given === undefined || given === '') return undefined;
  try {
    const text = given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given;
    return JSON.parse(text) as unknown;
  } catch (error) {
    wrong.push(`${name} is not JSON nor @file: ${shownOf(error as Error)}`);
    return undefined;
  }
}

/** Without the text around the fault, which may be the password in a URL. */
function shownOf({ message }: Error): string {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '');
}
