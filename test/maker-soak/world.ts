// What happens to a maker and its market in a soak: both are killed, time passes faster than the
// machine's, the price source fails, and gas runs low.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../../scripts/demo/people.ts';
import type { Place } from '../../scripts/demo/place.ts';
import { fileStore } from '../../sdk/stores/file.ts';
import {
  type Line,
  type MakerLog,
  type MakerProcess,
  startMaker,
  until,
} from '../support/maker.ts';
import type { Stage } from '../support/stage.ts';
import { dealsIn } from './ledger.ts';
import { faultKinds, type PriceServer, sources } from './prices.ts';

const script = join(import.meta.dirname, 'maker.ts');
/** Of a maker's life, and between two kills of the market and two faults of its price source. */
const lifeMs = [6_000, 25_000] as const;
/** Where a stage is waited for, which does not come in every swap. */
const aimedLifeMs = [45_000, 60_000] as const;
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
/** For a refund that a timelock has opened: chains whose clocks trail get another hour. */
const refundMs = 60_000;
const refundKills = 4;

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

/** Of a swap of the maker, in which it is killed: its acceptance, and what `settle` calls it. */
export const stages = [
  'accepting',
  'waiting_to_fund',
  'funding',
  'funded',
  'revealing',
  'claiming',
  'refunding',
] as const;
type MakerStage = (typeof stages)[number];

/** What is done to maker and market; counts. */
export type Blows = {
  kills: number;
  /** Of one kill all swaps that it met. */
  readonly met: Record<MakerStage, number>;
  marketKills: number;
  priceFaults: number;
};

export const noBlows = (): Blows => ({
  kills: 0,
  marketKills: 0,
  priceFaults: 0,
  met: Object.fromEntries(stages.map((each) => [each, 0])) as Blows['met'],
});

function stageIn(line: Line): string {
  return String(line.event === 'swap' ? line.state : line.event);
}

/** By what it has said of each thread or swap last. */
function noteStages({ lines }: MakerLog, met: Blows['met']): void {
  const last = new Map<string, string>();
  for (const line of lines) {
    const { event, threadId, swapId } = line;
    if (event === 'accepting') last.set(String(threadId), event);
    if (event === 'agreed' || event === 'ended') last.delete(String(threadId));
    if (event === 'swap') last.set(String(swapId), stageIn(line));
    if (event === 'ended') last.delete(String(swapId));
  }
  for (const stage of last.values()) if (stage in met) met[stage as MakerStage] += 1;
}

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

async function killOne({ blows, log }: Scene, maker: MakerProcess): Promise<void> {
  if (maker.child.exitCode !== null) throw new Error('the maker ended by itself');
  await maker.kill();
  noteStages(log, blows.met);
  blows.kills += 1;
}

/** Its end is another's concern. */
const heard = (maker: MakerProcess, stage: MakerStage) =>
  maker.heard((line) => stageIn(line) === stage).catch(() => undefined);

/** At a moment that is drawn, or in the stage that was met least by now. The last one runs on. */
export async function killMakers(scene: Scene): Promise<void> {
  const { random, over, blows, running } = scene;
  for (;;) {
    const maker = start(scene);
    running.maker = maker;
    const [least = 'accepting'] = stages
      .slice(0, -1)
      .toSorted((one, other) => blows.met[one] - blows.met[other]);
    const isAimed = random() < 0.5;
    const life = pause(within(isAimed ? aimedLifeMs : lifeMs, random), over);
    await (isAimed ? Promise.race([life, heard(maker, least)]) : life);
    if (over.aborted) return;
    await killOne(scene, maker);
  }
}

/** As it begins to take back what is its own, and once more as it goes on. The last one runs on. */
export async function killAtRefunds(scene: Scene, ended: Promise<unknown>): Promise<void> {
  const { running } = scene;
  let isOver = false;
  const whenOver = ended.finally(() => {
    isOver = true;
  });
  for (let kills = 0; kills < refundKills; kills += 1) {
    const maker = running.maker;
    if (maker === null) return;
    await Promise.race([heard(maker, 'refunding'), whenOver]);
    if (isOver) return;
    await killOne(scene, maker);
    running.maker = start(scene);
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
export async function allEnded(
  scene: Scene,
  trading: Promise<unknown>,
  back: Promise<unknown>,
): Promise<void> {
  const { stage, folder } = scene;
  let isBack = false;
  const whenBack = back.finally(() => {
    isBack = true;
  });
  // Those who settle need no more time than that.
  await Promise.race([trading, sleep(patienceMs, undefined, { ref: false })]);
  const open = async () => (await dealsIn(folder)).filter(({ end }) => end === null);
  for (let hour = 0; hour < mostHours; hour += 1) {
    if (isBack && (await open()).length === 0) return;
    await stage.move(3_600);
    await dueEnded(scene);
  }
  assert.deepEqual(await open(), [], `not ended after ${mostHours} hours`);
  await whenBack;
}

/** Waits for those whose own timelock has passed; they go into batches side by side. */
async function dueEnded({ folder, stage }: Scene): Promise<void> {
  const store = await fileStore(join(folder, 'store'));
  const end = performance.now() + refundMs;
  for (; performance.now() < end; await sleep(500)) {
    let due = 0;
    for (const { end: how, swapId } of await dealsIn(folder)) {
      if (how !== null || swapId === null) continue;
      // The maker gives leg a.
      const record = await store.getSwap(swapId);
      if (record !== null && record.swap.deadlines.refundAt.a < stage.now()) due += 1;
    }
    if (due === 0) return;
  }
}
