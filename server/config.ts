// Settings of the server, read from an environment. Only main.ts passes the real one.

import { readFileSync } from 'node:fs';
import type { Network } from '../core/families.ts';
import { worldOfBitcoin, worldOfChainId } from '../core/worlds.ts';

/** One chain to serve. */
export type ChainSettings =
  | {
      readonly family: 'bitcoin';
      readonly chain: string;
      /** Bitcoin network of the node; must belong to PARLEY_NETWORK. */
      readonly network: 'mainnet' | 'testnet' | 'signet' | 'regtest';
      /** Bitcoin Core RPC (`http://user:password@host:port`) or an Esplora REST base. */
      readonly rpcUrl?: string;
      readonly esploraUrl?: string;
      /** Another source of the same chain: where the two differ, funding and revealing pause. */
      readonly second?: { readonly rpcUrl?: string; readonly esploraUrl?: string };
    }
  | {
      readonly family: 'evm';
      readonly chain: string;
      readonly chainId: number;
      readonly rpcUrls: readonly string[];
      /** `safe` or `finalized` counts depth by the node's tag instead of blocks. */
      readonly depthTag?: 'safe' | 'finalized';
      /** Which policy of chains/evm/policy.ts: `ethereum`, `l2`, `dev`. */
      readonly policy?: string;
    };

/** A curated asset of a deployment. */
export type AssetSettings = {
  readonly chain: string;
  readonly symbol: string;
  readonly address: string | null;
  readonly decimals: number;
  readonly highValueFrom?: string;
};

