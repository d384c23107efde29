// `npm run soak -- maker`: an hour of a market in which takers trade with the maker program both
// ways. Maker and market are killed again and again, the price source fails, gas runs low, and
// some takers walk away. The maker comes back with its store, its nodes and its settings alone. In
// the end it holds what it agreed to, to the unit. What never happened fails the soak too.

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
import { missing, type Run, told } from './figures.ts';
import {
  type Before,
  dealsIn,
  heightsOf,
  inventoryDifference,
  mustKeepCaps,
  mustKeepDay,
  mustNotRepeatSecrets,
} from './ledger.ts';
import { startPrices } from './prices.ts';
import { soakSettings } from './settings.ts';
import { comeBack, patient, type Trades, tradesOf } from './takers.ts';
import {
  allEnded,
  giveGas,
  killAtRefunds,
  killMakers,
  noBlows,
  passTime,
  randomFrom,
  type Scene,
  untilOver,
} from './world.ts';

const usage = `usage: npm run node -- test/maker-soak/run.ts [--minutes N] [--pace N] [--takers N]
                                             [--seed N] [--log FILE]
  --minutes  of the market, in which trades are begun, default 60
  --pace     of the market for one that passes, default 6
  --takers   who trade side by side, default 4
  --seed     of pairs, amounts, kills and faults, default drawn
  --log      gets all that the maker said; default: a file beside others, of a run that failed
Exit status: 0 all held and happened, 1 something did not, 2 not understood.`;

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
      log: { type: 'string' },
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
      log: values.log ?? null,
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
  const brand = await brandOf(url);
  const now = stage.now;
  const takers: Person[] = [];
  for (let at = 0; at < asked.takers; at += 1) {
    const taker = await newPerson(`taker ${at}`, 'evm', place, { url, brand, dev, now });
    takers.push({ ...taker, client: patient(taker.client) });
  }
  const scene: Scene = {
    stage,
    place,
    folder,
    file,
    prices,
    pace,
    random: randomFrom(seed),
    log: newLog(),
    blows: noBlows(),
    running: { maker: null },
    over: AbortSignal.timeout((minutes * 60_000) / pace),
  };
  return { scene, before: { ...before, from: await heightsOf(place) }, takers };
}

async function mustHold({ log }: Scene, before: Before, all: readonly Trades[]) {
  const deals = await dealsIn(before.folder);
  const adopted = new Set(
    log.lines.filter(({ event }) => event === 'adopted').map(({ threadId }) => threadId),
  );
  // One that was adopted has left its place free for a while.
  const counted = deals.filter(({ threadId }) => !adopted.has(threadId));
  mustKeepCaps(counted, before.coins);
  mustKeepDay(counted, before.coins);
  await mustNotRepeatSecrets(before.folder);
  const ends = new Map(deals.map(({ threadId, end }) => [threadId, end]));
  for (const { taken, end } of all.flatMap(({ trades }) => trades)) {
    const { threadId } = taken;
    const own = ends.get(threadId) ?? 'none';
    // A maker that was gone for as long as an acceptance holds lets the swap go.
    const fits: Readonly<Record<string, readonly string[]>> = {
      received: ['received'],
      refunded: ['refused', 'nothing', 'refunded'],
      nothing: ['refused', 'nothing', 'refunded'],
    };
    const isLeft = ['walked away', 'no swap'].includes(end);
    assert.ok(isLeft || fits[end]?.includes(own), `${threadId}: ${end}, the maker ${own}`);
  }
  return deals;
}

/** Until all has ended: figures of what came of it. */
async function played({ scene, before, takers }: Opened): Promise<Run> {
  const { place, random, over, stage, log, blows } = scene;
  const trading = { place, random, over, now: stage.now };
  const traded = Promise.all(takers.map((taker, nth) => tradesOf(taker, nth, trading)));
  const [gas] = await Promise.all([
    giveGas(scene, before.maker),
    killMakers(scene),
    passTime(scene),
    Promise.race([traded, untilOver(over)]),
  ]);
  const back = traded.then((each) => Promise.all(each.map((own) => comeBack(own, stage.now))));
  const ended = allEnded(scene, traded, back);
  await Promise.all([ended, killAtRefunds(scene, ended)]);
  const all = await back;
  const had = { ...before.had, TRX: before.had.TRX + gas };
  const difference = await inventoryDifference(place, { ...before, had });
  const deals = await mustHold(scene, before, all);
  const seconds = Math.round(performance.now() / 1_000);
  return { deals, all, blows, difference, seconds, lines: log.lines };
}

async function main(): Promise<number> {
  const { minutes, pace, seed } = asked;
  console.log(`maker soak: ${minutes} minutes at ${pace} times, seed ${seed}`);
  const undo: (() => unknown)[] = [];
  let scene: Scene | null = null;
  const keepLog = async (file: string) => {
    await writeFile(file, scene?.log.text ?? '');
    console.log(`all that the maker said is in ${file}`);
  };
  try {
    const all = await opened(undo);
    scene = all.scene;
    const run = await played(all);
    for (const line of told(run)) console.log(`maker: ${line}`);
    const lacks = missing(run);
    if (lacks.length > 0) throw new Error(`it never came to ${lacks.join(', ')} (seed ${seed})`);
    const wrong = Object.entries(run.difference).filter(([, units]) => units !== 0n);
    if (wrong.length > 0) throw new Error(`the inventory differs in ${wrong.join('; ')}`);
    console.log(`maker: inventory exact (seed ${seed})`);
    if (asked.log !== null) await keepLog(asked.log);
    return 0;
  } catch (error) {
    console.error(error);
    await keepLog(asked.log ?? join(tmpdir(), `parley-maker-soak-${seed}.log`));
    return 1;
  } finally {
    await scene?.running.maker?.kill();
    for (const step of undo.toReversed()) await step();
  }
}

process.exit(await main());
