// The file of settings as it is written (docs/maker.md). Every fault is named with its path, and
// none repeats an address, which may hold a password.

import { levelSeconds } from '@parley/core/limits.ts';
import { z } from 'zod';
import { parsePrice } from '../rules/price.ts';

const longest = 4_096;
const mostNodes = 5;
const mostInstances = 8;
const mostPairs = 500;
const mostMarkets = 10;
/** Each side has one of every size: the market takes 20 of a pair, and 100 pairs of an account. */
const mostLevels = 10;
const mostTiers = 10;
const mostInMedian = 9;

const text = z.string().min(1).max(longest);
const whole = (least: number, most: number) => z.int().min(least).max(most);

const isOf = (protocols: RegExp) => (url: string) => protocols.test(URL.parse(url)?.protocol ?? '');
const nodeUrl = text.refine(isOf(/^https?:$/), 'must be an http or https address');
const nodeUrls = z.array(nodeUrl).min(1).max(mostNodes);

/** The API key goes there. */
const marketUrl = text.refine((url) => {
  const { hostname = '', protocol = '' } = URL.parse(url) ?? {};
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLocal);
}, 'must be https, or http of this machine');

const wallet = { key_file: text, warn_below_swaps: whole(0, 10_000).default(5) };
const policy = z.enum(['published', 'dev']).default('published');
const instances = z.array(text).max(mostInstances).default([]);
const contract = z.strictObject({ contract: text, creation: text });
const contracts = z.array(contract).max(mostInstances).default([]);
const chainId = whole(1, Number.MAX_SAFE_INTEGER);

const chain = z.discriminatedUnion('family', [
  z
    .strictObject({
      ...wallet,
      family: z.literal('bitcoin'),
      network: z.enum(['mainnet', 'testnet', 'regtest']).default('mainnet'),
      form: z.enum(['p2tr', 'p2wsh']).default('p2tr'),
      core_url: nodeUrl.optional(),
      esplora_url: nodeUrl.optional(),
      second_core_url: nodeUrl.optional(),
      second_esplora_url: nodeUrl.optional(),
    })
    .refine((of) => (of.core_url === undefined) !== (of.esplora_url === undefined), {
      path: ['core_url'],
      message: 'or esplora_url must be given, one of both',
    })
    .refine((of) => of.second_core_url === undefined || of.second_esplora_url === undefined, {
      path: ['second_core_url'],
      message: 'or second_esplora_url may be given, one of both',
    }),
  z.strictObject({
    ...wallet,
    family: z.literal('evm'),
    chain_id: chainId,
    rpc_urls: nodeUrls,
    contract: text.optional(),
    shards: instances,
    former_contracts: instances,
  }),
  z.strictObject({
    ...wallet,
    ...contract.shape,
    family: z.literal('tron'),
    policy,
    chain_id: chainId,
    rpc_urls: nodeUrls,
    solidity_urls: z.array(nodeUrl).max(mostNodes).default([]),
    shards: contracts,
    former_contracts: contracts,
  }),
  z
    .strictObject({
      ...wallet,
      family: z.literal('solana'),
      policy,
      rpc_urls: nodeUrls,
      genesis_hash: text.optional(),
      program: text.default(''),
    })
    // Without it any cluster would be taken for the one that is meant.
    .refine((of) => of.policy === 'dev' || of.genesis_hash !== undefined, {
      path: ['genesis_hash'],
      message: 'is missing: getGenesisHash of your node names the cluster',
    }),
]);

/** Whole coins, as a text or a whole number: a fraction in TOML is a float, and not exact. */
const amount = z
  .union([z.string(), z.int()], 'must be a text such as "0.25"')
  .transform((given) => String(given));

const asset = z.strictObject({
  chain: text,
  token: text.optional(),
  decimals: whole(0, 36),
  reserve: amount.default('0'),
  most_open: amount.optional(),
  most_a_day: amount.optional(),
  high_value_from: amount.optional(),
  target: amount.optional(),
  skew_bps: whole(1, 2_000).optional(),
  skew_per: amount.optional(),
  most_skew_bps: whole(1, 2_000).default(100),
  sell_down_to: amount.optional(),
  buy_up_to: amount.optional(),
  paper: amount.optional(),
});

