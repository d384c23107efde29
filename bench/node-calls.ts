// The questions of a market to nodes: those to each family for a leg of a swap, from the request
// for prices to the end, and for a day on which nothing is traded. Questions, as providers count
// them: a batch is as many as are in it. An operator who pays for calls multiplies (docs/nodes.md).
// TRON and Solana are simulators, or real nodes where PARLEY_JAVA_TRON and PARLEY_SOLANA_VALIDATOR
// name them: their blocks come by themselves, so that a count differs from run to run. Then their
// rows are all: the other chains stay at the time of real ones, and read back to before their
// start.

import { type Ended, exchanges } from '@parley/chains/nodes/transport-node.ts';
import { examineNodes } from '@parley/market/doctor/nodes.ts';
import { createParts } from '@parley/market/doctor/parts.ts';
import type { ChainSettings } from '@parley/market/settings/chains.ts';
import { devChains } from '@parley/market/start/dev-network.ts';
import { lookEveryMs } from '@parley/market/start/node-watch.ts';
import { startDriver } from '@parley/verify/test/adapters/drivers.ts';
import { startRealDrivers } from '@parley/verify/test/adapters/real-drivers.ts';
import { questionsIn } from './questions.ts';
import { atMost, type Row } from './report.ts';
import {
  asMarket,
  driverOf,
  isMarket,
  type Market,
  type Pair,
  type Place,
  startFamilies,
} from './requests-families.ts';

const places: readonly Place[] = ['bitcoin', 'evm', 'tron', 'solana'];
const pairs: readonly Pair[] = places.flatMap((one, at) =>
  places.slice(at + 1).map((other): Pair => [one, other]),
);

/** A setting: how often a chain is polled (PARLEY_FOLLOW_INTERVAL_MS). */
const pollSeconds = 5;
const daySeconds = 86_400;
const runsSeconds = 3 * 3_600;
const lookSeconds = lookEveryMs / 1_000;

/**
 * Chains as they are outside, where a dev chain is otherwise. `shallow`: polls that see a leg's
 * funding and claim on their way to their depth, beyond those of a dev chain. `unfinal`: polls that
 * wait for a final block. `receipts`: questions of a block that is not empty.
 */
type Outside = {
  readonly place: Place;
  /** null: polls alone cost. */
  readonly blockSeconds: number | null;
  readonly shallow: number;
  readonly unfinal: number;
  readonly receipts: number;
};
const outside = {
  Bitcoin: { place: 'bitcoin', blockSeconds: 600, shallow: 2, unfinal: 0, receipts: 0 },
  Ethereum: { place: 'evm', blockSeconds: 12, shallow: 20, unfinal: 64, receipts: 0 },
  Base: { place: 'evm', blockSeconds: 2, shallow: 8, unfinal: 240, receipts: 0 },
  TRON: { place: 'tron', blockSeconds: 3, shallow: 20, unfinal: 0, receipts: 1 },
  Solana: { place: 'solana', blockSeconds: null, shallow: 4, unfinal: 0, receipts: 0 },
} as const satisfies Record<string, Outside>;
type Name = keyof typeof outside;

/** Questions as they were measured, and a tenth more: a count that grows past that is news. */
const limits: Readonly<Record<Name, { readonly leg: number; readonly day: number }>> = {
  Bitcoin: { leg: 92, day: 42_000 },
  Ethereum: { leg: 475, day: 73_000 },
  Base: { leg: 525, day: 135_000 },
  TRON: { leg: 193, day: 106_000 },
  Solana: { leg: 165, day: 89_000 },
};

/** Questions by method, and the exchanges that they left in. */
type Asked = { readonly by: Map<string, number>; exchanges: number };
const nothing = (): Asked => ({ by: new Map(), exchanges: 0 });
function add(to: Asked = nothing(), more: Asked = nothing()): void {
  to.exchanges += more.exchanges;
  for (const [method, times] of more.by) to.by.set(method, (to.by.get(method) ?? 0) + times);
}
const sum = ({ by }: Asked) => [...by.values()].reduce((all, each) => all + each, 0);

/** Counts the market's own calls alone. */
function startCounting(originOf: () => ReadonlyMap<string, Place>) {
  let asked = new Map<Place, Asked>();
  const hear = (message: unknown) => {
    const exchange = message as Ended;
    const place = originOf().get(new URL(exchange.url).origin);
    if (!isMarket() || place === undefined) return;
    const own = asked.get(place) ?? nothing();
    asked.set(place, own);
    own.exchanges += 1;
    for (const each of questionsIn(exchange)) own.by.set(each, (own.by.get(each) ?? 0) + 1);
  };
  exchanges.subscribe(hear);
  return {
    /** Since the last time. */
    take: (): ReadonlyMap<Place, Asked> => {
      const taken = asked;
      asked = new Map();
      return taken;
    },
    sumOf: (place: Place) => sum(asked.get(place) ?? nothing()),
    stop: () => void exchanges.unsubscribe(hear),
  };
}

type Idle = {
  /** A poll that finds nothing new, one that finds a block, and what each further block adds. */
  readonly still: number;
  readonly first: number;
  readonly more: number;
  /** A look at the node, as metrics and the doctor make it. */
  readonly look: number;
};

