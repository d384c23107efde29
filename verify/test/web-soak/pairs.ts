// Every ordered pair of families between two browsers.

import assert from 'node:assert/strict';
import { families } from '@parley/core/families.ts';
import type { CoinName } from '@parley/dev/demo/place.ts';
import { mustEnd } from './scenario.ts';
import { accepts, asks, looksAtQuote, quotes, type Trade } from './screens.ts';
import type { Watching } from './settles.ts';
import type { Ground, Trader } from './trader.ts';

const received = /^Done\. You received/;
export const plan: readonly (readonly [give: CoinName, get: CoinName])[] = [
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

/** From the order on, each by its own screens, until both have received. */
export async function swapped(
  ground: Ground,
  both: [Trader, Trader],
  trade: Trade,
  how: Pick<Watching, 'isByWallet'> = {},
) {
  const [alice, bob] = both;
  await asks(alice, trade);
  await quotes(bob, trade);
  await looksAtQuote(alice);
  await accepts(alice);
  await bob.page.getByRole('link', { name: 'Look and accept' }).first().click();
  await accepts(bob);
  await Promise.all(both.map(({ page }) => page.waitForURL(/\/swaps\//)));
  await Promise.all(both.map((each) => mustEnd(ground, each, received, how)));
}

assert.equal(plan.length, families.length * (families.length - 1));
