// Shared tools of scenarios: people, trades, and what is looked at after each of them.

import assert from 'node:assert/strict';
import type { Person } from '@parley/dev/demo/people.ts';
import type { CoinName } from '@parley/dev/demo/place.ts';
import { type How, type Part, takesPart } from './maker.ts';
import { accepts, asks, joins, looksAtQuote, type Trade, writesPhrase } from './screens.ts';
import { settles, type Watching } from './settles.ts';
import { type Clock, funded, type Ground, newTrader, type Trader } from './trader.ts';

export type Scenario = {
  readonly name: string;
  /** Resolves to what is worth a word beside the seconds. */
  readonly play: () => Promise<string | undefined>;
};

export type Group = {
  readonly scenarios: readonly Scenario[];
  close(): Promise<void>;
};

/** Amounts of the demo's sizes; six digits, so that a list shows all of them. */
const amounts: Readonly<Record<CoinName, readonly [units: bigint, step: bigint]>> = {
  BTC: [1_000_000n, 100n],
  ETH: [10n ** 17n, 10n ** 13n],
  'EVM dollar': [640_000_000n, 10_000n],
  TRX: [2_000_000_000n, 10_000n],
  'TRON dollar': [640_000_000n, 10_000n],
  SOL: [4_000_000_000n, 1_000_000n],
  'SPL dollar': [640_000_000n, 10_000n],
};
let count = 0;

/** No two of a run are of the same amounts. */
export function tradeOf({ place }: Ground, give: CoinName, get: CoinName): Trade {
  count += 1;
  const some = (name: CoinName) => amounts[name][0] + amounts[name][1] * BigInt(count);
  const coin = place.coins;
  return {
    give: coin[give],
    get: coin[get],
    giveAmount: some(give),
    getAmount: some(get),
  };
}

export async function person(
  ground: Ground,
  name: string,
  without: readonly CoinName[] = [],
): Promise<Trader> {
  const trader = await newTrader(ground, name);
  await funded(ground, trader, without);
  await joins(trader);
  await writesPhrase(trader);
  return trader;
}

export function isClean({ name, wrong }: Trader): void {
  assert.deepEqual(wrong, [], `${name}: ${wrong.join('\n')}`);
}

/**
 * In front of the screen of its swap until that has ended, with nothing wrong in its pages. Throws
 * with all that the screen shows, where it has ended otherwise.
 */
export async function mustEnd(
  ground: Ground,
  trader: Trader,
  as: RegExp,
  how: Watching = {},
): Promise<void> {
  const title = await settles(ground, trader, how);
  const { name, page } = trader;
  if (as.test(title)) return isClean(trader);
  await page.locator('details').evaluateAll((all: HTMLDetailsElement[]) => {
    for (const each of all) each.open = true;
  });
  throw new Error(`${name}: "${title}"\n${await page.locator('main').textContent()}`);
}

/** Once, when the first scenario asks. */
export function once<T>(make: () => Promise<T>): { get(): Promise<T>; made(): Promise<T> | null } {
  let made: Promise<T> | null = null;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    made: () => made,
  };
}

/** The order of the person on the screens, and the price of the scripted maker. */
async function quotedBy(maker: Person, trader: Trader, trade: Trade): Promise<string> {
  const path = await asks(trader, trade);
  const rfqId = path.split('/').at(-1) ?? '';
  const { id } = await maker.client.quote(rfqId, trade.getAmount.toString());
  await looksAtQuote(trader);
  return id;
}

/** Both have accepted what the maker quotes for it; the maker's part goes on by itself. */
export async function agreed(
  maker: Person,
  trader: Trader,
  trade: Trade,
  clock: Clock,
  how: How & { readonly looks?: () => Promise<unknown> },
): Promise<Part> {
  const threadId = await quotedBy(maker, trader, trade);
  const part = takesPart(maker, threadId, clock, how);
  // It waits for the person, who may never get there.
  part.catch(() => {});
  await accepts(trader, how.looks);
  return part;
}
