// Settings of the server, read from an environment; main.ts passes the real one. One place says of
// each its name, its default and its bounds. docs/settings.md explains them.

import type { Network } from '@parley/core/families.ts';
import {
  type AssetSettings,
  type ChainSettings,
  type NamedChain,
  namedChains,
  parseAssets,
  parseChains,
} from './chains.ts';
import { databaseUrlFault, percentEncoding } from './database-url.ts';
import type { Parsed } from './entries.ts';
import { type Environment, type Reader, readerOf } from './environment.ts';
import { type KeeperSettings, parseKeeper } from './keeper.ts';
import { type LaunchpadSettings, parseLaunchpads } from './launchpads.ts';
import { readListingRules, readMarketData } from './listing.ts';
import { isSafeUrl, namedNetworkOf, networkOf, parseValkeyUrl } from './networks.ts';
import { readPeople } from './people.ts';
import { everyPort, type Ports, portsOf, usualPorts } from './ports.ts';
import { openSecrets } from './secrets.ts';

export type { Environment } from './environment.ts';
export type Settings = Readonly<ReturnType<typeof settingsOf>>;

export function readSettings(given: Environment): Settings {
  const opened = openSecrets(given);
  const read = readerOf(opened.environment);
  const settings = settingsOf(read);
  const wrong = [...opened.wrong, ...read.faults()];
  if (wrong.length > 0) throw new Error(`settings refused:\n- ${wrong.join('\n- ')}`);
  return settings;
}

function settingsOf(read: Reader) {
  const { text, whole, list } = read;
  const network = networkNamed(read);
  const devEvmChains = whole('PARLEY_DEV_EVM_CHAINS', 1, 0, 4);
  const served = servedOf(read, network, devEvmChains);
  /** Chains are started here, for nobody else: limits are no obstacle. */
  const dev = network === 'dev' && served.chains === null;
  const people = readPeople(read);
  const rateLimit = whole('PARLEY_RATE_LIMIT', 300, 1, 10_000_000);
  const networkLimit = (dev ? 1_000 : 10) * rateLimit;
  const networks = (name: string, of: typeof networkOf): readonly string[] =>
    list(name, of, 'address nor network');
  return {
    network,
    ...namesOf(read),
    /** Hosts that texts to sign may name: those of this market's own pages. */
    sites: sitesOf(read, people.publicUrl),
    /** A finder of a security hole writes there: URLs, the best first. */
    contacts: list('PARLEY_CONTACT', contactOf, 'https URL nor e-mail address'),
    host: text('HOST') ?? '127.0.0.1',
    port: whole('PORT', 8080, 0, 65_535),
    /** Where state lives: the embedded database, dev chains, the server's own key. */
    home: text('PARLEY_HOME') ?? '.parley',
    /**
     * The key from which apps/market/ports/keyring.ts derives, hex or base64; null = a file in `home`.
     */
    encryptionKey: text('PARLEY_ENCRYPTION_KEY'),
    ...databaseOf(read),
    databaseConnections: whole('PARLEY_DATABASE_CONNECTIONS', 10, 3, 200),
    valkeyUrl: valkeyUrlOf(read),
    ...served,
    devEvmChains,
    devControlPort: whole('PARLEY_DEV_PORT', 0, 0, 65_535),
    /** How long a server that is to stop goes on serving, and says that it is not ready. */
    drainSeconds: whole('PARLEY_DRAIN_SECONDS', 0, 0, 600),
    ...metricsOf(read),
    /** Requests a key or account may make in 60 s; also one client IP without a key. */
    rateLimit,
    /** Requests of a client network in 60 s, however many accounts make them. */
    rateLimitPerNetwork: whole('PARLEY_RATE_LIMIT_PER_NETWORK', networkLimit, 1, 1_000_000_000),
    /** Key mints a client IP may try in an hour. */
    mintLimit: whole('PARLEY_MINT_LIMIT', dev ? 1_000 : 20, 1, 1_000_000),
    /** Steps of sign-ins in the browser that a client network may try in an hour. */
    signInLimit: whole('PARLEY_SIGN_IN_LIMIT', dev ? 10_000 : 120, 1, 1_000_000),
    /** Tokens that an account may ask to have listed in an hour. */
    listingLimit: whole('PARLEY_LISTING_LIMIT', dev ? 1_000 : 20, 1, 1_000_000),
    ...connectionsOf(read, dev),
    clientPrefixes: prefixesOf(read),
    ...agreeingOf(read, network),
    /** Whether API keys stay good where the database is found to be an older one. */
    keepKeys: whole('PARLEY_KEEP_KEYS', 0, 0, 1) === 1,
    /** Time limit of one chain read for a request. */
    chainTimeoutMs: whole('PARLEY_CHAIN_TIMEOUT_MS', 5_000, 100, 60_000),
    followIntervalMs: whole('PARLEY_FOLLOW_INTERVAL_MS', dev ? 300 : 5_000, 50, 600_000),
    /** Addresses whose X-Forwarded-For is believed. */
    trustedProxies: networks('PARLEY_TRUSTED_PROXIES', namedNetworkOf),
    /** Networks that webhooks may be delivered to although they are not public. */
    webhookNetworks: networks('PARLEY_WEBHOOK_ALLOW_CIDRS', networkOf),
    /** Ports that webhooks may name at any other address. */
    webhookPorts: webhookPortsOf(read, network),
    /**
     * The providers for a token's market, in this order; an empty list means no requests. Holds
     * keys: a secret.
     */
    marketData: readMarketData(read),
    /** The requirements on a token that is listed by request or from a launchpad. */
    listingRules: readListingRules(read),
    /** A source of prices in a currency; null = amounts stand alone. */
    fiatUrl: fiatUrlOf(read),
    /** The services for people in the browser. Holds secrets. */
    people,
    logLevel: text('PARLEY_LOG_LEVEL') ?? (dev ? 'warn' : 'info'),
  };
}

