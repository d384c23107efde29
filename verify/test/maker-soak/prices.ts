// The soak's prices: a walk of each coin with jumps, as three sources say it. One of them lies now
// and then, and one is silent. It remembers what it said, so that a quote can be judged later.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Chance } from '../sim/chance.ts';

/** Hundredths of a basis point of the first price. */
const whole = 1_000_000n;
const first = { btc: 64_000, eth: 2_560, trx: 0.32, sol: 160 } as const;
export type Walker = keyof typeof first;
export const walkers = Object.keys(first) as Walker[];

const stepMs = 1_000;
/** A source is stale after 4 s, a quote is on its way for 5, and the machine does ten things. */
const believedMs = 15_000;
const jumpEverySteps = 40;
const mostJump = 30_000;
const noise = 200;

/** When, by the machine's clock. */
type Said = { readonly at: number; readonly price: number };

/** `url/btc/0` to `url/btc/2`. */
export async function startPrices(chance: Chance) {
  const shift = new Map<Walker, bigint>(walkers.map((name) => [name, whole]));
  const said = new Map<Walker, Said[]>(walkers.map((name) => [name, []]));
  const jumps = { count: 0 };
  const priceOf = (name: Walker) => (first[name] * Number(shift.get(name))) / Number(whole);
  const step = () => {
    for (const name of walkers) {
      const isJump = chance.hits(1 / jumpEverySteps);
      if (isJump) jumps.count += 1;
      const most = isJump ? mostJump : noise;
      const before = shift.get(name) ?? whole;
      const after = (before * (whole + BigInt(chance.int(-most, most)))) / whole;
      // It stays near its first price: targets and sizes are of that.
      const isNear = after > (whole * 8n) / 10n && after < (whole * 12n) / 10n;
      if (isNear) shift.set(name, after);
      const now = Date.now();
      said.get(name)?.push({ at: now, price: priceOf(name) });
    }
  };
  step();
  const timer = setInterval(step, stepMs);
  const server = createServer((request, response) => {
    const [, name = '', source = '0'] = (request.url ?? '').split('/');
    const walker = walkers.find((each) => each === name);
    if (walker === undefined) return void response.writeHead(404).end();
    if (source === '2' && chance.hits(0.3)) return void response.writeHead(503).end();
    const lies = source === '1' && chance.hits(0.2);
    response.end((priceOf(walker) * (lies ? 1.04 : 1)).toFixed(10));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jumps,
    now: priceOf,
    /** The least and most that a maker may have heard and still believed in that time. */
    between: (name: Walker, fromMs: number, toMs: number): readonly [number, number] => {
      const known = (said.get(name) ?? []).filter(({ at }) => at <= toMs);
      const recent = known.filter(({ at }) => at > fromMs - believedMs);
      // A machine that stands still says no price for a while.
      const prices = [...known.slice(-1), ...recent].map(({ price }) => price);
      return [Math.min(...prices), Math.max(...prices)];
    },
    close: async () => {
      clearInterval(timer);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type PriceFeed = Awaited<ReturnType<typeof startPrices>>;
