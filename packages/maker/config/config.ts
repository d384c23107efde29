// The settings of a maker: TOML into values, every fault named. Keys are never in it: it names the
// files that hold them.

import { dirname, resolve } from 'node:path';
import { factsOf } from '@parley/core/families.ts';
import { levelSeconds } from '@parley/core/limits.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { parseAmount } from '@parley/sdk/people.ts';
import { parse } from 'smol-toml';
import { parsePriceName } from '../prices/name.ts';
import type { AssetRule, PairRule } from '../rules/decide.ts';
import { type ChainConfig, chainConfig } from './chains.ts';
import { type Faults, type Fields, fieldsOf, newFaults } from './fields.ts';
import { type PriceConfig, priceConfig } from './prices.ts';

export type AssetConfig = AssetRule & {
  /** The part that is never promised. */
  readonly reserve: BaseUnits;
  /** Base units from which the chain's high-value depth is wanted; null: never. */
  readonly highValueFrom: BaseUnits | null;
};

export type PairConfig = PairRule & {
  /** One source, or two whose ratio is the price. */
  readonly price: readonly [string] | readonly [string, string];
  /** Sizes whose prices are published, of base; none: nothing is. */
  readonly levels: readonly BaseUnits[];
};

export type Limits = {
  readonly mostSwaps: number;
  readonly mostSwapsATaker: number;
  readonly mostQuotes: number;
  readonly mostQuotesATaker: number;
  /** The taker's recent swaps, by the market's count; a taker with fewer is not quoted. */
  readonly leastSettledOfTaker: number;
  readonly quoteSeconds: number;
  readonly levelSeconds: number;
  readonly quotesAMinute: number;
  /** The limit of requests that carry quotes. */
  readonly requestsAMinute: number;
  readonly balanceSeconds: number;
  readonly pollMs: number;
  readonly cancelSeconds: number;
  readonly batchSeconds: number;
};

export type Config = {
  readonly market: {
    readonly url: string;
    /** The chain whose wallet signs in. */
    readonly login: string;
    readonly productName: string | null;
    readonly shortName: string | null;
  };
  /** Absolute. */
  readonly store: string;
  readonly metricsPort: number | null;
  readonly chains: readonly ChainConfig[];
  readonly assets: readonly AssetConfig[];
  readonly prices: readonly PriceConfig[];
  readonly pairs: readonly PairConfig[];
  readonly limits: Limits;
};

/** All that is wrong with a file of settings, a line each. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Each side has one of every size: the market takes 20 of a pair, and 100 pairs of an account. */
const mostLevels = 10;
const mostLevelPairs = 100;
const most = { chains: 20, assets: 200, prices: 200, pairs: 500 } as const;
const port = { least: 1, most: 65_535 } as const;
const nameForm = /^[a-z\d][a-z\d-]{0,39}$/;

/** `file`: relative paths in it start from there. Throws ConfigError. */
export function parseConfig(text: string, file: string): Config {
  let settings: unknown;
  try {
    settings = parse(text);
  } catch (error) {
    throw new ConfigError(`${file} is no TOML: ${(error as Error).message.split('\n')[0]}`);
  }
  const faults = newFaults();
  const config = read(fieldsOf(settings, '', faults), dirname(resolve(file)), faults);
  if (faults.all.length > 0) throw new ConfigError(`${file}\n  ${faults.all.join('\n  ')}`);
  return config;
}

