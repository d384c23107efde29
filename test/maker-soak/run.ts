// `npm run soak -- maker`: an hour of a market in which takers trade with the maker program both
// ways. Maker and market are killed again and again, the price source fails, gas runs low, and
// some takers walk away. The maker comes back with its store, its nodes and its settings alone. In
// the end it holds what it agreed to, to the unit.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { holdingOf } from '../../scripts/demo/ledger.ts';
import { brandOf } from '../../scripts/demo/market.ts';
import { newPerson, type Person } from '../../scripts/demo/people.ts';
import { prepareDevMaker, usualGifts } from '../../scripts/maker-dev.ts';
import { newLog, walletsIn } from '../support/maker.ts';
import { startStage } from '../support/stage.ts';
import {
  type Before,
  dealsIn,
  heightsOf,
  inventoryIsExact,
  mustKeepCaps,
  mustNotRepeatSecrets,
} from './ledger.ts';
import { startPrices } from './prices.ts';
import { soakSettings } from './settings.ts';
import { patient, type Trades, tradesOf } from './takers.ts';
import { allEnded, giveGas, killMakers, passTime, randomFrom, type Scene } from './world.ts';

const usage = `usage: npm run node -- test/maker-soak/run.ts [--minutes N] [--pace N] [--takers N]
                                             [--seed N]
  --minutes  of the market, in which trades are begun, default 60
  --pace     of the market for one that passes, default 6
  --takers   who trade side by side, default 4
  --seed     of pairs, amounts, kills and faults, default drawn
Exit status: 0 all held, 1 something did not, 2 not understood.`;

/** TRX for a few swaps. */
const gifts = { ...usualGifts, tron: { coins: 200n, times: 1 } };

const asked = understood({
  usage,
  understand: (args) => {
    const options = {
      minutes: { type: 'string', default: '60' },
      pace: { type: 'string', default: '6' },
      takers: { type: 'string', default: '4' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    const { values } = parsed({ args, options });
    if (values.help) return null;
    const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
    return {
      minutes: wholeNumber('--minutes', values.minutes, { most: 6_000 }),
      pace: wholeNumber('--pace', values.pace, { most: 10 }),
      takers: wholeNumber('--takers', values.takers, { most: 20 }),
      seed: wholeNumber('--seed', seed, { least: 0, most: 2 ** 32 - 1 }),
    };
  },
});

type Opened = { readonly scene: Scene; readonly before: Before; readonly takers: Person[] };

/** A market, chains, a maker's folder and people. `undo`: what ends them, last first. */
async function opened(undo: (() => unknown)[]): Promise<Opened> {
  const { minutes, pace, seed } = asked;
  const stage = await startStage();
  undo.push(() => stage.close());
  await stage.startServer();
  const prices = await startPrices();
  undo.push(() => prices.close());
  const folder = await mkdtemp(join(tmpdir(), 'parley-maker-soak-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const { place, url, dev } = stage;
  const { file } = await prepareDevMaker({ url, dev: stage.devnet.dev }, folder, null, gifts);
  const { text, coins } = soakSettings(await readFile(file, 'utf8'), place, prices.url);
  await writeFile(file, text);
  const maker = await walletsIn(folder);
  const before = { maker, coins, folder, had: await holdingOf(maker, place) };
  const [brand, now] = [await brandOf(url), stage.now];
  const takers: Person[] = [];
  for (let at = 0; at < asked.takers; at += 1) {
    const taker = await newPerson(`taker ${at}`, 'evm', place, { url, brand, dev, now });
    takers.push({ ...taker, client: patient(taker.client) });
  }
  const scene: Scene = {
    ...{ stage, place, folder, file, prices, pace, random: randomFrom(seed), log: newLog() },
    blows: { kills: 0, marketKills: 0, priceFaults: 0 },
    running: { maker: null },
    over: AbortSignal.timeout((minutes * 60_000) / pace),
  };
  return { scene, before: { ...before, from: await heightsOf(place) }, takers };
}

async function mustHold({ place, log }: Scene, before: Before, all: readonly Trades[]) {
  const deals = await dealsIn(before.folder);
  const adopted = new Set(
    log.lines.filter(({ event }) => event === 'adopted').map(({ threadId }) => threadId),
  );
  // One that was adopted has left its place free for a while.
  mustKeepCaps(
    deals.filter(({ threadId }) => !adopted.has(threadId)),
    before.coins,
  );
  await mustNotRepeatSecrets(before.folder);
  await inventoryIsExact(place, before);
  const ends = new Map(deals.map(({ threadId, end }) => [threadId, end]));
  for (const { taken, end } of all.flatMap(({ trades }) => trades)) {
    const { threadId } = taken;
    assert.ok(['received', 'walked away', 'no swap'].includes(end), `${threadId}: ${end}`);
    if (end === 'received') assert.equal(ends.get(threadId), 'received', threadId);
  }
  return deals;
}

function told({ log, blows }: Scene, all: readonly Trades[], ends: readonly unknown[]): string {
  const trades = all.flatMap((each) => each.trades);
  const count = (end: string) => trades.filter((each) => each.end === end).length;
  const unquoted = all.reduce((sum, each) => sum + each.unquoted, 0);
  const batches = log.lines.filter(({ event, state }) => event === 'batch' && state === 'mined');
  const inBatches = batches.reduce((sum, { swaps }) => sum + Number(swaps), 0);
  const faults = log.lines.filter(({ event }) => event === 'price_fault').length;
  const poor = log.lines.filter(({ event, why }) => {
    return event === 'not_quoted' && /of tron\S* coin are needed/.test(String(why));
  });
  const of = (end: string) => ends.filter((each) => each === end).length;
  return [
    `${count('received')} swaps settled, ${count('walked away')} takers gone`,
    `${of('refunded')} refunds, ${unquoted} without a quote, ${count('no swap')} without a swap`,
    `${blows.kills} kills of the maker, ${blows.marketKills} of the market`,
    `${poor.length} requests refused without gas on TRON`,
    `${blows.priceFaults} wrong prices (${faults} told), ${inBatches} legs in ${batches.length} batches`,
  ].join('; ');
}

async function main(): Promise<number> {
  const { minutes, pace, seed } = asked;
  console.log(`maker soak: ${minutes} minutes at ${pace} times, seed ${seed}`);
  const undo: (() => unknown)[] = [];
  let scene: Scene | null = null;
  try {
    const { before, takers, ...rest } = await opened(undo);
    scene = rest.scene;
    const { place, random, over, stage } = scene;
    const trading = { place, random, over, now: stage.now };
    const [, , gas, ...all] = await Promise.all([
      killMakers(scene),
      passTime(scene),
      giveGas(scene, before.maker),
      ...takers.map((taker) => tradesOf(taker, trading)),
    ]);
    await allEnded(scene);
    const had = { ...before.had, TRX: before.had.TRX + gas };
    const deals = await mustHold(scene, { ...before, had }, all);
    const ends = deals.map(({ end }) => end);
    console.log(`maker: ${told(scene, all, ends)}; inventory exact (seed ${seed})`);
    return ends.includes('received') ? 0 : 1;
  } catch (error) {
    const file = join(tmpdir(), `parley-maker-soak-${seed}.log`);
    await writeFile(file, scene?.log.text ?? '');
    console.error(error);
    console.error(`all that the maker said is in ${file}`);
    return 1;
  } finally {
    await scene?.running.maker?.kill();
    for (const step of undo.toReversed()) await step();
  }
}

process.exit(await main());