function webhookPortsOf({ list }: Reader, network: Network): readonly Ports[] {
  const given = list('PARLEY_WEBHOOK_PORTS', portsOf, 'port nor range of ports');
  if (given.length > 0) return given;
  return network === 'dev' ? everyPort : usualPorts;
}

function connectionsOf({ whole }: Reader, dev: boolean) {
  const feedSocketsPerIp = whole('PARLEY_FEED_SOCKETS_PER_IP', dev ? 20_000 : 20, 1, 1_000_000);
  const networkConnections = 10 * feedSocketsPerIp;
  const networkSockets = 10 * feedSocketsPerIp;
  return {
    /** Sockets of the maker feed that a client IP may have open. */
    feedSocketsPerIp,
    /** The same of an IPv4 /24 or an IPv6 /48. */
    feedSocketsPerNetwork: whole('PARLEY_FEED_SOCKETS_PER_NETWORK', networkSockets, 1, 1e7),
    /** Connections of the process; null = as many as its descriptors are enough for. */
    connections: whole('PARLEY_CONNECTIONS', 0, 0, 1_000_000) || null,
    /** Connections of an IPv4 address or an IPv6 /64. */
    connectionsPerNetwork: whole('PARLEY_CONNECTIONS_PER_NETWORK', networkConnections, 1, 1e7),
  };
}

