// GeckoTerminal's public API v2, and CoinGecko's on-chain API, which answers in the same form to
// who has a key. Two requests: the token with its largest pools, and what is known of its holders.
// Form: CoinGecko's published OpenAPI document (coingecko-api-oas, onchain-demo.json).

import { geckoNames, nameOf, sameAddress, spelt } from './chains.ts';
import type { Provider, Told } from './facts.ts';
import type { Answer, JsonClient } from './http.ts';
import { type Json, type Reader, readerOf, secondsSince } from './read.ts';

const ofHolders = ['holders', 'topHoldersShare', 'honeypot'] as const;
const ofPools = ['capUsd', 'liquidityUsd', 'volume24hUsd', 'ageSeconds'] as const;

export function geckoTerminal(client: JsonClient, now: () => number): Provider {
  const read = readerOf(client.name);
  return {
    name: client.name,
    chainOf: (chain) => nameOf(geckoNames, chain),
    look: async (network, address, wanted, signal) => {
      const path = ['networks', network, 'tokens', spelt(address)];
      /** By which pools refer to it. */
      const id = `${network}_${spelt(address)}`;
      const ask = async (more: readonly string[], query: Record<string, string>) =>
        foundOf(read, id, await client.get([...path, ...more], query, signal));
      const market = async () => marketOf(read, id, await ask([], { include: 'top_pools' }), now());
      const owners = async () => ownersOf(read, await ask(['info'], {}));
      const [pools, people] = await Promise.all([
        ofPools.some((each) => wanted.has(each)) ? market() : {},
        ofHolders.some((each) => wanted.has(each)) ? owners() : {},
      ]);
      return { ...pools, ...people };
    },
  };
}

/** The answer about this token; null where there is none. */
function foundOf(read: Reader, id: string, { found, body }: Answer): Json | null {
  const answer = read.object(body, '');
  if (!found) {
    // Anything else would be a wrong address of the API, and no word about the token.
    read.list(answer, 'errors');
    return null;
  }
  const address = id.slice(id.lastIndexOf('_') + 1);
  const own = read.object(answer, 'data.attributes').address;
  if (read.at(answer, 'data.id') !== id || !sameAddress(own, address)) throw read.misanswered();
  return answer;
}

function marketOf(read: Reader, id: string, answer: Json | null, nowMs: number): Told {
  if (answer === null) return {};
  const token = read.object(answer, 'data.attributes');
  const pools = read.objects(answer, 'included').filter(({ type }) => type === 'pool');
  const isOf = (pool: Json) =>
    ['base_token', 'quote_token'].some(
      (side) => read.at(read.object(pool, 'relationships'), `${side}.data.id`) === id,
    );
  if (!pools.every(isOf)) throw read.misanswered();
  const born = pools.map((pool) => {
    return read.instant(read.object(pool, 'attributes'), 'pool_created_at', nowMs);
  });
  return {
    // No cap is given for a token that CoinGecko has not looked into: then that of all its supply.
    capUsd: read.usd(token, 'market_cap_usd') ?? read.usd(token, 'fdv_usd'),
    liquidityUsd: read.usd(token, 'total_reserve_in_usd'),
    volume24hUsd: read.usd(token, 'volume_usd.h24'),
    ageSeconds: secondsSince(born, nowMs),
  };
}

function ownersOf(read: Reader, answer: Json | null): Told {
  if (answer === null) return {};
  const token = read.object(answer, 'data.attributes');
  const { is_honeypot: honeypot = null } = token;
  // True, false, or a text such as "unknown".
  if (honeypot !== null && !['boolean', 'string'].includes(typeof honeypot)) {
    throw read.spoilt('is_honeypot');
  }
  return {
    holders: read.holders(token, 'holders.count'),
    topHoldersShare: read.percent(token, 'holders.distribution_percentage.top_10'),
    honeypot: typeof honeypot === 'boolean' ? honeypot : null,
  };
}
