// The settings of a maker: TOML into values, every fault named. Keys are never in it: it names the
// files that hold them.

import { dirname, resolve } from 'node:path';
import { type Family, factsOf } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { parseAmount } from '@parley/sdk/people.ts';
import type { PinnedChain } from '@parley/trader/sources.ts';
import { parse, TomlError } from 'smol-toml';
import type { AssetRule, PairRule } from '../rules/decide.ts';
import type { Price } from '../rules/price.ts';
import type { Lean, Tier } from '../rules/spread.ts';
import {
  type limits,
  shape,
  type Written,
  type WrittenAsset,
  type WrittenChain,
  type WrittenHedge,
  type WrittenMarket,
  type WrittenPair,
  type WrittenPrice,
} from './shape.ts';

export type ChainConfig = PinnedChain & {
  readonly chain: string;
  /** Absolute path. */
  readonly keyFile: string;
  /** Short of so many swaps that the wallet's coin pays for, the log warns. */
  readonly warnBelowSwaps: number;
  /** A dev chain has no lasting id by which its policy could be known. */
  readonly isDev: boolean;
};

export type AssetConfig = AssetRule & {
  /** The part that is never promised. */
  readonly reserve: BaseUnits;
  /** Base units from which the chain's high-value depth is wanted; null: never. */
  readonly highValueFrom: BaseUnits | null;
  /** Paper trading begins with so much; null: enough for its pairs. */
  readonly paper: BaseUnits | null;
};

export type PairConfig = PairRule & {
  /** One source, or two whose ratio is the price. */
  readonly price: readonly [string] | readonly [string, string];
  /** Sizes whose prices are published, of base; none: nothing is. */
  readonly levels: readonly BaseUnits[];
};

export type Bounds = {
  /** A price beyond these is none; null: no bound. */
  readonly least: Price | null;
  readonly most: Price | null;
  /** A step further than this from the last good price is not believed; null: any is. */
  readonly jumpBps: bigint | null;
};

export type PriceConfig = Bounds & {
  readonly name: string;
  /** Older than this it is no price. */
  readonly staleMs: number;
  /** Where a command runs. */
  readonly folder: string;
  readonly from: Source<Camelled<Exclude<WrittenPrice, { type: 'median' }>>> | Median;
};

/** The median of the good prices of other sources. */
export type Median = {
  readonly type: 'median';
  readonly of: readonly string[];
  /** One further than this from the median of all is left out. */
  readonly outlierBps: bigint;
  /** With fewer left there is no price. */
  readonly quorum: number;
};

/** Without what is the same of every source. */
type Source<Of> = Of extends unknown
  ? Omit<Of, 'staleSeconds' | 'least' | 'most' | 'jumpBps'>
  : never;

/** The hook that is told of agreed and ended swaps. Paths are absolute. */
export type HedgeConfig = {
  readonly to:
    | { readonly command: readonly [string, ...string[]]; readonly folder: string }
    | { readonly url: string; readonly tokenFile: string | null };
  readonly timeoutMs: number;
  readonly giveUpSeconds: number;
};

export type Limits = Camelled<ReturnType<(typeof limits)['parse']>>;

export type MarketConfig = Camelled<WrittenMarket> & {
  /** As log lines and metrics name it: NAME of `[markets.NAME]`, the host of `[market]`. */
  readonly name: string;
  /** The file of its API key, in the store. */
  readonly keyName: string;
};

export type Config = {
  /** One at least; `[market]` before `[markets.NAME]`. */
  readonly markets: readonly MarketConfig[];
  /** Absolute. */
  readonly store: string;
  readonly metricsPort: number | null;
  readonly chains: readonly ChainConfig[];
  readonly assets: readonly AssetConfig[];
  readonly prices: readonly PriceConfig[];
  /** Where money may be withdrawn to: by name, an address for each chain. */
  readonly addresses: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly pairs: readonly PairConfig[];
  /** null: there is no hedge. */
  readonly hedge: HedgeConfig | null;
  readonly limits: Limits;
};

type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
/** The same under names as the program writes them. */
type Camelled<Of> = { readonly [Name in keyof Of as Camel<Name>]: Of[Name] };

function camelled<Of extends object>(of: Of): Camelled<Of> {
  const named = Object.entries(of).map(([name, value]) => {
    return [name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value];
  });
  return Object.fromEntries(named) as Camelled<Of>;
}

