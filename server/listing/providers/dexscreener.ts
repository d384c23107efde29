// DEX Screener's public API: the pools of a token. What a stranger's pool says is bounded by what
// somebody really put into it: a pool counts only while it prices the token about as most of the
// money does, and only for as much as twice its side of the token.
// Form: docs.dexscreener.com, "Get the pools of a given token address" (300 requests a minute).

import { dexScreenerNames, nameOf, sameAddress } from './chains.ts';
import { type Provider, ProviderFailure, type Told } from './facts.ts';
import type { JsonClient } from './http.ts';
import {
  amountOf,
  instantOf,
  leastOf,
  listOf,
  maybeObject,
  objectOf,
  secondsSince,
  unreadable,
  usdOf,
} from './read.ts';

export const dexScreenerBase = 'https://api.dexscreener.com';
export const dexScreenerPerMinute = 300;

/** How many times another price a pool may have before it is none of the token's market. */
const mostApart = 5;
const mostPools = 1_000;

type Pool = {
  readonly priceUsd: number;
  /** All of the token, or what of it is about, at this pool's price. */
  readonly capUsd: number | null;
  /** Of the token in the pool: what nobody can say without having put it there. */
  readonly amount: number;
  readonly saidLiquidityUsd: number | null;
  readonly volumeUsd: number | null;
  readonly bornAtMs: number | null;
};

export function dexScreener(client: JsonClient, now: () => number): Provider {
  const { name } = client;

  /** Null for one without a price, or where others are priced in the token: its cap is theirs. */
  function poolOf(value: unknown, chain: string, address: string): Pool | null {
    const pair = objectOf(value, `a pool of ${name}`);
    const base = objectOf(pair.baseToken, `a pool of ${name}`).address;
    const quote = objectOf(pair.quoteToken, `a pool of ${name}`).address;
    const isBase = sameAddress(base, address);
    if (pair.chainId !== chain || (!isBase && !sameAddress(quote, address))) {
      throw new ProviderFailure('misanswered', `${name} answers about another token`);
    }
    const liquidity = maybeObject(pair.liquidity, `the liquidity of ${name}`);
    const priceUsd = amountOf(pair.priceUsd, `the price of ${name}`);
    const amount = amountOf(liquidity?.base, `the liquidity of ${name}`);
    const pool = {
      capUsd:
        amountOf(pair.marketCap, `the capitalisation of ${name}`) ??
        amountOf(pair.fdv, `the capitalisation of ${name}`),
      amount: amount ?? 0,
      saidLiquidityUsd: amountOf(liquidity?.usd, `the liquidity of ${name}`),
      volumeUsd: amountOf(maybeObject(pair.volume, `the volume of ${name}`)?.h24, 'a volume'),
      bornAtMs: instantOf(pair.pairCreatedAt, now(), `the age of ${name}`),
    };
    return !isBase || priceUsd === null || priceUsd === 0 ? null : { ...pool, priceUsd };
  }

  return {
    name,
    chainOf: (chain) => nameOf(dexScreenerNames, chain),
    look: async (chain, address, _wanted, signal) => {
      const { found, body } = await client.get(['token-pairs', 'v1', chain, address], {}, signal);
      // A token without pools is an empty list, so this is a wrong address of the API.
      if (!found) throw unreadable(`the answer of ${name}`);
      const pairs = listOf(body, `the answer of ${name}`);
      if (pairs.length > mostPools) throw unreadable(`the answer of ${name}`);
      const pools = pairs.map((each) => poolOf(each, chain, address));
      return together(name, pools, now());
    },
  };
}

function together(name: string, pools: readonly (Pool | null)[], nowMs: number): Told {
  const priced = pools.filter((each) => each !== null);
  const middle = middleOf(priced);
  if (middle === null) return {};
  const counted = priced.filter(
    ({ priceUsd }) =>
      priceUsd <= middle.priceUsd * mostApart && middle.priceUsd <= priceUsd * mostApart,
  );
  const liquidity = counted.map(({ saidLiquidityUsd: said, amount }) =>
    said === null ? null : Math.min(said, 2 * amount * middle.priceUsd),
  );
  return {
    capUsd: usdOf(middle.capUsd, `the capitalisation of ${name}`),
    liquidityUsd: usdOf(sumOf(liquidity), `the liquidity of ${name}`),
    volume24hUsd: usdOf(sumOf(counted.map((each) => each.volumeUsd)), `the volume of ${name}`),
    ageSeconds: secondsSince(leastOf(counted.map((each) => each.bornAtMs)), nowMs),
  };
}

/** By price, the pool with which half of the tokens in all pools is reached. */
function middleOf(pools: readonly Pool[]): Pool | null {
  const byPrice = pools.toSorted((a, b) => a.priceUsd - b.priceUsd);
  const half = byPrice.reduce((sum, { amount }) => sum + amount, 0) / 2;
  let reached = 0;
  for (const pool of byPrice) {
    reached += pool.amount;
    if (reached >= half) return pool;
  }
  return null;
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((each) => each !== null);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
}