function metricsOf({ text, whole, secret, refuse }: Reader) {
  const host = text('PARLEY_METRICS_HOST');
  const file = text('PARLEY_METRICS_TOKEN_FILE');
  const isOn = text('PARLEY_METRICS_PORT') !== null;
  const metricsToken = file === null ? null : secret('PARLEY_METRICS_TOKEN_FILE', file);
  if (metricsToken !== null && !/^[\x21-\x7e]{16,512}$/.test(metricsToken)) {
    refuse(
      'PARLEY_METRICS_TOKEN_FILE must hold one word of 16 to 512 printable ASCII characters;' +
        ` it has ${metricsToken.length}`,
    );
  }
  if (!isOn && (host !== null || file !== null)) {
    refuse(
      'PARLEY_METRICS_HOST and PARLEY_METRICS_TOKEN_FILE do nothing without PARLEY_METRICS_PORT',
    );
  }
  if (host !== null && !isLoopback(host) && file === null) {
    refuse(
      `PARLEY_METRICS_HOST=${host} can be reached from elsewhere: name a bearer token by` +
        ' PARLEY_METRICS_TOKEN_FILE',
    );
  }
  return {
    /** Port of Prometheus metrics; null = none. */
    metricsPort: isOn ? whole('PARLEY_METRICS_PORT', 0, 0, 65_535) : null,
    metricsHost: host ?? '127.0.0.1',
    /** A scraper shows it to read metrics; null = on loopback anybody does. A secret. */
    metricsToken,
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function agreeingOf({ whole }: Reader, network: Network) {
  const unfunded = network === 'dev' ? 10_000 : 5;
  const live = network === 'dev' ? 1_000 : 20;
  return {
    /** How long an unanswered acceptance binds, in seconds. */
    acceptTtlSeconds: whole('PARLEY_ACCEPT_TTL', 600, 10, 86_400),
    /** Swaps that a new account may have agreed to and not funded. */
    unfundedSwaps: whole('PARLEY_UNFUNDED_SWAPS', unfunded, 1, 10_000),
    /** RFQs that a new account may have live. */
    liveRfqs: whole('PARLEY_LIVE_RFQS', live, 1, 1_000),
  };
}

function fiatUrlOf({ text, refuse }: Reader): string | null {
  const given = text('PARLEY_FIAT_URL');
  if (given === null) return null;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url !== null && isSafeUrl(url) && url.username + url.password === '') return given;
  // It is not quoted: it may hold a password.
  refuse('PARLEY_FIAT_URL must be an https URL, or http on loopback, without user or password');
  return null;
}

function sitesOf({ list }: Reader, publicUrl: string | null): readonly string[] {
  const hostOf = (each: string) => (/^[a-z\d.-]+(:\d+)?$/i.test(each) ? each.toLowerCase() : null);
  const own = publicUrl === null ? [] : [new URL(publicUrl).host];
  return [...list('PARLEY_SITES', hostOf, 'host, such as market.example'), ...own];
}

function contactOf(given: string): string | null {
  if (/^(?:mailto:)?[^\s@:/]+@[^\s@:/]+$/.test(given))
    return given.replace(/^(?!mailto:)/, 'mailto:');
  return /^https:\/\/\S+$/.test(given) && URL.canParse(given) ? given : null;
}

function networkNamed({ text, refuse }: Reader): Network {
  const network = text('PARLEY_NETWORK') ?? 'dev';
  if (network === 'dev' || network === 'testnet' || network === 'mainnet') return network;
  refuse(`PARLEY_NETWORK must be dev, testnet or mainnet; got "${network}"`);
  return network as Network;
}

type Served = {
  /** Chains to serve; null = dev chains are started. */
  readonly chains: readonly ChainSettings[] | null;
  readonly assets: readonly AssetSettings[] | null;
  /** Launchpads whose tokens become candidates by themselves. */
  readonly launchpads: readonly LaunchpadSettings[];
  /**
   * Chains with a gas key. `dev`: every dev chain but Bitcoin has one of its own. `apart`: a
   * watchtower in a process of its own has them.
   */
  readonly keeper: readonly KeeperSettings[] | 'dev' | 'apart';
};

function servedOf({ text, json, refuse }: Reader, network: Network, devEvmChains: number): Served {
  const parsed = <T, Otherwise>(
    given: unknown,
    parse: (given: unknown) => Parsed<T>,
    otherwise: Otherwise,
  ): readonly T[] | Otherwise => {
    if (given === undefined) return otherwise;
    const { values, wrong } = parse(given);
    refuse(...wrong);
    return values;
  };
  const given = json('PARLEY_CHAINS');
  const chains = parsed(given, (all) => parseChains(all, network), null);
  if (network !== 'dev' && chains === null) {
    refuse(`PARLEY_NETWORK=${network} needs PARLEY_CHAINS: dev chains run with dev only`);
  }
  const dev = network === 'dev' && chains === null;
  const of = given === undefined ? devChainKeys(devEvmChains) : namedChains(given);
  return {
    chains,
    assets: parsed(json('PARLEY_ASSETS'), (all) => parseAssets(all, of), null),
    launchpads: parsed(json('PARLEY_LAUNCHPADS'), (all) => parseLaunchpads(all, of), []),
    keeper:
      keeperWord(text('PARLEY_KEEPER')) ??
      parsed(json('PARLEY_KEEPER'), (all) => parseKeeper(all, of), dev ? ('dev' as const) : []),
  };
}

function keeperWord(given: string | null) {
  return given === 'off' ? [] : given === 'apart' ? given : null;
}

function namesOf({ text, refuse }: Reader) {
  const shortName = text('PARLEY_SHORT_NAME') ?? 'parley';
  if (!/^[a-z][a-z0-9]{0,15}$/.test(shortName)) {
    refuse(`PARLEY_SHORT_NAME must be 1 to 16 lower-case letters and digits`);
  }
  const productName = text('PARLEY_PRODUCT_NAME') ?? 'Parley';
  // Wallets sign texts with it, in which a line break would begin another line.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(productName)) {
    refuse('PARLEY_PRODUCT_NAME must be one line, without control characters');
  }
  return { shortName, productName };
}