/** All that is wrong with a file of settings, a line each. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

const mostLevelPairs = 100;

type Faults = string[];

/** `file`: relative paths in it start from there. Throws ConfigError. */
export function parseConfig(text: string, file: string): Config {
  let settings: unknown;
  try {
    settings = parse(text);
  } catch (error) {
    const line = error instanceof TomlError ? ` in line ${error.line}` : '';
    throw new ConfigError(`${file} is no TOML${line}: ${messageOf(error).split('\n')[0]}`);
  }
  const read = shape.safeParse(settings);
  const faults: Faults = (read.error?.issues ?? []).map(
    ({ path, message }) =>
      `${path.join('.') || 'the settings'}: ${/received undefined$/.test(message) ? 'is missing' : message}`,
  );
  const config = read.success ? configOf(read.data, dirname(resolve(file)), faults) : null;
  if (config === null || faults.length > 0) {
    throw new ConfigError(`${file}\n  ${faults.join('\n  ')}`);
  }
  return config;
}

function configOf(written: Written, folder: string, faults: Faults): Config {
  const { store, metrics_port: metricsPort = null, limits } = written;
  const chains = Object.entries(written.chains).map(([name, of]) => chainOf(name, of, folder));
  const assets = Object.entries(written.assets).map(([name, of]) =>
    assetOf(name, of, chains, faults),
  );
  const prices = Object.entries(written.prices).map(([name, of]) => priceOf(name, of, folder));
  for (const each of prices) mustBeMedian(each, prices, faults);
  const pairs = written.pairs.flatMap((of, at) => {
    const faulty = (field: string, sentence: string) =>
      void faults.push(`pairs.${at}.${field}: ${sentence}`);
    const names = pricesIn(of.price);
    for (const name of names) {
      if (!prices.some((each) => each.name === name)) {
        faulty('price', `"${name}" is none of [prices]`);
      }
    }
    return pairOf(of, assets, names, faulty) ?? [];
  });
  const markets = marketsOf(written, chains, faults);
  const leveled = pairs.filter(({ levels }) => levels.length > 0).length;
  if (leveled > mostLevelPairs) {
    faults.push(`pairs: ${leveled} have levels: the market takes those of ${mostLevelPairs}`);
  }
  for (const [name, of] of Object.entries(written.addresses)) {
    for (const chain of Object.keys(of)) {
      if (chains.some((each) => each.chain === chain)) continue;
      faults.push(`addresses.${name}.${chain}: names none of [chains]`);
    }
  }
  mustBeUnique(assets, pairs, faults);
  return {
    markets,
    store: resolve(folder, store),
    metricsPort,
    chains,
    assets,
    prices,
    addresses: new Map(Object.entries(written.addresses)),
    pairs,
    hedge: hedgeOf(written.hedge, folder),
    limits: camelled(limits),
  };
}

function hedgeOf(of: WrittenHedge | undefined, folder: string): HedgeConfig | null {
  if (of === undefined) return null;
  const { command = [], url, token_file: tokenFile } = of;
  const [program = '', ...args] = command;
  const to =
    url === undefined
      ? { command: [program, ...args] as const, folder }
      : { url, tokenFile: tokenFile === undefined ? null : resolve(folder, tokenFile) };
  return { to, timeoutMs: 1_000 * of.timeout_seconds, giveUpSeconds: of.give_up_seconds };
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '');

function marketsOf(
  { market, markets: named }: Written,
  chains: readonly ChainConfig[],
  faults: Faults,
): MarketConfig[] {
  const written = Object.entries(named).map(([name, of]) => ({
    ...camelled(of),
    url: withoutSlash(of.url),
    name,
    keyName: `market-key-${name}.json`,
    table: `markets.${name}`,
  }));
  if (market !== undefined) {
    const url = withoutSlash(market.url);
    const name = new URL(url).host;
    const own = { url, name, keyName: 'market-key.json', table: 'market' };
    written.unshift({ ...camelled(market), ...own });
  }
  if (written.length === 0) faults.push('market: is missing, and so is [markets.NAME]');
  const seen = new Set<string>();
  return written.map(({ table, ...of }) => {
    if (!chains.some(({ chain }) => chain === of.login)) {
      faults.push(`${table}.login: must name one of the chains, whose wallet signs in`);
    }
    const { origin } = new URL(of.url);
    if (seen.has(origin)) faults.push(`${table}.url: is the market of another table`);
    if (seen.has(of.name)) faults.push(`${table}: its name is the host of [market]`);
    seen.add(origin).add(of.name);
    return of;
  });
}

function chainOf(chain: string, written: WrittenChain, folder: string): ChainConfig {
  const common = {
    chain,
    keyFile: resolve(folder, written.key_file),
    warnBelowSwaps: written.warn_below_swaps,
    isDev: 'policy' in written && written.policy === 'dev',
  };
  return { ...common, ...pinned(written) };
}

