// Answers of the market that need no account: assets, prices and costs of a pair, its state.
// `verified` is the app's word: a market's own is taken on dev networks alone.

import { pageLimit } from '@parley/core/limits.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Asset, PairPrice } from '@parley/sdk/types.ts';
import { queryOptions, skipToken, useQuery } from '@tanstack/react-query';
import { type Closable, type Closing, closingOf } from './closings.ts';
import { config } from './config.ts';
import { type Price, priceIn } from './prices.ts';
import { market, queries } from './site.ts';
import { isVerified, plainSymbol } from './tokens.ts';

/** Pages of 100: a list that somebody could make endless is not read to its end. */
const mostPages = 20;

async function allAssets(signal: AbortSignal): Promise<Asset[]> {
  const found: Asset[] = [];
  const page = (from: object) =>
    market.keyless.assets({ limit: pageLimit.most, ...from }, { signal });
  for await (const { assets } of pagesOf(mostPages, page)) found.push(...assets.map(known));
  return found.sort((one, other) => Number(other.verified) - Number(one.verified));
}

function known(asset: Asset): Asset {
  const symbol = plainSymbol(asset.symbol);
  return { ...asset, symbol, verified: isVerified(asset, config.chains, config.network) };
}

const assetsQuery = queryOptions({
  queryKey: ['assets'],
  queryFn: ({ signal }) => allAssets(signal),
  staleTime: 60_000,
});

export function useAssets() {
  return useQuery(assetsQuery);
}

type PairIds = { readonly baseAssetId: string; readonly quoteAssetId: string };

/** null: no request yet. */
export function usePrice(ids: PairIds | null) {
  return useQuery({
    queryKey: ['pair price', ids],
    queryFn: ids === null ? skipToken : ({ signal }) => market.keyless.pairPrice(ids, { signal }),
    staleTime: 15_000,
    refetchInterval: 30_000,
  });
}

export type Days = 1 | 7 | 30;

/** Prices of agreed swaps over days, for a chart; null: no request yet. */
export function usePairHistory(ids: PairIds | null, days: Days) {
  return useQuery({
    queryKey: ['pair history', ids, days],
    queryFn:
      ids === null
        ? skipToken
        : ({ signal }) => market.keyless.pairHistory({ ...ids, days }, { signal }),
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
}

/** The pairs that are traded now. */
const pairsQuery = queryOptions({
  queryKey: ['pairs'],
  queryFn: ({ signal }) => market.keyless.pairs({ signal }),
  staleTime: 5_000,
});

export function usePairs() {
  return useQuery({ ...pairsQuery, refetchInterval: 15_000 });
}

/** The first screen waits for both: they are asked for while its code is on its way. */
export function askForFirstScreen(): void {
  void queries.prefetchQuery(assetsQuery);
  void queries.prefetchQuery(pairsQuery);
}

/** Prices of coins in a currency, by a source of the operator. */
export function useFiat() {
  return useQuery({
    queryKey: ['fiat'],
    queryFn: ({ signal }) => market.keyless.fiat({ signal }),
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
}

/** The middle one of recent agreements; null where there are too few, or none is known. */
export function priceOf(answer: PairPrice | undefined): Price | null {
  const median = answer?.median ?? null;
  return median && priceIn(median);
}

/** One of the best is chosen by the maker behind it and by its size. */
const mostLevels = pageLimit.most;

/** Prices that makers publish. `query` is that of `GET /market/levels`; null: no request yet. */
export function useLevels(query: Parameters<typeof market.keyless.levels>[0] | null) {
  return useQuery({
    queryKey: ['levels', query],
    queryFn:
      query === null
        ? skipToken
        : ({ signal }) => market.keyless.levels({ ...query, limit: mostLevels }, { signal }),
    staleTime: 5_000,
    refetchInterval: 10_000,
  });
}

/** `query` is that of `GET /market/pairs`; null: no request yet. */
export function usePair(query: Parameters<typeof market.keyless.pair>[0] | null) {
  return useQuery({
    queryKey: ['pair', query],
    queryFn: query === null ? skipToken : ({ signal }) => market.keyless.pair(query, { signal }),
    staleTime: 15_000,
    placeholderData: (before) => before,
  });
}

export type Sends = { readonly claims: boolean; readonly fundings: boolean };

const askMs = 30_000;

export function useMarketStatus() {
  return useQuery({
    queryKey: ['market state'],
    queryFn: ({ signal }) => market.status({ signal }),
    staleTime: askMs,
    refetchInterval: askMs,
  });
}

/** A market that is silent sends nothing. */
export function useSends(): (chain: string) => Sends {
  const { data, error } = useMarketStatus();
  return (chain) => {
    const found = error === null ? data?.chains.find((each) => each.chain === chain) : undefined;
    const { sendsClaims: claims = false, sendsFundings: fundings = false } = found ?? {};
    return { claims, fundings };
  };
}

export function useClosings(): (asset: Closable) => Closing | null {
  const { data: state } = useMarketStatus();
  const { data: service } = useServiceStatus();
  return (asset) => closingOf(asset, state?.chains, service?.haltedAssets);
}

const serviceMs = 5_000;

export function useServiceStatus() {
  return useQuery({
    queryKey: ['service status'],
    queryFn: ({ signal }) => serviceStatus(signal),
    refetchInterval: serviceMs,
  });
}

const audiences = ['webhooks', 'feed', 'messages'] as const;

type Audience = (typeof audiences)[number];

type ServiceStatus = {
  readonly version: string;
  /** RFC 3339: the process that answered. */
  readonly startedAt: string;
  readonly haltedAssets: readonly { readonly chain: string; readonly symbol: string }[];
  readonly delays: Readonly<Record<Audience, { readonly bySeconds: number }>>;
};

/** Throws where nobody answers. */
async function serviceStatus(signal: AbortSignal): Promise<ServiceStatus> {
  const response = await fetch('/status', { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`/status answered ${response.status}`);
  return (await response.json()) as ServiceStatus;
}

/** Those that the market is behind with, and by how many seconds. */
export function lateFor({ delays }: ServiceStatus): [Audience, number][] {
  const all = audiences.map((each): [Audience, number] => [each, delays[each].bySeconds]);
  return all.filter(([, seconds]) => seconds > 0);
}

/** 64 hex digits. Throws where nobody answers. */
export async function buildHash(signal: AbortSignal): Promise<string> {
  const response = await fetch('/app/build.json', { signal });
  const answer = (await response.json()) as { hash?: unknown };
  if (typeof answer.hash !== 'string' || !/^[0-9a-f]{64}$/.test(answer.hash)) {
    throw new Error('/app/build.json has no hash');
  }
  return answer.hash;
}
