// GeckoTerminal's public API v2, and CoinGecko's on-chain API, which answers in the same form to
// who has a key. Two requests: the token with its largest pools, and what is known of its holders.
// Form: CoinGecko's published OpenAPI document (coingecko-api-oas, onchain-demo.json).

import { geckoNames, nameOf, sameAddress } from './chains.ts';
import { type Provider, ProviderFailure, type Told } from './facts.ts';
import type { Answer, JsonClient } from './http.ts';
import {
  holdersOf,
  instantOf,
  type Json,
  leastOf,
  listOf,
  maybeObject,
  objectOf,
  percentOf,
  secondsSince,
  unreadable,
  usdOf,
} from './read.ts';

export const geckoTerminalBase = 'https://api.geckoterminal.com/api/v2';
export const coinGeckoBases = {
  demo: 'https://api.coingecko.com/api/v3/onchain',
  pro: 'https://pro-api.coingecko.com/api/v3/onchain',
} as const;
export const coinGeckoHeaders = { demo: 'x-cg-demo-api-key', pro: 'x-cg-pro-api-key' } as const;
/** "30 calls per minute" for everybody, by GeckoTerminal's questions and answers. */
export const geckoPerMinute = 30;

const ofHolders = ['holders', 'topHoldersShare', 'honeypot'] as const;
const ofPools = ['capUsd', 'liquidityUsd', 'volume24hUsd', 'ageSeconds'] as const;

type Found = {
  readonly id: string;
  readonly attributes: Json;
  readonly included: unknown;
};

export function geckoTerminal(client: JsonClient, now: () => number): Provider {
  const { name } = client;
  return {
    name,
    chainOf: (chain) => nameOf(geckoNames, chain),
    look: async (network, address, wanted, signal) => {
      const path = ['networks', network, 'tokens', spelt(address)];
      const ask = async (more: readonly string[], query: Record<string, string>) =>
        foundOf(
          name,
          `${network}_${spelt(address)}`,
          await client.get([...path, ...more], query, signal),
        );
      const market = async () => marketOf(name, await ask([], { include: 'top_pools' }), now());
      const owners = async () => ownersOf(name, await ask(['info'], {}));
      const [pools, people] = await Promise.all([
        ofPools.some((each) => wanted.has(each)) ? market() : {},
        ofHolders.some((each) => wanted.has(each)) ? owners() : {},
      ]);
      return { ...pools, ...people };
    },
  };
}

function foundOf(name: string, id: string, { found, body }: Answer): Found | null {
  const answer = objectOf(body, `the answer of ${name}`);
  if (!found) {
    // Anything else would be a wrong address of the API, and no word about the token.
    listOf(answer.errors, `the refusal of ${name}`);
    return null;
  }
  const data = objectOf(answer.data, `the answer of ${name}`);
  const attributes = objectOf(data.attributes, `the answer of ${name}`);
  const address = id.slice(id.lastIndexOf('_') + 1);
  if (data.id !== id || !sameAddress(attributes.address, address)) {
    throw new ProviderFailure('misanswered', `${name} answers about another token`);
  }
  return { id, attributes, included: answer.included };
}

function marketOf(name: string, found: Found | null, nowMs: number): Told {
  if (found === null) return {};
  const { id, attributes, included } = found;
  const volume = maybeObject(attributes.volume_usd, `the volume of ${name}`);
  const fullCap = usdOf(attributes.fdv_usd, `the capitalisation of ${name}`);
  const born = poolsOf(name, included, id).map((pool) => {
    const { pool_created_at } = objectOf(pool.attributes, `a pool of ${name}`);
    return instantOf(pool_created_at, nowMs, `the age of ${name}`);
  });
  return {
    // No cap is given for a token that CoinGecko has not looked into: then that of all its supply.
    capUsd: usdOf(attributes.market_cap_usd, `the capitalisation of ${name}`) ?? fullCap,
    liquidityUsd: usdOf(attributes.total_reserve_in_usd, `the liquidity of ${name}`),
    volume24hUsd: usdOf(volume?.h24, `the volume of ${name}`),
    ageSeconds: secondsSince(leastOf(born), nowMs),
  };
}

function poolsOf(name: string, included: unknown, id: string): readonly Json[] {
  if (included === undefined || included === null) return [];
  const pools = listOf(included, `the pools of ${name}`)
    .map((each) => objectOf(each, `a pool of ${name}`))
    .filter(({ type }) => type === 'pool');
  const isOf = (pool: Json) => {
    const sides = objectOf(pool.relationships, `a pool of ${name}`);
    return [sides.base_token, sides.quote_token].some((side) => {
      const token = maybeObject(side, `a pool of ${name}`);
      return maybeObject(token?.data, `a pool of ${name}`)?.id === id;
    });
  };
  if (pools.every(isOf)) return pools;
  throw new ProviderFailure('misanswered', `${name} answers with pools of another token`);
}

function ownersOf(name: string, found: Found | null): Told {
  if (found === null) return {};
  const { attributes } = found;
  const holders = maybeObject(attributes.holders, `the holders of ${name}`);
  const shares = maybeObject(holders?.distribution_percentage, `the holders of ${name}`);
  return {
    holders: holdersOf(holders?.count, `the holders of ${name}`),
    topHoldersShare: percentOf(shares?.top_10, `the holders of ${name}`),
    honeypot: honeypotOf(name, attributes.is_honeypot),
  };
}

function honeypotOf(name: string, value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (value === undefined || value === null || typeof value === 'string') return null;
  throw unreadable(`the honeypot of ${name}`);
}

function spelt(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}