function pinned(of: WrittenChain): PinnedChain {
  switch (of.family) {
    case 'bitcoin': {
      const nodes = [
        [of.core_url, of.esplora_url],
        [of.second_core_url, of.second_esplora_url],
      ].flatMap(([coreUrl, esploraUrl]) => [
        ...(coreUrl === undefined ? [] : [{ coreUrl }]),
        ...(esploraUrl === undefined ? [] : [{ esploraUrl }]),
      ]);
      return { family: of.family, bitcoin: of.network, form: of.form, nodes };
    }
    case 'evm': {
      const { contract } = of;
      return {
        family: of.family,
        chainId: of.chain_id,
        nodes: of.rpc_urls,
        ...(contract === undefined ? {} : { contract }),
        shards: of.shards,
        formerContracts: of.former_contracts,
      };
    }
    case 'tron':
      return {
        family: of.family,
        chainId: of.chain_id,
        nodes: of.rpc_urls.map((url, at) => {
          const solidityUrl = of.solidity_urls[at];
          return solidityUrl === undefined ? { url } : { url, solidityUrl };
        }),
        contract: of.contract,
        creation: of.creation,
        shards: of.shards,
        formerContracts: of.former_contracts,
      };
    case 'solana': {
      const { genesis_hash: genesisHash = '', program } = of;
      return { family: of.family, nodes: of.rpc_urls, genesisHash, program };
    }
  }
}

function assetOf(
  name: string,
  of: WrittenAsset,
  chains: readonly ChainConfig[],
  faults: Faults,
): AssetConfig {
  const { chain, decimals, token = null } = of;
  const fault = (field: string, sentence: string) =>
    void faults.push(`assets.${name}.${field}: ${sentence}`);
  const family: Family | undefined = chains.find((each) => each.chain === chain)?.family;
  if (family === undefined) fault('chain', 'names none of [chains]');
  else if (token === null && decimals !== factsOf[family].coin.decimals) {
    fault('decimals', `of the chain's coin are ${factsOf[family].coin.decimals}`);
  }
  const amount = (field: AmountField) =>
    unitsOf(of[field], decimals, (sentence) => fault(field, sentence));
  const sellDownTo = amount('sell_down_to');
  const buyUpTo = amount('buy_up_to');
  if (sellDownTo !== null && buyUpTo !== null && sellDownTo >= buyUpTo) {
    fault('sell_down_to', 'must be below `buy_up_to`');
  }
  const lean = leanIn(of, { target: amount('target'), per: amount('skew_per') }, fault);
  return {
    name,
    chain,
    decimals,
    token,
    reserve: amount('reserve') ?? 0n,
    mostOpen: amount('most_open'),
    mostADay: amount('most_a_day'),
    highValueFrom: amount('high_value_from'),
    lean,
    sellDownTo,
    buyUpTo,
    paper: amount('paper'),
  };
}

type AmountField = Exclude<
  keyof WrittenAsset,
  'chain' | 'token' | 'decimals' | 'skew_bps' | 'most_skew_bps'
>;

/** All three of its settings, or none. */
function leanIn(
  of: WrittenAsset,
  { target, per }: { readonly target: BaseUnits | null; readonly per: BaseUnits | null },
  fault: (field: string, sentence: string) => void,
): Lean | null {
  const fields = [of.target, of.skew_per, of.skew_bps];
  if (fields.every((each) => each === undefined)) return null;
  if (fields.includes(undefined)) fault('target', '`skew_per` and `skew_bps` go together');
  if (per !== null && per <= 0n) fault('skew_per', 'must be above 0');
  if (target === null || per === null || per <= 0n) return null;
  return { target, per, bps: BigInt(of.skew_bps ?? 0), mostBps: BigInt(of.most_skew_bps) };
}

/** null: it is absent, or a fault. */
function unitsOf(
  text: string | undefined,
  decimals: number,
  fault: (sentence: string) => void,
): BaseUnits | null {
  if (text === undefined) return null;
  try {
    return parseAmount(text, decimals, { locale: 'en' });
  } catch (error) {
    fault(messageOf(error));
    return null;
  }
}

