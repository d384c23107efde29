// DEX Screener's public API: the pools of a token. The weight of a stranger's pool is bounded by
// the money that somebody really put into it: a pool counts only while it prices the token about as
// most of the money does, and only for as much as twice its side of the token. Form:
// docs.dexscreener.com, "Get the pools of a given token address" (300 requests a minute).

import { dexScreenerNames, nameOf, sameAddress } from './chains.ts';
import type { Provider, Told } from './facts.ts';
import type { JsonClient } from './http.ts';
import { type Reader, readerOf, secondsSince } from './read.ts';

/** How many times another price a pool may have before it is none of the token's market. */
const mostApart = 5;
const mostPools = 1_000;

type Pool = {
  readonly priceUsd: number;
  /** All of the token, or what of it is about, at this pool's price. */
  readonly capUsd: number | null;
  /**
   * The amount of the token in the pool: a stranger cannot state it without having put it there.
   */
  readonly amount: number;
  readonly saidLiquidityUsd: number | null;
  readonly volumeUsd: number | null;
  readonly bornAtMs: number | null;
};

export function dexScreener(client: JsonClient, now: () => number): Provider {
  const read = readerOf(client.name);
  return {
    name: client.name,
    chainOf: (chain) => nameOf(dexScreenerNames, chain),
    look: async (chain, address, _wanted, signal) => {
      const { found, body } = await client.get(['token-pairs', 'v1', chain, address], {}, signal);
      // A token without pools is an empty list, so this is a wrong address of the API.
      if (!found) throw read.spoilt('pools');
      const pairs = read.list(body, '');
      if (pairs.length > mostPools) throw read.spoilt('pools');
      const pools = pairs.map((each) => poolOf(read, each, chain, address, now()));
      return together(read, pools, now());
    },
  };
}

/** Null for one without a price, or where others are priced in the token: its cap is theirs. */
function poolOf(read: Reader, pair: unknown, chain: string, address: string, nowMs: number) {
  const base = read.object(pair, 'baseToken').address;
  const quote = read.object(pair, 'quoteToken').address;
  const isBase = sameAddress(base, address);
  if (read.at(pair, 'chainId') !== chain || (!isBase && !sameAddress(quote, address))) {
    throw read.misanswered();
  }
  const priceUsd = read.amount(pair, 'priceUsd');
  const pool = {
    capUsd: read.amount(pair, 'marketCap') ?? read.amount(pair, 'fdv'),
    amount: read.amount(pair, 'liquidity.base') ?? 0,
    saidLiquidityUsd: read.amount(pair, 'liquidity.usd'),
    volumeUsd: read.amount(pair, 'volume.h24'),
    bornAtMs: read.instant(pair, 'pairCreatedAt', nowMs),
  };
  return !isBase || priceUsd === null || priceUsd === 0 ? null : { ...pool, priceUsd };
}

function together(read: Reader, pools: readonly (Pool | null)[], nowMs: number): Told {
  const priced = pools.filter((each) => each !== null);
  const middle = middleOf(priced);
  if (middle === null) return {};
  const counted = priced.filter(
    ({ priceUsd }) =>
      priceUsd <= middle.priceUsd * mostApart && middle.priceUsd <= priceUsd * mostApart,
  );
  const liquidityUsd = counted.map(({ saidLiquidityUsd: said, amount }) =>
    said === null ? null : Math.min(said, 2 * amount * middle.priceUsd),
  );
  const sums = {
    capUsd: middle.capUsd,
    liquidityUsd: sumOf(liquidityUsd),
    volume24hUsd: sumOf(counted.map((each) => each.volumeUsd)),
  };
  return {
    capUsd: read.usd(sums, 'capUsd'),
    liquidityUsd: read.usd(sums, 'liquidityUsd'),
    volume24hUsd: read.usd(sums, 'volume24hUsd'),
    ageSeconds: secondsSince(
      counted.map((each) => each.bornAtMs),
      nowMs,
    ),
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