function read(top: Fields, folder: string, faults: Faults): Config {
  const named = <T>(what: keyof typeof most, make: (name: string, fields: Fields) => T): T[] =>
    top.tables(what, { most: most[what] }).map(([name, value]) => {
      const fields = fieldsOf(value, `${what}.${name}`, faults);
      if (!nameForm.test(name)) fields.fault('', 'a name is a to z, digits and dashes, at most 40');
      const made = make(name, fields);
      fields.end();
      return made;
    });
  const chains = named('chains', (name, fields) => chainConfig(name, fields, folder));
  const assets = named('assets', (name, fields) => assetConfig(name, fields, chains));
  const prices = named('prices', (name, fields) => priceConfig(name, fields, folder));
  const pairs = top.list('pairs', { most: most.pairs }).map((value, at) => {
    const fields = fieldsOf(value, `pairs[${at}]`, faults);
    const pair = pairConfig(fields, assets, prices);
    fields.end();
    return pair;
  });
  const config: Config = {
    market: marketOf(top.part('market'), chains),
    store: resolve(folder, top.text('store')),
    metricsPort: top.has('metrics_port') ? top.whole('metrics_port', port) : null,
    chains,
    assets,
    prices,
    pairs: pairs.filter((each) => each !== null),
    limits: limitsOf(top.part('limits')),
  };
  const leveled = config.pairs.filter(({ levels }) => levels.length > 0).length;
  if (leveled > mostLevelPairs) {
    top.fault('pairs', `${leveled} have levels: the market takes those of ${mostLevelPairs}`);
  }
  if (!top.has('pairs')) top.fault('pairs', 'are missing: [[pairs]] names what is traded');
  unique(config, faults);
  top.end();
  return config;
}

function marketOf(fields: Fields, chains: readonly ChainConfig[]): Config['market'] {
  const market = {
    url: fields.text('url'),
    login: fields.text('login'),
    productName: fields.optional('product_name'),
    shortName: fields.optional('short_name'),
  };
  const { hostname = '', protocol = '' } = URL.parse(market.url) ?? {};
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  // The API key goes there.
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    fields.fault('url', 'must be https, or http of this machine');
  }
  if (!chains.some(({ chain }) => chain === market.login)) {
    fields.fault('login', 'must name one of the chains, whose wallet signs in');
  }
  fields.end();
  return market;
}

function assetConfig(name: string, fields: Fields, chains: readonly ChainConfig[]): AssetConfig {
  const chain = fields.text('chain');
  if (!chains.some((each) => each.chain === chain)) fields.fault('chain', 'names none of [chains]');
  const decimals = fields.whole('decimals', { least: 0, most: 36 });
  const token = fields.optional('token');
  const own = factsOf[chains.find((each) => each.chain === chain)?.family ?? 'evm'].coin.decimals;
  if (token === null && decimals !== own)
    fields.fault('decimals', `of the chain's coin are ${own}`);
  const amount = (setting: string) => fields.parsed(setting, (given) => amountOf(given, decimals));
  return {
    name,
    chain,
    decimals,
    token,
    reserve: amount('reserve') ?? 0n,
    mostOpen: amount('most_open'),
    mostADay: amount('most_a_day'),
    highValueFrom: amount('high_value_from'),
  };
}

/** Whole coins, as a text or a whole number: a fraction in TOML is a float, and not exact. */
function amountOf(given: unknown, decimals: number): BaseUnits {
  const text = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  if (typeof text !== 'string') throw new Error('must be a text such as "0.25"');
  return parseAmount(text, decimals, { locale: 'en' });
}

const sides = { both: ['base', 'quote'], sell: ['base'], buy: ['quote'] } as const;