export async function benchNodeCalls(): Promise<Row[]> {
  let origins: ReadonlyMap<string, Place> = new Map();
  const counting = startCounting(() => origins);
  const real = await startRealDrivers((text) => process.stderr.write(`${text}\n`));
  const given = real.all.map(({ info, driver }) => [info.family, async () => driver] as const);
  const start = { ...startDriver, ...Object.fromEntries(given) };
  const families = await startFamilies(pairs, start).catch(async (error) => {
    await real.stop();
    throw error;
  });
  const { market } = families;
  const served = places.filter((place) => families.pairs.flat().includes(place));
  try {
    origins = new Map(served.map((place) => [new URL(driverOf(market, place).url).origin, place]));
    await market.look();
    // A market that has run for hours reads no block of before its start.
    if (real.all.length === 0) {
      for (const place of served) await driverOf(market, place).pass(runsSeconds);
      market.deps.advance(runsSeconds * 1_000);
    }
    await market.look();
    const shallow = new Map<Place, number>();
    const legs = new Map(places.map((place) => [place, nothing()]));
    for (const pair of families.pairs) {
      counting.take();
      await families.askPair(pair, async (name, work) => {
        const done = await work();
        const claimed = claimedIn(name);
        if (claimed !== null) shallow.set(claimed, await shallowPoll(market, claimed, counting));
        return done;
      });
      const asked = counting.take();
      // The other chains were polled as on any day.
      for (const place of pair) add(legs.get(place), asked.get(place));
    }
    const rows: Row[] = [];
    const own: readonly Place[] = real.all.map(({ info }) => info.family);
    for (const place of own.length === 0 ? served : own) {
      const leg = legs.get(place) ?? nothing();
      rows.push(
        ...rowsOf(nodeOf(market, place), leg, {
          ...(await idleOf(market, place, counting)),
          shallow: shallow.get(place) ?? 0,
        }),
      );
    }
    return rows;
  } finally {
    counting.stop();
    await families.stop();
    await real.stop();
  }
}

/** By the names that `startFamilies` gives. */
function claimedIn(name: string): Place | null {
  const words = /^broadcast: a claim on (\w+),/.exec(name)?.[1]?.toLowerCase();
  return places.find((each) => each === words) ?? null;
}

type Counting = ReturnType<typeof startCounting>;

/** A poll with a new block while a claim comes to its depth. */
async function shallowPoll(market: Market, place: Place, { sumOf }: Counting): Promise<number> {
  const driver = driverOf(market, place);
  await driver.show();
  await market.follow(place);
  await driver.show();
  const before = sumOf(place);
  await market.follow(place);
  return sumOf(place) - before;
}

async function idleOf(market: Market, place: Place, { take, sumOf }: Counting): Promise<Idle> {
  const driver = driverOf(market, place);
  const counted = async (work: () => Promise<unknown>) => {
    take();
    await work();
    return sumOf(place);
  };
  const polled = () => counted(() => market.follow(place));
  await polled();
  const still = await polled();
  await driver.show();
  const first = await polled();
  await driver.show();
  await driver.show();
  const more = Math.max(0, (await polled()) - first);
  const parts = createParts(() => {}, AbortSignal.timeout(60_000), 60_000);
  const chains = [settingsOf(market, place)];
  const look = await counted(() =>
    asMarket(() => examineNodes({ chains, now: Date.now, callMs: 10_000, parts })),
  );
  return { still, first, more, look };
}

/** As the settings name its one node. */
function settingsOf(market: Market, place: Place): ChainSettings {
  const { dev } = driverOf(market, place);
  const [chain] = devChains({ chains: [dev.info] });
  if (chain === undefined) throw new Error(`no chain of ${place}`);
  return chain;
}

type Node = { readonly place: Place; readonly where: string };

function nodeOf(market: Market, place: Place): Node {
  const { hasOwnClock = false, node } = driverOf(market, place).dev.info;
  return { place, where: hasOwnClock ? `${node.name} ${node.version}` : 'dev chains' };
}

type Polls = Idle & { readonly shallow: number };

function rowsOf({ place, where }: Node, leg: Asked, polled: Polls): Row[] {
  const all = Object.entries(outside) as [Name, Outside][];
  const own = all.filter(([, each]) => each.place === place);
  const { still, first, more, look, shallow } = polled;
  // Each family has a leg in so many swaps.
  const swaps = places.length - 1;
  const by = [...leg.by].sort(([, one], [, other]) => other - one);
  const methods = by.map(([method, count]) => `${method} ${rounded(count / swaps)}`).join(', ');
  return own.flatMap(([name, { blockSeconds, shallow: polls, unfinal, receipts }]) => {
    const perLeg = sum(leg) / swaps + polls * (shallow - still) + unfinal;
    const perDay = daySeconds / pollSeconds;
    const blocks = blockSeconds === null ? 0 : daySeconds / blockSeconds;
    const news = Math.min(perDay, blocks);
    const following = perDay * still + news * (first - still) + (blocks - news) * more;
    const value = following + blocks * receipts + (daySeconds / lookSeconds) * look;
    const exchanged = `on ${where} in ${rounded(leg.exchanges / swaps)} exchanges: ${methods}`;
    const about = `a poll asks ${still}, with a block ${first}, while something comes to its depth ${shallow}; a look ${look}`;
    const { leg: mostLeg, day } = limits[name];
    const unit = 'questions';
    return [
      atMost(
        `node-calls: ${name}: a leg of a swap`,
        { value: perLeg, unit, limit: mostLeg, bar: 1 },
        exchanged,
      ),
      atMost(
        `node-calls: ${name}: a day without a swap`,
        { value, unit, limit: day, bar: 1 },
        about,
      ),
    ];
  });
}

const rounded = (value: number) => Math.round(value * 10) / 10;
