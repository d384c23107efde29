// A swap between TRON and Solana through the market, for what its fundings and claims ask of nodes
// there. The nodes are the simulators of the dev network.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Material } from '../chains/material.ts';
import { hashlockOf } from '../core/hashlock.ts';
import type { LegName } from '../core/trade.ts';
import { buildApp } from '../server/edge/app.ts';
import { type Asset, seedAssets } from '../server/market/assets.ts';
import { createSettlement } from '../server/settle/follow.ts';
import { insertAccount } from '../server/settle/testing/account.ts';
import { must, requestsTo } from '../server/settle/testing/world.ts';
import type { Driver, Side } from '../test/adapters/driver.ts';
import { startDriver } from '../test/adapters/drivers.ts';
import { testDatabase } from '../test/support/database.ts';
import { type TestDeps, testDeps } from '../test/support/deps.ts';
import type { Meter } from './requests-meter.ts';

const named = { tron: 'TRON', solana: 'Solana' } as const;
type Place = keyof typeof named;
const otherOf = { tron: 'solana', solana: 'tron' } as const;

export type Families = {
  /** One swap, settled. */
  ask(measure: Meter['measure']): Promise<void>;
  stop(): Promise<void>;
};

type Market = {
  readonly app: FastifyInstance;
  readonly deps: TestDeps;
  readonly drivers: Readonly<Record<Place, Driver>>;
  readonly assets: Readonly<Record<Place, Asset>>;
  /** Follows both chains. */
  look(): Promise<void>;
};

export async function startFamilies(): Promise<Families> {
  const [database, tron, solana] = await Promise.all([
    testDatabase({ connections: 10 }),
    startDriver.tron(),
    startDriver.solana(),
  ]);
  const drivers = { tron, solana };
  const adapters = [tron.adapter(), solana.adapter()];
  const deps = testDeps({
    db: database.db,
    adapters: new Map(adapters.map((each) => [each.chain, each])),
    settings: { rateLimit: 10_000_000 },
  });
  const seeded = await seedAssets(
    database.db,
    deps,
    adapters.map(({ chain, family }) => {
      const address = drivers[family as Place].token('token');
      return { chain, symbol: 'USD', address, decimals: 6 };
    }),
  );
  const app = await buildApp(deps, { processorClock: () => 0 });
  const settlement = createSettlement(deps);
  const market: Market = {
    app,
    deps,
    drivers,
    assets: { tron: seeded[0] as Asset, solana: seeded[1] as Asset },
    look: async () => {
      for (const { chain } of adapters) await settlement.pass(chain);
      await settlement.passDue();
    },
  };
  return {
    ask: (measure) => askSwap(market, measure),
    stop: async () => {
      await settlement.stop();
      await app.close();
      await Promise.all([tron.stop(), solana.stop()]);
      await database.drop();
    },
  };
}

type Trader = ReturnType<typeof requestsTo> & { readonly gives: Place };

/** Funds on one chain, and is paid on the other. */
async function traderOf({ app, deps, drivers }: Market, gives: Place): Promise<Trader> {
  const sides = { [gives]: 'funder', [otherOf[gives]]: 'receiver' } as Record<Place, Side>;
  const logins = (['tron', 'solana'] as const).map((family) => {
    const { address } = drivers[family].parties[sides[family]];
    return { family, address, pubkey: null };
  });
  const { key } = await insertAccount(deps, logins);
  return { ...requestsTo(app, key), gives };
}

async function askSwap(market: Market, measure: Meter['measure']): Promise<void> {
  const { db } = market.deps;
  // The wallets of a driver are one account's at a time.
  await db.rows({ name: 'bench_wallets', text: 'delete from wallets', values: [] });
  const traders = {
    tron: await traderOf(market, 'tron'),
    solana: await traderOf(market, 'solana'),
  };
  const { id, secret, long } = await agreed(market, traders);
  const short = otherOf[long];
  const swap = { id, secret, legs: { [long]: 'b', [short]: 'a' } as Record<Place, LegName> };
  for (const on of [long, short]) {
    await measure(`buildFund: on ${named[on]}`, () => fundBuild(traders[on], swap, on));
    await fund(market, traders[on], swap, on);
  }
  for (const on of [short, long]) {
    await claim(market, traders[otherOf[on]], { swap, on, measure });
  }
}

type Swap = {
  readonly id: string;
  readonly secret: string;
  readonly legs: Readonly<Record<Place, LegName>>;
};

/** The taker gives what has the long leg, which is `b`. */
async function agreed({ assets, drivers }: Market, traders: Readonly<Record<Place, Trader>>) {
  const secret = randomBytes(32).toString('hex');
  for (const long of ['tron', 'solana'] as const) {
    const [taker, maker] = [traders[long], traders[otherOf[long]]];
    const order = {
      direction: 'sell_base',
      baseAssetId: assets[long].id,
      baseAmount: drivers[long].amount('token').toString(),
      quoteAssetId: assets[otherOf[long]].id,
      ttlSeconds: 600,
    };
    const { rfq } = must(await taker.post('/v1/rfqs', order));
    const price = { quoteAmount: drivers[otherOf[long]].amount('token').toString() };
    const { thread } = must(await maker.post(`/v1/rfqs/${rfq.id}/quotes`, price));
    if (thread.initiator !== 'taker') continue;
    const path = `/v1/threads/${thread.id}/accept`;
    must(await taker.post(path, { ...price, hashlock: hashlockOf(secret) }));
    const { swap } = must(await maker.post(path, price));
    return { id: swap.id as string, secret, long };
  }
  throw new Error('no leg is the long one');
}

const fundBuild = (trader: Trader, { id, legs }: Swap, on: Place) =>
  trader.post(`/v1/swaps/${id}/legs/${legs[on]}/fund`);

/** Approvals first, each with its block. */
async function fund(market: Market, trader: Trader, swap: Swap, on: Place): Promise<void> {
  const driver = market.drivers[on];
  for (let isLast = false; !isLast; ) {
    const material: Material = must(await fundBuild(trader, swap, on));
    isLast = material.sign !== 'tron-txid' || material.transactions.length === 1;
    const signed = await driver.sign('funder', material);
    must(await trader.post('/v1/tx/broadcast', { chain: on, signed }));
    await driver.show();
  }
  await driver.deepen();
  await market.look();
}

type Claiming = {
  readonly swap: Swap;
  readonly on: Place;
  readonly measure: Meter['measure'];
};

async function claim(market: Market, trader: Trader, { swap, on, measure }: Claiming) {
  const driver = market.drivers[on];
  const { id, secret, legs } = swap;
  const path = `/v1/swaps/${id}/legs/${legs[on]}/claim`;
  const signed = await driver.sign('receiver', must(await trader.post(path, { secret })), secret);
  const sent = await measure(`broadcast: a claim on ${named[on]}`, () =>
    trader.post('/v1/tx/broadcast', { chain: on, signed }),
  );
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await driver.show();
  await driver.deepen();
  await market.look();
}