function priceOf(name: string, of: WrittenPrice, folder: string): PriceConfig {
  if (of.type === 'median') {
    const { least = null, most = null } = of;
    const quorum = of.quorum ?? Math.floor(of.of.length / 2) + 1;
    const from = { type: of.type, of: of.of, outlierBps: BigInt(of.outlier_bps), quorum };
    return { name, from, folder, staleMs: 0, least, most, jumpBps: null };
  }
  const all: Camelled<Exclude<WrittenPrice, { type: 'median' }>> = camelled(of);
  const { staleSeconds, least = null, most = null, jumpBps, ...from } = all;
  const every = 'everySeconds' in from ? from.everySeconds : 10;
  return {
    name,
    from,
    folder,
    staleMs: 1_000 * (staleSeconds ?? Math.max(30, 3 * every)),
    least,
    most,
    jumpBps: from.type === 'fixed' ? null : BigInt(jumpBps),
  };
}

function mustBeMedian(
  { name, from }: PriceConfig,
  prices: readonly PriceConfig[],
  faults: Faults,
): void {
  if (from.type !== 'median') return;
  for (const [at, each] of from.of.entries()) {
    const source = prices.find((other) => other.name === each);
    const path = `prices.${name}.of.${at}`;
    if (source === undefined) faults.push(`${path}: "${each}" is none of [prices]`);
    else if (source.from.type === 'median') faults.push(`${path}: "${each}" is a median itself`);
    if (from.of.indexOf(each) < at) faults.push(`${path}: "${each}" is there twice`);
  }
  if (from.quorum > from.of.length) {
    faults.push(`prices.${name}.quorum: ${from.quorum} of ${from.of.length} sources cannot be`);
  }
}

/** How a pair names its price: one source, or two whose ratio it is. */
function pricesIn(text: string): PairConfig['price'] {
  const [first = '', second, ...more] = text.split('/').map((each) => each.trim());
  return second === undefined || more.length > 0 ? [text.trim()] : [first, second];
}

const sides = { both: ['base', 'quote'], sell: ['base'], buy: ['quote'] } as const;

function pairOf(
  of: WrittenPair,
  assets: readonly AssetConfig[],
  price: PairConfig['price'],
  fault: (field: string, sentence: string) => void,
): PairConfig | null {
  const named = (field: 'base' | 'quote') => {
    const found = assets.find(({ name }) => name === of[field]);
    if (found === undefined) fault(field, `"${of[field]}" is none of [assets]`);
    return found;
  };
  const base = named('base');
  const quote = named('quote');
  if (base === undefined || quote === undefined) return null;
  if (base.chain === quote.chain) fault('quote', `is on ${base.chain} too: a swap has two`);
  const amount = (field: string, text: string) =>
    unitsOf(text, base.decimals, (sentence) => fault(field, sentence)) ?? 1n;
  const least = amount('least', of.least);
  const most = amount('most', of.most);
  if (least <= 0n || least > most) fault('least', 'must be above 0 and at most `most`');
  const levels = [...new Set(of.levels.map((each) => amount('levels', each)))];
  if (levels.some((size) => size < least || size > most)) {
    fault('levels', 'must be within `least` and `most`');
  }
  const tiers = of.tiers.map(({ from, spread_bps: bps }, at): Tier => {
    return { from: amount(`tiers.${at}.from`, from), spreadBps: BigInt(bps) };
  });
  for (const [at, { from }] of tiers.entries()) {
    const above = tiers[at - 1]?.from ?? least;
    if (from > above && from <= most) continue;
    const bound = at === 0 ? '`least`' : 'the tier before it';
    fault(`tiers.${at}.from`, `must be above ${bound} and at most \`most\``);
  }
  const spreads = [of.spread_bps, ...of.tiers.map((each) => each.spread_bps)];
  if (of.least_spread_bps > Math.min(...spreads)) {
    fault('least_spread_bps', `must be at most ${Math.min(...spreads)}, the smallest spread`);
  }
  return {
    name: `${base.name}/${quote.name}`,
    base,
    quote,
    price,
    gives: sides[of.side],
    least,
    most,
    levels,
    spreadBps: BigInt(of.spread_bps),
    tiers,
    leastSpreadBps: BigInt(of.least_spread_bps),
    slipBps: BigInt(of.slip_bps ?? Math.floor(Math.min(...spreads) / 2)),
  };
}

function mustBeUnique(
  assets: readonly AssetConfig[],
  pairs: readonly PairConfig[],
  faults: Faults,
): void {
  const seen = new Set<string>();
  for (const { name, chain, token } of assets) {
    const holding = `${chain} ${token?.toLowerCase() ?? 'coin'}`;
    if (seen.has(holding)) faults.push(`assets.${name}: is there under another name`);
    seen.add(holding);
  }
  for (const { name, base, quote } of pairs) {
    const either = [base.name, quote.name].sort().join('/');
    if (seen.has(either)) faults.push(`pairs: ${name} is there twice`);
    seen.add(either);
  }
}
