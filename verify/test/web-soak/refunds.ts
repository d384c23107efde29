// The other side accepts and then does nothing: the first side's payment comes back, on each
// family.

import type { CoinName } from '@parley/dev/demo/place.ts';
import { newMaker } from './maker.ts';
import { agreed, type Group, mustEnd, once, person, type Scenario, tradeOf } from './scenario.ts';
import { settles } from './settles.ts';
import type { Clock, Ground } from './trader.ts';

const givers: readonly (readonly [give: CoinName, get: CoinName])[] = [
  ['BTC', 'ETH'],
  ['EVM dollar', 'SOL'],
  ['TRX', 'SPL dollar'],
  ['SOL', 'TRON dollar'],
];
/** Beyond the timelock, so that every chain's clock is past it. */
const marginSeconds = 120;

export function refunds(ground: Ground, clock: Clock): Group {
  const both = once(() => Promise.all([person(ground, 'Dave'), newMaker(ground, clock)]));
  const over = new AbortController();
  const scenarios = givers.map(([give, get]): Scenario => {
    const play = async () => {
      const [dave, maker] = await both.get();
      const how = { idles: true, signal: over.signal };
      const { swapId } = await agreed(maker, dave, tradeOf(ground, give, get), clock, how);
      await dave.page.waitForURL(/\/swaps\//);
      await settles(ground, dave, { until: /are locked$|Both sides are locked/ });
      const { deadlines } = await maker.client.swap(swapId);
      await clock.move(deadlines.refundAt.b - clock.now() + marginSeconds);
      await mustEnd(ground, dave, /^Ended\. You have .* back/);
      return undefined;
    };
    return { name: `refund of ${give}`, play };
  });
  const close = async () => {
    over.abort(new Error('the scenarios are over'));
    await (await both.made()?.catch(() => null))?.[0].close();
  };
  return { scenarios, close };
}
