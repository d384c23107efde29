// An hour of two makers with tiers and skew on one market, against takers, kills, price jumps and
// sources that lie. In the end each maker holds, to the unit, what the chains say that it must, and
// its hedge has heard the same.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Holding, holdingOf } from '@parley/dev/demo/ledger.ts';
import { newPerson, type Person } from '@parley/dev/demo/people.ts';
import { type Coin, coinNames, type Place, placeOf } from '@parley/dev/demo/place.ts';
import { assetsOf } from '@parley/dev/demo/trades.ts';
import { type DevnetClient, devnetClient } from '@parley/dev/devnet/client.ts';
import { parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { readJournal } from '@parley/maker/journal.ts';
import { type Gifts, prepareDevMaker } from '@parley/scripts/maker-dev.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { type Chance, chanceOf } from '../sim/chance.ts';
import {
  type MakerLog,
  type MakerProcess,
  newLog,
  startMaker,
  walletsIn,
} from '../support/maker.ts';
import { openMarket } from '../support/market.ts';
import { waitUntil } from '../support/waiting.ts';
import { heightsOf, type Since } from './fees.ts';
import { type Hedge, startHedge } from './hedge.ts';
import { type PriceFeed, startPrices } from './prices.ts';
import { type Hook, type Style, settingsOf, styles } from './settings.ts';
import { becameSwap, type Dealt, round, type Scene, settleDeal } from './takers.ts';
import {
  dealsAre,
  feesAreExact,
  hedgeIsExact,
  inventoryIsExact,
  netOf,
  profitIsExact,
} from './truth.ts';

const usage = `usage: npm run soak -- makers [--minutes N] [--seed N]
       node verify/test/maker-soak/run.ts [--minutes N] [--seed N] [--takers N]
  --minutes  of trading, default 60; some more end what is open
  --seed     of takers, prices and kills, default a new one
  --takers   default 4`;

const script = fileURLToPath(new URL('maker.ts', import.meta.url));
const brand = { productName: 'Parley', shortName: 'parley' };
const gifts: Gifts = {
  bitcoin: { coins: 1n, times: 1 },
  evm: { coins: 20n, times: 1 },
  tron: { coins: 200_000n, times: 1 },
  solana: { coins: 400n, times: 1 },
  token: { coins: 50_000n, times: 1 },
};
/** A tenth of a bitcoin each, so that swaps are funded side by side. */
const bitcoins = { times: 9, amount: 10_000_000n };
const killsEveryMs = [12_000, 40_000] as const;
const awayMs = [0, 4_000] as const;
/** On a machine that does ten things. */
const startsMs = 120_000;
/** Far past every timelock. */
const pastTimelocksSeconds = 4 * 86_400;
const endMs = 1_200_000;
const sayEveryMs = 60_000;

type Maker = {
  readonly name: string;
  readonly folder: string;
  readonly file: string;
  readonly style: Style;
  readonly hedge: Hedge;
  readonly wallets: Person;
  readonly had: Holding;
  readonly since: Since;
  readonly log: MakerLog;
  process: MakerProcess;
};

function understand(args: string[]) {
  const { values } = parsed({
    args,
    options: {
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      takers: { type: 'string', default: '4' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    minutes: wholeNumber('--minutes', values.minutes, { most: 1_440 }),
    seed: wholeNumber('--seed', values.seed, { most: 2 ** 32 - 1 }),
    takers: wholeNumber('--takers', values.takers, { most: 20 }),
  };
}

const { minutes, seed, takers: takerCount } = understood({ usage, understand });
const chance = chanceOf(seed);
const counts = new Map<string, number>();
const note = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
const shown = () => [...counts].map(([what, count]) => `${count} ${what}`).join(', ');
const undo: (() => unknown)[] = [];
const stop = new AbortController();

type Ground = {
  readonly url: string;
  readonly dev: DevnetClient;
  readonly devUrl: string;
  readonly place: Place;
  readonly prices: PriceFeed;
  readonly now: () => number;
  readonly folder: string;
};

/** Enough for an hour that goes one way. */
async function fill(dev: DevnetClient, taker: Person, coin: Coin): Promise<void> {
  const { chain, family, token, gift, name } = coin;
  if (name === 'BTC') return;
  const asset = token === null ? {} : { asset: token };
  await dev.faucet({ chain, address: taker[family].address, amount: gift * 30n, ...asset });
}

async function openMaker(ground: Ground, name: string, at: 0 | 1): Promise<Maker> {
  const { url, devUrl, dev, place, prices } = ground;
  const folder = join(ground.folder, name);
  const { file: usual } = await prepareDevMaker({ url, dev: devUrl }, folder, null, gifts);
  const text = await readFile(usual, 'utf8');
  const head = text.slice(0, text.indexOf('[assets.'));
  const hedge = await startHedge(chance.fork(), at === 0 ? 'command' : 'url', folder);
  undo.push(hedge.close);
  const style = styles[at];
  await writeFile(usual, settingsOf(head, place, prices.url, style, hedge.hook as Hook));
  const wallets = await walletsIn(folder);
  const gift = { chain: place.bitcoin.chain, address: wallets.bitcoin.address };
  for (let time = 0; time < bitcoins.times; time += 1) {
    await dev.faucet({ ...gift, amount: bitcoins.amount });
  }
  const had = await holdingOf(wallets, place);
  const since = await heightsOf(place);
  const log = newLog();
  const process = start(usual, devUrl, log);
  return { name, folder, file: usual, style, hedge, wallets, had, since, log, process };
}

function start(file: string, devUrl: string, log: MakerLog): MakerProcess {
  return startMaker([file, devUrl], log, {}, script);
}

/** Until the time is over: mostly once it trades again, and now and then before that. */
async function kills(makers: readonly Maker[], devUrl: string, own: Chance, until: number) {
  while (Date.now() < until && !stop.signal.aborted) {
    await sleep(own.int(...killsEveryMs));
    const maker = own.pick(makers);
    if (own.hits(0.8)) await Promise.race([maker.process.heard(isStarted), sleep(startsMs)]);
    await maker.process.kill();
    note('kills');
    await sleep(own.int(...awayMs));
    maker.process = start(maker.file, devUrl, maker.log);
  }
}

async function trading(scene: Scene, taker: Person, all: Dealt[], until: number) {
  while (Date.now() < until && !stop.signal.aborted) {
    try {
      await round(scene, taker, all);
    } catch (error) {
      const words = messageOf(error);
      if (/its rules say|is no maker/.test(words)) throw error;
      note(`round failed: ${words.slice(0, 120)}`);
      await sleep(1_000);
    }
  }
}

/** All that is open comes to its end, with every timelock past. */
async function endAll(scene: Scene, all: readonly Dealt[], past: () => Promise<void>) {
  for (const dealt of all) await becameSwap(dealt, 0);
  await past();
  const left = all.filter(({ swapId, outcome }) => swapId !== null && outcome === null);
  await Promise.all(
    left.map(async (dealt) => {
      await settleDeal(scene, dealt);
      note(`late: ${dealt.outcome?.end}`);
    }),
  );
}

/** Its fees are known a while after its end. */
async function hasEnded({ folder }: Maker): Promise<boolean> {
  const deals = await readJournal(join(folder, 'store'));
  return [...deals.values()].every(({ swapId, end, fees }) => {
    return end !== null && (swapId === null || fees !== undefined);
  });
}

/** How often it said what, with why it refused. */
function saidBy({ lines }: MakerLog): string {
  const said = new Map<string, number>();
  for (const { event, code = '' } of lines) {
    const what = `${event} ${code}`.trim();
    said.set(what, (said.get(what) ?? 0) + 1);
  }
  return [...said].map(([what, count]) => `${what} ${count}`).join(', ');
}

async function judge(
  maker: Maker,
  makerId: string,
  { place, prices }: Ground,
  all: readonly Dealt[],
) {
  const own = all.filter((each) => each.makerId === makerId);
  const deals = await readJournal(join(maker.folder, 'store'));
  dealsAre(deals, own);
  const net = netOf(own);
  const { more, fees } = await inventoryIsExact(maker, place, own);
  await profitIsExact({ file: maker.file, dealt: own, deals, prices });
  feesAreExact(fees, place, deals);
  hedgeIsExact(await maker.hedge.heard(), deals, net);
  const settled = own.filter(({ outcome }) => outcome?.end === 'received').length;
  const changes = coinNames.map((name) => `${name} ${more[name]}`).join(', ');
  console.log(`${maker.name}: ${settled} settled of ${own.length}, to the unit: ${changes}`);
  console.log(`${maker.name} said: ${saidBy(maker.log)}`);
  return settled;
}

async function main() {
  console.log(`makers: seed ${seed}, ${minutes} minutes`);
  // It is kept where something was wrong.
  const folder = await mkdtemp(join(tmpdir(), 'parley-makers-'));
  undo.push(() => (process.exitCode === 1 ? null : rm(folder, { recursive: true, force: true })));
  const market = await openMarket();
  undo.push(() => market.close());
  const devUrl = market.ready.dev ?? '';
  const dev = devnetClient(devUrl);
  let status = await dev.status();
  const place = placeOf(status);
  const now = () => Math.floor(Date.now() / 1_000) + status.clockOffsetSeconds;
  const prices = await startPrices(chance.fork());
  undo.push(prices.close);
  const ground = { url: market.ready.url, dev, devUrl, place, prices, now, folder };
  const makers = [await openMaker(ground, 'one', 0), await openMaker(ground, 'other', 1)];
  undo.push(() => Promise.all(makers.map(({ process }) => process.kill())));
  const ids = await Promise.all(
    makers.map(async ({ process }) => String((await process.heard(isStarted)).account)),
  );
  const takers: Person[] = [];
  for (let at = 0; at < takerCount; at += 1) {
    const taker = await newPerson(`taker ${at}`, 'evm', place, { ...ground, brand });
    for (const coin of Object.values(place.coins)) await fill(dev, taker, coin);
    takers.push(taker);
  }
  const byId = new Map(ids.map((id, at) => [id, styles[at] as Style]));
  const common = { place, prices, now, makers: byId, signal: stop.signal, note };
  const assets = await assetsOf(takers[0] as Person, place);
  const until = Date.now() + minutes * 60_000;
  const all: Dealt[] = [];
  const saying = setInterval(() => console.log(`${all.length} deals: ${shown()}`), sayEveryMs);
  undo.push(() => clearInterval(saying));
  const scene = { ...common, assets, chance: chance.fork() };
  await Promise.all([
    kills(makers, devUrl, chance.fork(), until),
    ...takers.map((taker) => trading({ ...scene, chance: chance.fork() }, taker, all, until)),
  ]);
  console.log(`trading is over, ${prices.jumps.count} price jumps: ${shown()}`);
  await endAll(scene, all, async () => {
    status = await dev.time(pastTimelocksSeconds);
  });
  for (const maker of makers) {
    await waitUntil(() => hasEnded(maker), { everyMs: 1_000, mostMs: endMs });
    assert.equal(await maker.process.stop(), 0, 'a maker ends well');
  }
  let settled = 0;
  for (const [at, maker] of makers.entries())
    settled += await judge(maker, ids[at] ?? '', ground, all);
  assert.ok(settled > 0, 'nothing settled');
  console.log(`makers: ${settled} swaps of ${all.length} settled to the unit, ${shown()}`);
}

const isStarted = ({ event }: { readonly event?: unknown }) => event === 'started';

try {
  await main();
} catch (error) {
  console.error(error);
  console.log(`makers: FAILED with seed ${seed}: ${shown()}`);
  process.exitCode = 1;
} finally {
  stop.abort(new Error('the soak ends'));
  for (const step of undo.toReversed()) await step();
}
