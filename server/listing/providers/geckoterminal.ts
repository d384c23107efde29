// GeckoTerminal's public API v2, and CoinGecko's on-chain API, which answers in the same form to who
// has a key. Two requests: the token with its largest pools, and what is known about its holders.
// Form: CoinGecko's published OpenAPI document (coingecko-api-oas, onchain-demo.json).

import { geckoNames, nameOf, sameAddress } from './chains.ts';
import { type Provider, ProviderFailure, type Told, type Wanted } from './facts.ts';
import type { JsonClient } from './http.ts';
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
/** With a free key, and with one that is paid for. */
export const coinGeckoBases = {
  demo: 'https://api.coingecko.com/api/v3/onchain',
  pro: 'https://pro-api.coingecko.com/api/v3/onchain',
} as const;
export const coinGeckoHeaders = { demo: 'x-cg-demo-api-key', pro: 'x-cg-pro-api-key' } as const;
/** "30 calls per minute" for everybody, by GeckoTerminal's questions and answers. */
export const geckoPerMinute = 30;

const ofHolders = ['holders', 'topHoldersShare', 'honeypot'] as const;
const ofPools = ['capUsd', 'liquidityUsd', 'volume24hUsd', 'ageSeconds'] as const;

export function geckoTerminal(client: JsonClient, now: () => number): Provider {
  const { name } = client;

  /** The token that the answer is about; null where there is none. */
  async function token(network: string, address: string, info: boolean, signal: AbortSignal) {
    const path = ['networks', network, 'tokens', spelt(address), ...(info ? ['info'] : [])];
    const query: Record<string, string> = info ? {} : { include: 'top_pools' };
    const { found, body } = await client.get(path, query, signal);
    const answer = objectOf(body, `the answer of ${name}`);
    if (!found) {
      // Anything else would be a wrong address of the API, and no word about the token.
      listOf(answer.errors, `the refusal of ${name}`);
      return null;
    }
    const data = objectOf(answer.data, `the answer of ${name}`);
    const attributes = objectOf(data.attributes, `the answer of ${name}`);
    const meant = sameAddress(data.id, `${network}_${address}`) || idOf(data.id, network, address);
    if (!meant || !sameAddress(attributes.address, address)) {
      throw new ProviderFailure('misanswered', `${name} answers about another token`);
    }
    return { attributes, included: answer.included, id: String(data.id) };
  }

  async function market(network: string, address: string, signal: AbortSignal): Promise<Told> {
    const found = await token(network, address, false, signal);
    if (found === null) return {};
    const { attributes, included, id } = found;
    const volume = maybeObject(attributes.volume_usd, `the volume of ${name}`);
    const fullCap = usdOf(attributes.fdv_usd, `the capitalisation of ${name}`);
    return {
      // No cap is given for a token that CoinGecko has not looked into: then all of its supply.
      capUsd: usdOf(attributes.market_cap_usd, `the capitalisation of ${name}`) ?? fullCap,
      liquidityUsd: usdOf(attributes.total_reserve_in_usd, `the liquidity of ${name}`),
      volume24hUsd: usdOf(volume?.h24, `the volume of ${name}`),
      ageSeconds: secondsSince(leastOf(poolsOf(included, id).map(bornAt)), now()),
    };
  }

  function poolsOf(included: unknown, id: string): readonly Json[] {
    if (included === undefined || included === null) return [];
    const pools = listOf(included, `the pools of ${name}`)
      .map((each) => objectOf(each, `a pool of ${name}`))
      .filter(({ type }) => type === 'pool');
    if (pools.some((each) => !isOf(each, id))) {
      throw new ProviderFailure('misanswered', `${name} answers with pools of another token`);
    }
    return pools;
  }

  function isOf(pool: Json, id: string): boolean {
    const relationships = objectOf(pool.relationships, `a pool of ${name}`);
    return ['base_token', 'quote_token'].some((side) => {
      const token = maybeObject(relationships[side], `a pool of ${name}`);
      return maybeObject(token?.data, `a pool of ${name}`)?.id === id;
    });
  }

  function bornAt(pool: Json): number | null {
    const attributes = objectOf(pool.attributes, `a pool of ${name}`);
    return instantOf(attributes.pool_created_at, now(), `the age of ${name}`);
  }

  async function owners(network: string, address: string, signal: AbortSignal): Promise<Told> {
    const found = await token(network, address, true, signal);
    if (found === null) return {};
    const { attributes } = found;
    const holders = maybeObject(attributes.holders, `the holders of ${name}`);
    const shares = maybeObject(holders?.distribution_percentage, `the holders of ${name}`);
    return {
      holders: holdersOf(holders?.count, `the holders of ${name}`),
      topHoldersShare: percentOf(shares?.top_10, `the holders of ${name}`),
      honeypot: honeypotOf(attributes.is_honeypot),
    };
  }

  /** True, false, or a text such as "unknown". */
  function honeypotOf(value: unknown): boolean | null {
    if (typeof value === 'boolean') return value;
    if (value === undefined || value === null || typeof value === 'string') return null;
    throw unreadable(`the honeypot of ${name}`);
  }

  return {
    name,
    chainOf: (chain) => nameOf(geckoNames, chain),
    look: async (network, address, wanted: Wanted, signal) => {
      const [pools, people] = await Promise.all([
        ofPools.some((each) => wanted.has(each)) ? market(network, address, signal) : {},
        ofHolders.some((each) => wanted.has(each)) ? owners(network, address, signal) : {},
      ]);
      return { ...pools, ...people };
    },
  };
}

/** Ids are in small letters where the address is in hex. */
function spelt(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

function idOf(id: unknown, network: string, address: string): boolean {
  return id === `${network}_${spelt(address)}`;
}
