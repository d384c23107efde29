// `npm run soak -- maker`: takers trade with the maker program in every direction, side by side,
// while it is killed again and again. In the end it holds what it agreed to, to the unit.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { devnetClient } from '../../devnet/client.ts';
import { parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { holdingOf } from '../../scripts/demo/ledger.ts';
import { brandOf, ownMarket } from '../../scripts/demo/market.ts';
import { newPerson, type Person } from '../../scripts/demo/people.ts';
import { type CoinName, coinNames, type Place, placeOf } from '../../scripts/demo/place.ts';
import { assetsOf } from '../../scripts/demo/trades.ts';
import { prepareDevMaker } from '../../scripts/maker-dev.ts';
import {
  inventoryIs,
  type MakerProcess,
  newLog,
  startMaker,
  type Taken,
  take,
  until,
  walletsIn,
} from '../support/maker.ts';

const usage = `usage: npm run node -- test/maker-soak/run.ts [--minutes N] [--seed N]
  --minutes  trades are begun for so long, default 4
  --seed     of pairs, amounts and kills, default drawn
Exit status: 0 the inventory is exact, 1 it is not, 2 not understood.`;

const takersCount = 3;
const [leastLifeMs, mostLifeMs] = [6_000, 25_000];
const endMs = 240_000;

/** About 30 dollars in each coin, in base units. */
const sizes: Readonly<Record<CoinName, bigint>> = {
  BTC: 50_000n,
  ETH: 10n ** 16n,
  'EVM dollar': 30_000_000n,
  TRX: 100_000_000n,
  'TRON dollar': 30_000_000n,
  SOL: 200_000_000n,
  'SPL dollar': 30_000_000n,
};

const asked = understood({
  usage,
  understand: (args) => {
    const options = {
      minutes: { type: 'string', default: '4' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    const { values } = parsed({ args, options });
    if (values.help) return null;
    const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
    return {
      minutes: wholeNumber('--minutes', values.minutes, { most: 600 }),
      seed: wholeNumber('--seed', seed, { least: 0, most: 2 ** 32 - 1 }),
    };
  },
});

/** From 0 to 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Scene = {
  readonly place: Place;
  readonly now: () => number;
  readonly random: () => number;
  readonly over: AbortSignal;
};

/** One trade after the other; what each came to. */
async function tradesOf(
  taker: Person,
  { place, now, random, over }: Scene,
): Promise<{ readonly taken: Taken[]; readonly ends: string[] }> {
  const assets = await assetsOf(taker, place);
  const taken: Taken[] = [];
  const ends: string[] = [];
  const drawn = () => coinNames[Math.floor(random() * coinNames.length)] ?? 'BTC';
  while (!over.aborted) {
    const [gives, gets] = [drawn(), drawn()];
    if (place.coins[gives].chain === place.coins[gets].chain) continue;
    const amount = sizes[gives] + BigInt(Math.floor(random() * 1_000));
    const one = await take(taker, assets, { gives, gets, amount }, now);
    const { end } = await one.settles(AbortSignal.timeout(endMs));
    taken.push(one);
    ends.push(end);
    console.log(`${taker.name}: ${amount} ${gives} for ${one.quoteAmount} ${gets}: ${end}`);
  }
  return { taken, ends };
}

async function main(): Promise<number> {
  const { minutes, seed } = asked;
  console.log(`maker soak: ${minutes} minutes, seed ${seed}`);
  const random = randomFrom(seed);
  const market = await ownMarket();
  const folder = await mkdtemp(join(tmpdir(), 'parley-maker-soak-'));
  const dev = devnetClient(market.dev);
  const place = placeOf(await dev.status());
  const now = () => Math.floor(Date.now() / 1_000);
  const log = newLog();
  let maker: MakerProcess | null = null;
  try {
    await prepareDevMaker(market, folder);
    const wallets = await walletsIn(folder);
    const had = await holdingOf(wallets, place);
    const brand = await brandOf(market.url);
    const takers: Person[] = [];
    for (let at = 0; at < takersCount; at += 1) {
      const here = { url: market.url, brand, dev, now };
      takers.push(await newPerson(`taker ${at}`, 'evm', place, here));
    }
    const args = ['dev', '--url', market.url, '--dev', market.dev, '--folder', folder];
    const over = AbortSignal.timeout(minutes * 60_000);
    const trading = Promise.all(
      takers.map((taker) => tradesOf(taker, { place, now, random, over })),
    );
    let isTrading = true;
    const whenOver = trading.finally(() => {
      isTrading = false;
    });
    whenOver.catch(() => undefined);
    let kills = 0;
    maker = startMaker(args, log);
    while (isTrading && !over.aborted) {
      const lifeMs = leastLifeMs + random() * (mostLifeMs - leastLifeMs);
      await Promise.race([sleep(lifeMs), whenOver]);
      if (!isTrading || over.aborted) break;
      await maker.kill();
      kills += 1;
      maker = startMaker(args, log);
    }
    const results = await trading;
    const taken = results.flatMap((each) => each.taken);
    const bad = results.flatMap((each) => each.ends).filter((end) => end !== 'received');
    const due = new Set(taken.map(({ threadId }) => threadId));
    await until('the end of every swap', async () => {
      for (const { event, threadId } of log.lines) {
        if (event === 'ended') due.delete(String(threadId));
      }
      return due.size === 0 ? true : null;
    });
    await inventoryIs(wallets, place, had, taken, folder);
    console.log(`maker: ${taken.length} swaps, ${kills} kills, inventory exact (seed ${seed})`);
    return bad.length === 0 && taken.length > 0 ? 0 : 1;
  } catch (error) {
    console.error(log.text.slice(-8_000));
    console.error(error);
    return 1;
  } finally {
    await maker?.kill();
    await market.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

process.exit(await main());