function pairConfig(
  fields: Fields,
  assets: readonly AssetConfig[],
  prices: readonly PriceConfig[],
): PairConfig | null {
  const asset = (setting: string) => {
    const name = fields.text(setting);
    const found = assets.find((each) => each.name === name);
    if (found === undefined) fields.fault(setting, `"${name}" is none of [assets]`);
    return found;
  };
  const base = asset('base');
  const quote = asset('quote');
  const spread = fields.whole('spread_bps', { least: 0, most: 5_000 });
  const slip = fields.whole('slip_bps', { least: 0, most: 5_000 }, Math.floor(spread / 2));
  const side = fields.oneOf('side', ['both', 'sell', 'buy'], 'both');
  const price = parsePriceName(fields.text('price'));
  for (const name of price) {
    if (!prices.some((each) => each.name === name)) {
      fields.fault('price', `"${name}" is none of [prices]`);
    }
  }
  if (base === undefined || quote === undefined) return null;
  if (base.chain === quote.chain) fields.fault('quote', `is on ${base.chain} too: a swap has two`);
  const amount = (name: string) => fields.parsed(name, (given) => amountOf(given, base.decimals));
  const least = amount('least');
  const largest = amount('most');
  if (least === null) fields.fault('least', 'is the smallest size, an amount of the base');
  if (largest === null) fields.fault('most', 'is the largest size, an amount of the base');
  if (least !== null && largest !== null && !(least > 0n && least <= largest)) {
    fields.fault('least', 'must be above 0 and at most `most`');
  }
  const bounds = { least: least ?? 1n, most: largest ?? 1n };
  return {
    name: `${base.name}/${quote.name}`,
    base,
    quote,
    price,
    gives: sides[side],
    ...bounds,
    levels: levelsOf(fields, base.decimals, bounds),
    spreadBps: BigInt(spread),
    slipBps: BigInt(slip),
  };
}

function levelsOf(
  fields: Fields,
  decimals: number,
  { least, most: largest }: { readonly least: BaseUnits; readonly most: BaseUnits },
): readonly BaseUnits[] {
  const sizes = fields.parsed('levels', (given) => {
    if (!Array.isArray(given) || given.length > mostLevels) {
      throw new Error(`must be a list of at most ${mostLevels} sizes`);
    }
    return given.map((each) => amountOf(each, decimals));
  });
  const outside = (sizes ?? []).some((size) => size < least || size > largest);
  if (outside) fields.fault('levels', 'must be within `least` and `most`');
  return [...new Set(sizes ?? [])];
}

function unique({ assets, pairs }: Pick<Config, 'assets' | 'pairs'>, faults: Faults): void {
  const seen = new Set<string>();
  for (const { name, chain, token } of assets) {
    const holding = `${chain} ${token?.toLowerCase() ?? 'coin'}`;
    if (seen.has(holding)) faults.note(`assets.${name}`, 'is there under another name');
    seen.add(holding);
  }
  for (const { name, base, quote } of pairs) {
    const either = [base.name, quote.name].sort().join('/');
    if (seen.has(either)) faults.note('pairs', `${name} is there twice`);
    seen.add(either);
  }
}

function limitsOf(fields: Fields): Limits {
  const limits: Limits = {
    mostSwaps: fields.whole('most_swaps', { least: 1, most: 500 }, 20),
    mostSwapsATaker: fields.whole('most_swaps_a_taker', { least: 1, most: 500 }, 5),
    mostQuotes: fields.whole('most_quotes', { least: 1, most: 1_000 }, 100),
    mostQuotesATaker: fields.whole('most_quotes_a_taker', { least: 1, most: 1_000 }, 10),
    leastSettledOfTaker: fields.whole('least_settled_of_taker', { least: 0, most: 1_000 }, 0),
    quoteSeconds: fields.whole('quote_seconds', { least: 10, most: 3_600 }, 90),
    levelSeconds: fields.whole('level_seconds', levelSeconds, 60),
    quotesAMinute: fields.whole('quotes_a_minute', { least: 1, most: 30_000 }, 1_500),
    requestsAMinute: fields.whole('requests_a_minute', { least: 1, most: 3_000 }, 150),
    balanceSeconds: fields.whole('balance_seconds', { least: 1, most: 120 }, 30),
    pollMs: fields.whole('poll_ms', { least: 250, most: 60_000 }, 5_000),
    cancelSeconds: fields.whole('cancel_seconds', { least: 5, most: 60 }, 15),
    batchSeconds: fields.whole('batch_seconds', { least: 0, most: 600 }, 30),
  };
  fields.end();
  return limits;
}
