// What happens to a maker and its market in a soak: both are killed, time passes faster than the
// machine's, the price source fails, and gas runs low.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../../scripts/demo/people.ts';
import type { Place } from '../../scripts/demo/place.ts';
import { type MakerLog, type MakerProcess, startMaker, until } from '../support/maker.ts';
import type { Stage } from '../support/stage.ts';
import { dealsIn } from './ledger.ts';
import { faultKinds, type PriceServer, sources } from './prices.ts';

const script = join(import.meta.dirname, 'maker.ts');
/** Of a maker's life, and between two kills of the market and two faults of its price source. */
const lifeMs = [6_000, 25_000] as const;
const marketLifeMs = [60_000, 120_000] as const;
const faultEveryMs = [10_000, 30_000] as const;
const faultMs = 5_000;
const moveEveryMs = 4_000;
/** After the warning that there is little. */
const moreAfterMs = 60_000;
const moreTrx = 500_000n * 10n ** 6n;
const patienceMs = 90_000;
/** What nobody came for is taken back within so many hours of the market. */
const mostHours = 120;

type Random = () => number;

/** From 0 to 1 (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const within = ([least, most]: readonly [number, number], random: Random) =>
  least + random() * (most - least);

/** What is done to maker and market; counts. */
type Blows = { kills: number; marketKills: number; priceFaults: number };

export type Scene = {
  readonly stage: Stage;
  readonly place: Place;
  readonly folder: string;
  readonly file: string;
  readonly prices: PriceServer;
  readonly random: Random;
  readonly log: MakerLog;
  readonly blows: Blows;
  readonly running: { maker: MakerProcess | null };
  /** Of the market for one that passes. */
  readonly pace: number;
  readonly over: AbortSignal;
};

async function pause(ms: number, over: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: over }).catch(() => undefined);
}

export const untilOver = (over: AbortSignal) => pause(2 ** 31 - 1, over);

const start = ({ file, stage, log }: Scene) =>
  startMaker([file, stage.devnet.dev], log, { script });

/** The last one runs on. */
export async function killMakers(scene: Scene): Promise<void> {
  const { random, over, blows, running } = scene;
  for (;;) {
    const maker = start(scene);
    running.maker = maker;
    await pause(within(lifeMs, random), over);
    if (over.aborted) return;
    if (maker.child.exitCode !== null) throw new Error('the maker ended by itself');
    await maker.kill();
    blows.kills += 1;
  }
}

/** The clock stands still while a wrong price must not be believed. */
export async function passTime({ stage, random, over, blows, prices, pace }: Scene): Promise<void> {
  let [killAt, faultAt] = [marketLifeMs, faultEveryMs].map((each) => within(each, random));
  for (const began = performance.now(); !over.aborted; ) {
    await pause(moveEveryMs, over);
    const passed = performance.now() - began;
    if (passed > (killAt ?? 0)) {
      await stage.restart();
      blows.marketKills += 1;
      killAt = performance.now() - began + within(marketLifeMs, random);
    } else if (passed > (faultAt ?? 0)) {
      const source = sources[Math.floor(random() * sources.length)] ?? 'btc';
      const kind = faultKinds[blows.priceFaults % faultKinds.length] ?? 'error';
      prices.become(source, kind);
      await pause(faultMs, over);
      // A source that says nothing for long has no price.
      if (kind === 'silent') await stage.move(60);
      prices.become(source, null);
      blows.priceFaults += 1;
      faultAt = performance.now() - began + within(faultEveryMs, random);
    } else await stage.move((moveEveryMs / 1_000) * (pace - 1));
  }
}

/** What is given beside what it had. */
export async function giveGas({ stage, place, log, over }: Scene, maker: Person): Promise<bigint> {
  const chain = place.tron.chain;
  await until('the warning of little gas', async () =>
    log.lines.some((line) => line.event === 'gas_low' && line.chain === chain) ? true : null,
  );
  await pause(moreAfterMs, over);
  await stage.dev.faucet({ chain, address: maker.tron.address, amount: moreTrx });
  return moreTrx;
}

/** Moves the clock until each of its swaps has ended, and every taker's. */
export async function allEnded({ stage, folder }: Scene, trading: Promise<unknown>): Promise<void> {
  let isTrading = true;
  const whenOver = trading.finally(() => {
    isTrading = false;
  });
  // Those who settle need no more time than that.
  await Promise.race([whenOver, sleep(patienceMs, undefined, { ref: false })]);
  const open = async () => (await dealsIn(folder)).filter(({ end }) => end === null);
  for (let hour = 0; hour < mostHours; hour += 1) {
    if (!isTrading && (await open()).length === 0) return;
    await stage.move(3_600);
    await sleep(2_000);
  }
  assert.deepEqual(await open(), [], `not ended after ${mostHours} hours`);
  await whenOver;
}
