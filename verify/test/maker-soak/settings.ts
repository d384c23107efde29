// The soak's makers quote six pairs over all families, by size and by what they hold.

import type { CoinName, Place } from '@parley/dev/demo/place.ts';
import type { Walker } from './prices.ts';

/** A name in the settings, its coin, and its price in dollars; null: it is a dollar. */
export const coins = {
  btc: { coin: 'BTC', walker: 'btc' },
  eth: { coin: 'ETH', walker: 'eth' },
  trx: { coin: 'TRX', walker: 'trx' },
  sol: { coin: 'SOL', walker: 'sol' },
  'usd-evm': { coin: 'EVM dollar', walker: null },
  'usd-tron': { coin: 'TRON dollar', walker: null },
  'usd-spl': { coin: 'SPL dollar', walker: null },
} as const satisfies Readonly<Record<string, { coin: CoinName; walker: Walker | null }>>;

export type AssetName = keyof typeof coins;
export const assetNames = Object.keys(coins) as AssetName[];

/** Whole coins: sizes and steps of what is held, and where both sides end. */
const sizes: Readonly<Record<AssetName, { target: number; step: number; room: number }>> = {
  btc: { target: 1.9, step: 0.005, room: 0.06 },
  eth: { target: 20, step: 0.1, room: 1.5 },
  trx: { target: 200_000, step: 1_000, room: 12_000 },
  sol: { target: 400, step: 2, room: 25 },
  'usd-evm': { target: 50_000, step: 500, room: 8_000 },
  'usd-tron': { target: 50_000, step: 500, room: 5_000 },
  'usd-spl': { target: 50_000, step: 500, room: 5_000 },
};

export type SoakPair = {
  readonly base: AssetName;
  readonly quote: AssetName;
  /** Whole coins of base. */
  readonly least: number;
  readonly tiers: readonly [number, number];
  readonly most: number;
};

export const pairs: readonly SoakPair[] = [
  { base: 'btc', quote: 'usd-evm', least: 0.0005, tiers: [0.005, 0.015], most: 0.025 },
  { base: 'btc', quote: 'eth', least: 0.0005, tiers: [0.004, 0.012], most: 0.02 },
  { base: 'eth', quote: 'usd-tron', least: 0.01, tiers: [0.1, 0.3], most: 0.5 },
  { base: 'trx', quote: 'usd-spl', least: 100, tiers: [1_000, 3_000], most: 5_000 },
  { base: 'sol', quote: 'usd-evm', least: 0.2, tiers: [2, 5], most: 8 },
  { base: 'usd-evm', quote: 'usd-tron', least: 20, tiers: [300, 900], most: 1_500 },
];

/** How the two makers differ. */
export type Style = {
  readonly spreads: readonly [number, number, number];
  readonly skewBps: number;
  readonly mostSkewBps: number;
  readonly leastSpreadBps: number;
  readonly batchSeconds: number;
};
export const styles: readonly [Style, Style] = [
  { spreads: [40, 60, 90], skewBps: 4, mostSkewBps: 30, leastSpreadBps: 5, batchSeconds: 0 },
  { spreads: [70, 45, 60], skewBps: 7, mostSkewBps: 50, leastSpreadBps: 10, batchSeconds: 4 },
];

export type Hook = { readonly command: readonly string[] } | { readonly url: string };

const q = (value: unknown) => JSON.stringify(value);

/** `head`: market, limits and chains of the dev maker's settings. */
export function settingsOf(
  head: string,
  place: Place,
  prices: string,
  style: Style,
  hook: Hook,
): string {
  const assets = assetNames.map((name) => {
    const { chain, token, decimals } = place.coins[coins[name].coin];
    const { target, step, room } = sizes[name];
    return [
      `[assets.${name}]\nchain = ${q(chain)}\ndecimals = ${decimals}`,
      ...(token === null ? [] : [`token = ${q(token)}`]),
      `target = "${target}"\nskew_per = "${step}"\nskew_bps = ${style.skewBps}`,
      `most_skew_bps = ${style.mostSkewBps}`,
      `sell_down_to = "${(target - room).toFixed(4)}"\nbuy_up_to = "${(target + room).toFixed(4)}"`,
    ].join('\n');
  });
  const sources = assetNames.flatMap((name) => {
    const { walker } = coins[name];
    if (walker === null) return [];
    const each = [0, 1, 2].map(
      (at) =>
        `[prices.${name}-${at}]\ntype = "http"\nurl = "${prices}/${walker}/${at}"\n` +
        'every_seconds = 1\nstale_seconds = 4\njump_bps = 2000',
    );
    const names = [0, 1, 2].map((at) => `${name}-${at}`);
    const median = `[prices.${name}]\ntype = "median"\nof = ${q(names)}\noutlier_bps = 100`;
    return [...each, median];
  });
  const priceOf = (name: AssetName) => (coins[name].walker === null ? 'dollar' : name);
  const quoted = pairs.map(({ base, quote, least, tiers, most }) => {
    const [spread, ...further] = style.spreads;
    const steps = tiers.map((from, at) => `{ from = "${from}", spread_bps = ${further[at]} }`);
    return [
      `[[pairs]]\nbase = ${q(base)}\nquote = ${q(quote)}`,
      `price = "${priceOf(base)} / ${priceOf(quote)}"`,
      `least = "${least}"\nmost = "${most}"\nspread_bps = ${spread}`,
      `tiers = [${steps.join(', ')}]\nleast_spread_bps = ${style.leastSpreadBps}`,
      `levels = ["${least * 2}", "${most}"]`,
    ].join('\n');
  });
  return [
    head.replace('batch_seconds = 0', `batch_seconds = ${style.batchSeconds}`),
    ...assets,
    ...sources,
    '[prices.dollar]\ntype = "fixed"\nvalue = "1"',
    ...quoted,
    `[hedge]\ntimeout_seconds = 2\ngive_up_seconds = 518400\n${'url' in hook ? `url = ${q(hook.url)}` : `command = ${q(hook.command)}`}`,
    '',
  ].join('\n');
}
