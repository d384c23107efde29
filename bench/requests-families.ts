// Swaps between families through the market, for what their fundings and claims ask of nodes. TRON
// and Solana are the simulators of the dev network, in this process, or what `start` brings.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Material } from '@parley/chains/interface/material.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Asset } from '@parley/market/db/assets.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { seedAssets } from '@parley/market/market/assets.ts';
import { createSettlement } from '@parley/market/settle/follow.ts';
import { insertAccount } from '@parley/market/settle/testing/account.ts';
import { must, requestsTo } from '@parley/market/settle/testing/world.ts';
import type { Driver, Side } from '@parley/verify/test/adapters/driver.ts';
import { startDriver } from '@parley/verify/test/adapters/drivers.ts';
import { testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { FastifyInstance } from 'fastify';
import { isMiniature, sharing } from './miniature.ts';
import type { Meter } from './requests-meter.ts';

const named = { bitcoin: 'Bitcoin', evm: 'EVM', tron: 'TRON', solana: 'Solana' } as const;
export type Place = keyof typeof named;
export type Pair = readonly [Place, Place];
/** Those that the bench of requests has no other market for. */
const usualPairs: readonly Pair[] = [
  ['bitcoin', 'tron'],
  ['bitcoin', 'solana'],
  ['tron', 'solana'],
  ['tron', 'evm'],
  ['evm', 'solana'],
];
/** Their simulators need no further process. */
const fewPairs: readonly Pair[] = [['tron', 'solana']];
const otherOf = ([one, other]: Pair, place: Place): Place => (place === one ? other : one);

/** As what is asked of a pair is named. */
export const isOfPair = (what: string) => what.includes(', with ');

const coins = ['token', 'permits', 'native'] as const;
/** Bitcoin has its own coin alone, and `permits`, a token with EIP-2612 and EIP-3009, is EVM's. */
type Coin = (typeof coins)[number];
const inWords: Readonly<Record<Coin, string>> = {
  token: '',
  permits: ' in a token with permits',
  native: ' in coins',
};

export type Families = {
  /** Swaps of each pair, settled: of tokens, of tokens with permits, of coins. */
  ask(measure: Meter['measure']): Promise<void>;
  askPair(pair: Pair, measure: Meter['measure']): Promise<void>;
  readonly market: Market;
  readonly pairs: readonly Pair[];
  stop(): Promise<void>;
};

const own = new AsyncLocalStorage<true>();
/** The market's work for a request, or by itself; wallets and dev chains ask nodes besides. */
export const asMarket = <T>(work: () => Promise<T>): Promise<T> => own.run(true, work);
export const isMarket = () => own.getStore() === true;

export type Market = {
  readonly app: FastifyInstance;
  readonly deps: TestDeps;
  readonly drivers: Readonly<Partial<Record<Place, Driver>>>;
  /** By place and coin. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** Follows all chains, and then does what is due. */
  look(): Promise<void>;
  follow(place: Place): Promise<void>;
};

export const startFamilies = sharing((given?: readonly Pair[], start?: Starting) =>
  openFamilies(isMiniature ? fewPairs : given, start),
);

type Starting = Readonly<Record<Place, () => Promise<Driver>>>;

export async function openFamilies(
  pairs: readonly Pair[] = usualPairs,
  start: Starting = startDriver,
): Promise<Families> {
  const places = [...new Set(pairs.flat())];
  const [database, ...started] = await Promise.all([
    testDatabase({ connections: 10 }),
    ...places.map(async (place) => [place, await start[place]()] as const),
  ]);
  const drivers = Object.fromEntries(started) as Partial<Record<Place, Driver>>;
  const adapters = Object.values(drivers).map((driver) => driver.adapter());
  const deps = testDeps({
    db: database.db,
    adapters: new Map(adapters.map((each) => [each.chain, each])),
    settings: { rateLimit: 10_000_000 },
  });
  const traded = places.flatMap((place) => {
    const driver = driverOf({ drivers }, place);
    return coinsOf(place, driver).map((coin) => ({ place, coin, driver }));
  });
  const seeded = await seedAssets(
    database.db,
    deps,
    traded.map(({ coin, driver }) => ({
      chain: driver.dev.info.chain,
      symbol: coin.toUpperCase(),
      address: addressOf(driver, coin),
      decimals: 6,
    })),
  );
  const assets = new Map(
    traded.map(({ place, coin }, at) => [`${place} ${coin}`, seeded[at] as Asset]),
  );
  const app = await buildApp(deps, { processorClock: () => 0 });
  const settlement = createSettlement(deps);
  const market: Market = {
    app,
    deps,
    drivers,
    assets,
    look: () =>
      asMarket(async () => {
        for (const { chain } of adapters) await settlement.pass(chain);
        await settlement.passDue();
      }),
    follow: async (place) => {
      const adapter = adapters.find(({ family }) => family === place);
      if (adapter !== undefined) await asMarket(() => settlement.pass(adapter.chain));
    },
  };
  return {
    market,
    pairs,
    askPair: (pair, measure) => askSwap(market, { pair, coin: 'token' }, measure),
    ask: async (measure) => {
      for (const pair of pairs) {
        for (const coin of coins) {
          const isThere = pair.some((place) => assets.has(`${place} ${coin}`));
          // Bitcoin's coins are in each of its swaps.
          const isOther = coin !== 'native' || !pair.includes('bitcoin');
          if (isThere && isOther) await askSwap(market, { pair, coin }, measure);
        }
      }
    },
    stop: async () => {
      await settlement.stop();
      await app.close();
      await Promise.all(Object.values(drivers).map((driver) => driver.stop()));
      await database.drop();
    },
  };
}

export function driverOf({ drivers }: Pick<Market, 'drivers'>, place: Place): Driver {
  const driver = drivers[place];
  if (driver === undefined) throw new Error(`${place} is not started`);
  return driver;
}

function coinsOf(place: Place, driver: Driver): readonly Coin[] {
  if (place === 'bitcoin') return ['native'];
  return place === 'evm' && permitsOf(driver) !== null ? coins : ['token', 'native'];
}

function addressOf(driver: Driver, coin: Coin): string | null {
  return coin === 'permits' ? permitsOf(driver) : driver.token(coin);
}

function permitsOf({ dev }: Driver): string | null {
  return dev.info.tokens?.find(({ contract }) => contract === 'DevCoin')?.address ?? null;
}

type Trade = { readonly pair: Pair; readonly coin: Coin };

/** The coin of a leg: where its chain has none such, its token, or else its own coin. */
function coinOf({ assets }: Pick<Market, 'assets'>, coin: Coin, place: Place): Coin {
  const has = (each: Coin) => assets.has(`${place} ${each}`);
  return [coin, 'token' as const].find(has) ?? 'native';
}

function assetOf(market: Market, coin: Coin, place: Place): Asset {
  const asset = market.assets.get(`${place} ${coinOf(market, coin, place)}`);
  if (asset === undefined) throw new Error(`${place} is not traded`);
  return asset;
}

function amountOf(market: Market, coin: Coin, place: Place): bigint {
  const own = coinOf(market, coin, place);
  return driverOf(market, place).amount(own === 'permits' ? 'token' : own);
}

function nameOf(market: Market, coin: Coin, place: Place): string {
  const words = place === 'bitcoin' ? '' : inWords[coinOf(market, coin, place)];
  return `${named[place]}${words}`;
}

type Trader = ReturnType<typeof requestsTo>;
type Traders = ReadonlyMap<Place, Trader>;

/** Funds on one chain of the pair, and is paid on the other. */
async function traderOf(market: Market, pair: Pair, gives: Place): Promise<Trader> {
  const { app, deps } = market;
  const logins = pair.map((family) => {
    const side: Side = family === gives ? 'funder' : 'receiver';
    const { address, pubkey } = driverOf(market, family).parties[side];
    return { family, address, pubkey };
  });
  const { key } = await insertAccount(deps, logins);
  const { post, ...others } = requestsTo(app, key);
  return { ...others, post: (...asked) => asMarket(() => post(...asked)) };
}

async function askSwap(
  market: Market,
  { pair, coin }: Trade,
  measure: Meter['measure'],
): Promise<void> {
  const { db } = market.deps;
  // The wallets of a driver are one account's at a time.
  await db.rows({ name: 'bench_wallets', text: 'delete from wallets', values: [] });
  const traders = new Map<Place, Trader>();
  for (const place of pair) traders.set(place, await traderOf(market, pair, place));
  const { id, secret, long } = await agreed(market, { pair, coin }, traders);
  const short = otherOf(pair, long);
  const swap: Swap = { id, secret, pair, coin, long };
  // As a market that follows its chains: no request reads blocks that were read.
  await market.look();
  for (const on of [long, short]) {
    await fund(market, traders.get(on) as Trader, { swap, on, measure });
  }
  for (const on of [short, long]) {
    await claim(market, traders.get(otherOf(pair, on)) as Trader, { swap, on, measure });
  }
}

type Swap = Trade & {
  readonly id: string;
  readonly secret: string;
  readonly long: Place;
};

const legOf = ({ long }: Swap, on: Place): LegName => (on === long ? 'b' : 'a');

/** The taker gives what has the long leg, which is `b`. */
async function agreed(market: Market, { pair, coin }: Trade, traders: Traders) {
  const amountOn = (place: Place) => amountOf(market, coin, place).toString();
  const secret = randomBytes(32).toString('hex');
  for (const long of pair) {
    const short = otherOf(pair, long);
    const [taker, maker] = [traders.get(long), traders.get(short)] as [Trader, Trader];
    const order = {
      direction: 'sell_base',
      baseAssetId: assetOf(market, coin, long).id,
      baseAmount: amountOn(long),
      quoteAssetId: assetOf(market, coin, short).id,
      ttlSeconds: 600,
    };
    const { rfq } = must(await taker.post('/v1/rfqs', order));
    const price = { quoteAmount: amountOn(short) };
    const { thread } = must(await maker.post(`/v1/rfqs/${rfq.id}/quotes`, price));
    if (thread.initiator !== 'taker') continue;
    const path = `/v1/threads/${thread.id}/accept`;
    must(await taker.post(path, { ...price, hashlock: hashlockOf(secret) }));
    const { swap } = must(await maker.post(path, price));
    return { id: swap.id as string, secret, long };
  }
  throw new Error('no leg is the long one');
}

type Doing = {
  readonly swap: Swap;
  readonly on: Place;
  readonly measure: Meter['measure'];
};

/** Approvals first, each with its block. */
async function fund(market: Market, trader: Trader, { swap, on, measure }: Doing): Promise<void> {
  const driver = driverOf(market, on);
  const { coin, pair } = swap;
  const { chain, address } = assetOf(market, coin, on);
  await driver.dev.give({ address: driver.parties.funder.address, token: address, amount: null });
  const path = `/v1/swaps/${swap.id}/legs/${legOf(swap, on)}/fund`;
  const other = nameOf(market, coin, otherOf(pair, on));
  let when = '';
  for (let isLast = false; !isLast; when = ' once it is approved') {
    const name = `buildFund: on ${nameOf(market, coin, on)}${when}, with ${other}`;
    const material: Material = must(await measure(name, () => trader.post(path)));
    isLast = transactionsIn(material) === 1;
    const signed = await driver.sign('funder', material);
    must(await trader.post('/v1/tx/broadcast', { chain, signed }));
    await driver.show();
  }
  await driver.deepen();
  await market.look();
}

function transactionsIn(material: Material): number {
  if (material.sign === 'evm-tx') return material.txs.length;
  return material.sign === 'tron-txid' ? material.transactions.length : 1;
}

async function claim(market: Market, trader: Trader, { swap, on, measure }: Doing) {
  const driver = driverOf(market, on);
  const { id, secret, pair, coin } = swap;
  const { chain } = assetOf(market, coin, on);
  const path = `/v1/swaps/${id}/legs/${legOf(swap, on)}/claim`;
  const other = nameOf(market, coin, otherOf(pair, on));
  const name = `broadcast: a claim on ${nameOf(market, coin, on)}, with ${other}`;
  const signed = await driver.sign('receiver', must(await trader.post(path, { secret })), secret);
  const sent = await measure(name, () => trader.post('/v1/tx/broadcast', { chain, signed }));
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await driver.show();
  await driver.deepen();
  await market.look();
}