const price = z.union([z.string(), z.number()]).transform((given, { addIssue }) => {
  try {
    return parsePrice(given);
  } catch (error) {
    addIssue((error as Error).message);
    return z.NEVER;
  }
});
const believed = {
  stale_seconds: whole(1, 86_400).optional(),
  least: price.optional(),
  most: price.optional(),
  jump_bps: whole(1, 10_000).default(1_000),
};
const polled = {
  ...believed,
  path: text.optional(),
  every_seconds: whole(1, 3_600).default(10),
  timeout_seconds: whole(1, 60).default(5),
};
const source = z.discriminatedUnion('type', [
  z.strictObject({ ...believed, type: z.literal('fixed'), value: price }),
  z.strictObject({ ...polled, type: z.literal('command'), command: z.array(text).min(1).max(50) }),
  z.strictObject({ ...polled, type: z.literal('http'), url: nodeUrl }),
  z.strictObject({
    type: z.literal('median'),
    of: z.array(text).min(2, 'must be 2 sources or more').max(mostInMedian),
    outlier_bps: whole(1, 5_000).default(100),
    quorum: whole(1, mostInMedian).optional(),
    least: price.optional(),
    most: price.optional(),
  }),
  z.strictObject({
    ...believed,
    type: z.literal('websocket'),
    url: text.refine(isOf(/^wss?:$/), 'must be a ws or wss address'),
    subscribe: z.array(text).max(10).default([]),
    path: text,
  }),
]);

const pair = z.strictObject({
  base: text,
  quote: text,
  price: text,
  least: amount,
  most: amount,
  spread_bps: whole(0, 5_000),
  tiers: z
    .array(z.strictObject({ from: amount, spread_bps: whole(0, 5_000) }))
    .max(mostTiers)
    .default([]),
  least_spread_bps: whole(-2_000, 5_000).default(0),
  slip_bps: whole(0, 5_000).optional(),
  side: z.enum(['both', 'sell', 'buy']).default('both'),
  levels: z.array(amount).max(mostLevels).default([]),
});

export const limits = z.strictObject({
  most_swaps: whole(1, 500).default(20),
  most_swaps_a_taker: whole(1, 500).default(5),
  most_quotes: whole(1, 1_000).default(100),
  most_quotes_a_taker: whole(1, 1_000).default(10),
  least_settled_of_taker: whole(0, 1_000).default(0),
  quote_seconds: whole(10, 3_600).default(90),
  level_seconds: whole(levelSeconds.least, levelSeconds.most).default(60),
  quotes_a_minute: whole(1, 30_000).default(1_500),
  requests_a_minute: whole(1, 3_000).default(150),
  balance_seconds: whole(1, 120).default(30),
  poll_ms: whole(250, 60_000).default(5_000),
  cancel_seconds: whole(5, 60).default(15),
  batch_seconds: whole(0, 600).default(30),
});

const tableName = z.string().regex(/^[a-z\d][a-z\d-]{0,39}$/);
const tables = <T extends z.ZodType>(of: T, most: number) =>
  z
    .record(tableName, of)
    .refine((all) => Object.keys(all).length <= most, `must be at most ${most} tables`)
    .default({});

/** One of both. The address may hold a key of its receiver. */
const hedge = z
  .strictObject({
    command: z.array(text).min(1).max(50).optional(),
    url: nodeUrl.optional(),
    token_file: text.optional(),
    timeout_seconds: whole(1, 60).default(10),
    give_up_seconds: whole(60, 518_400).default(86_400),
  })
  .refine((of) => (of.command === undefined) !== (of.url === undefined), {
    path: ['command'],
    message: 'or url must be given, one of both',
  })
  .refine((of) => of.token_file === undefined || of.url !== undefined, {
    path: ['token_file'],
    message: 'is sent to a url, and a command gets none',
  });

const market = z.strictObject({
  url: marketUrl,
  login: text,
  product_name: text.optional(),
  short_name: text.optional(),
});

export const shape = z.strictObject({
  store: text,
  metrics_port: whole(1, 65_535).optional(),
  market: market.optional(),
  markets: tables(market, mostMarkets),
  chains: tables(chain, 20),
  assets: tables(asset, 200),
  prices: tables(source, 200),
  addresses: tables(z.record(text, text), 100),
  pairs: z.array(pair).max(mostPairs),
  hedge: hedge.optional(),
  limits: limits.prefault({}),
});

export type Written = z.infer<typeof shape>;
export type WrittenMarket = Written['markets'][string];
export type WrittenChain = Written['chains'][string];
export type WrittenAsset = Written['assets'][string];
export type WrittenPrice = Written['prices'][string];
export type WrittenHedge = NonNullable<Written['hedge']>;
export type WrittenPair = Written['pairs'][number];