/** How many leading bits of an address are the network that its requests count for. */
function prefixesOf({ text, refuse }: Reader): { readonly ipv4: number; readonly ipv6: number } {
  const given = text('PARLEY_CLIENT_PREFIXES') ?? '32,56';
  const [ipv4 = 0, ipv6 = 0] = /^\d{1,3},\d{1,3}$/.test(given) ? given.split(',').map(Number) : [];
  if (ipv4 < 8 || ipv4 > 32 || ipv6 < 8 || ipv6 > 128) {
    refuse(
      'PARLEY_CLIENT_PREFIXES must be the bits of an IPv4 and an IPv6 network, 8 to 32 and 8 to' +
        ` 128, such as 32,56; got "${given}"`,
    );
  }
  return { ipv4, ipv6 };
}

function databaseOf({ text, refuse }: Reader) {
  const databaseUrl = text('DATABASE_URL');
  /** A replica that lists may be read from; null = none. */
  const databaseReadUrl = text('DATABASE_READ_URL');
  if (databaseReadUrl !== null && databaseUrl === null) {
    refuse('DATABASE_READ_URL names a replica of the database that DATABASE_URL names: give both');
  }
  // They are not quoted: they hold passwords.
  for (const [name, url] of Object.entries({
    DATABASE_URL: databaseUrl,
    DATABASE_READ_URL: databaseReadUrl,
  })) {
    const wrong = url === null ? null : databaseUrlFault(url);
    if (wrong !== null) refuse(`${name}: ${wrong}`);
  }
  return { databaseUrl, databaseReadUrl };
}

/** A Valkey or Redis that processes share budgets through; null = each counts alone. A secret. */
function valkeyUrlOf({ text, refuse }: Reader): string | null {
  const given = text('VALKEY_URL');
  // The value is not quoted: it may hold a password.
  if (given !== null && parseValkeyUrl(given) === null) {
    refuse(
      'VALKEY_URL must be redis://[user:password@]host[:port][/database],' +
        ` or begin with rediss://, valkey:// or valkeys://; ${percentEncoding}`,
    );
  }
  return given;
}

/** The key and chain id of the dev EVM chains, from the first on. */
export function devEvmChain(index: number): { key: string; chainId: number } {
  const key = index === 0 ? 'evm-dev' : `evm-dev-${index + 1}`;
  return { key, chainId: 31_337 + index };
}

/**
 * The chains that the dev network will serve: Bitcoin is listed even where no bitcoind is found
 * later.
 */
function devChainKeys(evmChains: number): NamedChain[] {
  const evm = Array.from({ length: evmChains }, (_, at) => devEvmChain(at).key);
  return [
    { chain: 'bitcoin-regtest', family: 'bitcoin' },
    ...evm.map((chain) => ({ chain, family: 'evm' as const })),
    { chain: 'tron-dev', family: 'tron' },
    { chain: 'solana-dev', family: 'solana' },
  ];
}
