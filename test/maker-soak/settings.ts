// The settings of the maker in a soak: the assets that its takers trade, at prices of a source that
// fails, with caps that are reached and little gas on one chain.

import { parse, stringify } from 'smol-toml';
import { formatUnits } from '../../core/amounts.ts';
import { type CoinName, coinNames, type Place } from '../../scripts/demo/place.ts';
import { middles, sources } from './prices.ts';

/** About 30 dollars in each coin, in base units. */
export const sizes: Readonly<Record<CoinName, bigint>> = {
  BTC: 50_000n,
  ETH: 10n ** 16n,
  'EVM dollar': 30_000_000n,
  TRX: 100_000_000n,
  'TRON dollar': 30_000_000n,
  SOL: 200_000_000n,
  'SPL dollar': 30_000_000n,
};
/** Of the size of a trade; a refused acceptance is a trade of nobody. */
export const mostOpenSizes = 6n;
/** Every taker asks for it first: one of them at least for too much of a day. */
export const cappedCoin: CoinName = 'SPL dollar';
/** Base units: three takers' at most. */
export const mostADay = sizes[cappedCoin] * 3n;
/** Coin that pays for fewer swaps is told of. */
const warnBelowSwaps = 12;

type Table = Record<string, unknown>;
type Asset = Table & { readonly chain: string; readonly token?: string; readonly decimals: number };
type Settings = {
  readonly limits: Table;
  readonly chains: Record<string, Table>;
  readonly assets: Record<string, Asset>;
  readonly prices: Record<string, Table>;
  pairs: { readonly base: string; readonly quote: string }[];
};

export type Traded = {
  readonly text: string;
  /** By the names of the settings. */
  readonly coins: ReadonlyMap<string, CoinName>;
};

/** `text`: the settings of a dev maker. */
export function soakSettings(text: string, place: Place, pricesUrl: string): Traded {
  const settings = parse(text) as unknown as Settings;
  const coins = new Map<string, CoinName>();
  for (const [name, asset] of Object.entries(settings.assets)) {
    const coin = coinNames.find((each) => {
      const { chain, token } = place.coins[each];
      return chain === asset.chain && token === (asset.token ?? null);
    });
    if (coin === undefined) delete settings.assets[name];
    else {
      coins.set(name, coin);
      asset.most_open = formatUnits(sizes[coin] * mostOpenSizes, asset.decimals);
      if (coin === cappedCoin) asset.most_a_day = formatUnits(mostADay, asset.decimals);
    }
  }
  settings.pairs = settings.pairs.filter(({ base, quote }) => coins.has(base) && coins.has(quote));
  for (const source of sources) {
    settings.prices[source] = {
      type: 'http',
      url: `${pricesUrl}/${source}`,
      path: 'price',
      every_seconds: 1,
      timeout_seconds: 2,
      stale_seconds: 45,
      least: String(middles[source] / 2),
      most: String(middles[source] * 2),
    };
  }
  // At six times the clock the usual 90 s of a quote are less than a restart on a busy machine: the
  // maker would rightly not fund a swap that it sees so late (`acceptance_lapsed`).
  const stands = { quote_seconds: 540, cancel_seconds: 60 };
  Object.assign(settings.limits, { batch_seconds: 10, poll_ms: 2_000, ...stands });
  const tron = settings.chains[place.tron.chain];
  if (tron !== undefined) tron.warn_below_swaps = warnBelowSwaps;
  return { text: stringify(settings), coins };
}