export type Settings = {
  readonly network: Network;
  readonly productName: string;
  readonly shortName: string;
  readonly host: string;
  readonly port: number;
  /** Where state lives: the embedded database, dev chains, the server's own key. */
  readonly home: string;
  /** What server/keyring.ts derives from, hex or base64; null = a file in `home`. */
  readonly encryptionKey?: string | null;
  /** A PostgreSQL of one's own; null = the embedded one. */
  readonly databaseUrl: string | null;
  readonly databaseConnections: number;
  /** Chains to serve; null = dev chains are started. */
  readonly chains: readonly ChainSettings[] | null;
  readonly assets: readonly AssetSettings[] | null;
  /** How many dev EVM chains to start. */
  readonly devEvmChains: number;
  readonly devControlPort: number;
  /** Requests a key or account may make in 60 s; also one client IP without a key. */
  readonly rateLimit: number;
  /** Key mints a client IP may try in an hour. */
  readonly mintLimit: number;
  /** How long an unanswered acceptance binds, in seconds. */
  readonly acceptTtlSeconds: number;
  /** Time limit of one chain read for a request. */
  readonly chainTimeoutMs: number;
  /** How often each chain is polled. */
  readonly followIntervalMs: number;
  /** Addresses whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings. Throws one Error that names every setting that is wrong. */
export function readSettings(env: Environment): Settings {
  const wrong: string[] = [];
  const text = (name: string, otherwise: string) => env[name] || otherwise;
  const whole = (name: string, otherwise: number, least: number, most: number): number => {
    const given = env[name];
    if (given === undefined || given === '') return otherwise;
    const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    if (value >= least && value <= most) return value;
    wrong.push(`${name} must be a whole number from ${least} to ${most}; got "${given}"`);
    return otherwise;
  };
  const network = text('PARLEY_NETWORK', 'dev');
  if (network !== 'dev' && network !== 'testnet' && network !== 'mainnet') {
    wrong.push(`PARLEY_NETWORK must be dev, testnet or mainnet; got "${network}"`);
  }
  const chains = json<ChainSettings[]>(env, 'PARLEY_CHAINS', wrong);
  const assets = json<AssetSettings[]>(env, 'PARLEY_ASSETS', wrong);
  const dev = network === 'dev' && chains === null;
  if (network !== 'dev' && chains === null) {
    wrong.push(`PARLEY_NETWORK=${network} needs PARLEY_CHAINS: dev chains run with dev only`);
  }
  if (chains !== null) wrong.push(...chainsAgainst(network as Network, chains));
  const shortName = text('PARLEY_SHORT_NAME', 'parley');
  if (!/^[a-z][a-z0-9]{0,15}$/.test(shortName)) {
    wrong.push(`PARLEY_SHORT_NAME must be 1 to 16 lower-case letters and digits`);
  }
  const settings: Settings = {
    network: network as Network,
    productName: text('PARLEY_PRODUCT_NAME', 'Parley'),
    shortName,
    host: text('HOST', '127.0.0.1'),
    port: whole('PORT', 8080, 0, 65_535),
    home: text('PARLEY_HOME', '.parley'),
    encryptionKey: env.PARLEY_ENCRYPTION_KEY || null,
    databaseUrl: env.DATABASE_URL || null,
    databaseConnections: whole('PARLEY_DATABASE_CONNECTIONS', 10, 2, 200),
    chains,
    assets,
    devEvmChains: whole('PARLEY_DEV_EVM_CHAINS', 1, 0, 4),
    devControlPort: whole('PARLEY_DEV_PORT', 0, 0, 65_535),
    rateLimit: whole('PARLEY_RATE_LIMIT', 300, 1, 10_000_000),
    mintLimit: whole('PARLEY_MINT_LIMIT', dev ? 1_000 : 20, 1, 1_000_000),
    acceptTtlSeconds: whole('PARLEY_ACCEPT_TTL', 600, 10, 86_400),
    chainTimeoutMs: whole('PARLEY_CHAIN_TIMEOUT_MS', 5_000, 100, 60_000),
    followIntervalMs: whole('PARLEY_FOLLOW_INTERVAL_MS', dev ? 300 : 5_000, 50, 600_000),
    trustedProxies: (env.PARLEY_TRUSTED_PROXIES ?? '').split(',').filter((each) => each !== ''),
    logLevel: text('PARLEY_LOG_LEVEL', dev ? 'warn' : 'info'),
  };
  if (wrong.length > 0) throw new Error(`settings refused:\n- ${wrong.join('\n- ')}`);
  return settings;
}

/** A setting that is JSON, or `@file` naming a file that holds it. */
function json<T>(env: Environment, name: string, wrong: string[]): T | null {
  const given = env[name];
  if (given === undefined || given === '') return null;
  try {
    return JSON.parse(given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given) as T;
  } catch (error) {
    wrong.push(`${name} is not JSON nor @file: ${(error as Error).message}`);
    return null;
  }
}

/** What is wrong with these chains on this network, a sentence each. */
function chainsAgainst(network: Network, chains: readonly ChainSettings[]): string[] {
  if (!Array.isArray(chains) || chains.length === 0 || chains.length > 100) {
    return ['PARLEY_CHAINS must be a JSON array of 1 to 100 chains'];
  }
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const each of chains) {
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(each.chain ?? '')) {
      wrong.push(`chain "${each.chain}" must be 1 to 32 lower-case letters, digits and dashes`);
    }
    if (seen.has(each.chain)) wrong.push(`chain "${each.chain}" is configured twice`);
    seen.add(each.chain);
    if (each.family !== 'bitcoin' && each.family !== 'evm') {
      const { chain, family } = each as { chain: string; family: string };
      wrong.push(`chain "${chain}" has family "${family}"; served are bitcoin and evm`);
      continue;
    }
    const world =
      each.family === 'bitcoin' ? worldOfBitcoin(each.network) : worldOfChainId(each.chainId);
    if (world !== network) {
      wrong.push(`chain "${each.chain}" belongs to ${world}, not to PARLEY_NETWORK=${network}`);
    }
    const url = each.family === 'bitcoin' ? (each.rpcUrl ?? each.esploraUrl) : each.rpcUrls?.[0];
    if (!url) wrong.push(`chain "${each.chain}" names no node`);
  }
  return wrong;
}
