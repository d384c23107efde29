// Takers by the SDK, one trade after the other: most settle at once, some late, and a few walk away
// once they have accepted.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../../scripts/demo/people.ts';
import { type CoinName, coinNames, type Place } from '../../scripts/demo/place.ts';
import { assetsOf } from '../../scripts/demo/trades.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import { messageOf, ParleyApiError } from '../../sdk/errors.ts';
import { type Taken, take, Unquoted } from '../support/maker.ts';
import { priceAt, type Source, sources } from './prices.ts';
import { sizes } from './settings.ts';

const endMs = 1_200_000;
const lateMs = 20_000;
/** Those who leave keep a place with the maker until the end. */
const mostGone = 2;
/** A market that was killed is there again within this. */
const marketMs = 120_000;
/** A quote at the worst moment of a source that is right gives away less. */
const mostLoss = 0.02;

export type Scene = {
  readonly place: Place;
  readonly now: () => number;
  readonly random: () => number;
  readonly over: AbortSignal;
};

export type Trade = {
  readonly taken: Taken;
  readonly end: 'received' | 'walked away' | 'no swap' | (string & {});
};
export type Trades = { readonly trades: readonly Trade[]; readonly unquoted: number };

/** A client whose calls outlive a market that is killed. */
export function patient(client: ParleyClient): ParleyClient {
  const calls = Object.entries(client).map(([name, call]) => {
    if (typeof call !== 'function') return [name, call] as const;
    const ask = call as (...given: unknown[]) => Promise<unknown>;
    return [name, (...given: unknown[]) => untilThere(() => ask(...given))] as const;
  });
  return Object.fromEntries(calls) as ParleyClient;
}

async function untilThere<T>(ask: () => Promise<T>): Promise<T> {
  const end = performance.now() + marketMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isAway = error instanceof ParleyApiError && error.unreachable;
      if (!isAway || performance.now() > end) throw error;
      await sleep(500);
    }
  }
}

export async function tradesOf(taker: Person, scene: Scene): Promise<Trades> {
  const { place, now, random, over } = scene;
  const assets = await assetsOf(taker, place);
  const trades: Trade[] = [];
  let [unquoted, gone] = [0, 0];
  const drawn = () => coinNames[Math.floor(random() * coinNames.length)] ?? 'BTC';
  while (!over.aborted) {
    const [gives, gets] = [drawn(), drawn()];
    if (place.coins[gives].chain === place.coins[gets].chain) continue;
    const amount = sizes[gives] + BigInt(Math.floor(random() * 1_000));
    const chance = random();
    try {
      const taken = await take(taker, assets, { gives, gets, amount }, now);
      mustBeFair(taken, place);
      const leaves = chance < 0.15 && gone < mostGone;
      if (leaves) gone += 1;
      if (chance > 0.85) await sleep(lateMs);
      const end = leaves ? 'walked away' : await endOf(taker, taken);
      trades.push({ taken, end });
      console.log(`${taker.name}: ${amount} ${gives} for ${taken.quoteAmount} ${gets}: ${end}`);
    } catch (error) {
      if (!(error instanceof Unquoted)) throw error;
      unquoted += 1;
      console.log(`${taker.name}: ${amount} ${gives} for ${gets}: no quote`);
    }
  }
  return { trades, unquoted };
}

/** No swap comes of it where the maker has refused by its price or caps of then, or was killed. */
async function endOf({ client }: Person, { rfqId, settles, swap }: Taken): Promise<string> {
  const swapId = await swap().catch(() => null);
  if (swapId === null) {
    // Refused while the acceptance stands.
    await client.cancelRfq(rfqId).catch(() => null);
    return 'no swap';
  }
  try {
    return (await settles(AbortSignal.timeout(endMs))).end;
  } catch (error) {
    return `failed: ${messageOf(error)}`;
  }
}

/** By what coins are worth, and not by what the source says. */
function mustBeFair({ wish, quoteAmount }: Taken, place: Place): void {
  const worth = (coin: CoinName, units: bigint) => {
    const source = sources.find((each): each is Source => each === coin.toLowerCase());
    const price = source === undefined ? 1 : priceAt(source, Date.now());
    return (Number(units) / 10 ** place.coins[coin].decimals) * price;
  };
  const [got, given] = [worth(wish.gives, wish.amount), worth(wish.gets, quoteAmount)];
  if (given < got * (1 + mostLoss)) return;
  throw new Error(`the maker gives ${given} dollars in ${wish.gets} for ${got} in ${wish.gives}`);
}
