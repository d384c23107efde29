// Every ordered pair of families between two browsers, and one a family as giver against the SDK.

import assert from 'node:assert/strict';
import { families } from '../../core/families.ts';
import type { CoinName } from '../../scripts/demo/place.ts';
import { bySdk, newMaker, takesPart } from './maker.ts';
import { type Group, mustEnd, once, person, quotedBy, type Scenario, tradeOf } from './scenario.ts';
import { accepts, asks, looksAtQuote, quotes, type Trade } from './screens.ts';
import type { Watching } from './settles.ts';
import type { Clock, Ground, Trader } from './trader.ts';

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

const givers: readonly (readonly [give: CoinName, get: CoinName])[] = [
  ['BTC', 'EVM dollar'],
  ['ETH', 'TRX'],
  ['TRON dollar', 'SOL'],
  ['SOL', 'BTC'],
];

export function scripted(ground: Ground, clock: Clock): Group {
  const over = new AbortController();
  const { signal } = over;
  const all = once(() =>
    Promise.all([person(ground, 'Carol'), newMaker(ground, clock), newMaker(ground, clock)]),
  );
  const scenarios = givers.map(([give, get]): Scenario => {
    const play = async () => {
      const [carol, maker, other] = await all.get();
      const threadId = await quotedBy(maker, carol, tradeOf(ground, give, get));
      const began = performance.now();
      const part = takesPart(maker, threadId, clock, { signal });
      // Heard below, unless the person never gets there.
      part.catch(() => {});
      await accepts(carol);
      const clicks = took(began);
      const { ends } = await part;
      await carol.page.waitForURL(/\/swaps\//);
      await mustEnd(ground, carol, received);
      assert.equal((await ends).end, 'received');
      const screens = took(began);
      const sdk = await bySdk([other, maker], tradeOf(ground, give, get), clock, signal);
      const [ratio, less] = [screens / sdk, (screens - clicks) / sdk].map((of) => of.toFixed(1));
      const whole = `${screens.toFixed(1)} s, ${ratio} times the SDK on both sides`;
      const accepted = `${clicks.toFixed(1)} s of it the acceptance by hand`;
      return `${whole} (${sdk.toFixed(1)} s); ${accepted}, without it ${less} times`;
    };
    return { name: `against the SDK, ${give} for ${get}`, play };
  });
  const close = async () => {
    over.abort(new Error('the scenarios are over'));
    await (await all.made()?.catch(() => null))?.[0].close();
  };
  return { scenarios, close };
}

assert.equal(plan.length, families.length * (families.length - 1));
