// Every ordered pair of families between two browsers.

import assert from 'node:assert/strict';
import { families } from '@parley/core/families.ts';
import type { CoinName } from '@parley/dev/demo/place.ts';
import { type Group, mustEnd, once, person, type Scenario, tradeOf } from './scenario.ts';
import { accepts, asks, looksAtQuote, quotes, type Trade } from './screens.ts';
import type { Watching } from './settles.ts';
import type { Ground, Trader } from './trader.ts';

const received = /^Done\. You received/;
const plan: readonly (readonly [give: CoinName, get: CoinName])[] = [
  ['BTC', 'EVM dollar'],
  ['ETH', 'BTC'],
  ['BTC', 'TRON dollar'],
  ['TRX', 'BTC'],
  ['BTC', 'SPL dollar'],
  ['SOL', 'BTC'],
  ['EVM dollar', 'TRX'],
  ['TRON dollar', 'ETH'],
  ['ETH', 'SPL dollar'],
  ['SOL', 'EVM dollar'],
  ['TRON dollar', 'SOL'],
  ['SPL dollar', 'TRX'],
];

/** From the look at a quote on, in seconds. */
const took = (fromMs: number) => (performance.now() - fromMs) / 1_000;

/** From the order on, each by its own screens. In seconds, from the quote to both received. */
export async function swapped(
  ground: Ground,
  both: [Trader, Trader],
  trade: Trade,
  how: Pick<Watching, 'isByWallet'> = {},
) {
  const [alice, bob] = both;
  await asks(alice, trade);
  await quotes(bob, trade);
  const began = performance.now();
  await looksAtQuote(alice);
  await accepts(alice);
  await bob.page.getByRole('link', { name: 'Look and accept' }).first().click();
  await accepts(bob);
  await Promise.all(both.map(({ page }) => page.waitForURL(/\/swaps\//)));
  await Promise.all(both.map((each) => mustEnd(ground, each, received, how)));
  return took(began);
}

export function pairs(ground: Ground): Group {
  const people = once(() => Promise.all([person(ground, 'Alice'), person(ground, 'Bob')]));
  const scenarios = plan.map(([give, get]): Scenario => {
    const play = async () => {
      const seconds = await swapped(ground, await people.get(), tradeOf(ground, give, get));
      return `${seconds.toFixed(1)} s from the quote to both received`;
    };
    return { name: `pair ${give} for ${get}`, play };
  });
  const close = async () => {
    for (const each of (await people.made()?.catch(() => [])) ?? []) await each.close();
  };
  return { scenarios, close };
}

assert.equal(plan.length, families.length * (families.length - 1));
