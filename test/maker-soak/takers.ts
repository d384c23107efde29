// Takers by the SDK, one trade after the other: most settle at once, some late. A few leave in the
// middle of a swap, and come back when it is too late.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../../scripts/demo/people.ts';
import { type CoinName, coinNames, type Place } from '../../scripts/demo/place.ts';
import { assetsOf } from '../../scripts/demo/trades.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import { messageOf, ParleyApiError } from '../../sdk/errors.ts';
import type { SettleState } from '../../sdk/settle.ts';
import { type Taken, take, Unquoted, until } from '../support/maker.ts';
import { priceAt, type Source, sources } from './prices.ts';
import { cappedCoin, sizes } from './settings.ts';

const endMs = 1_200_000;
const lateMs = 20_000;
/** For a quote, and for the maker's acceptance. */
const askMs = 60_000;
/** A market that was killed is there again within this. */
const marketMs = 120_000;
/** A quote at the worst moment of a source that is right gives away less. */
const mostLoss = 0.02;
/** Of trades, while somebody is still to leave. */
const leaveChance = 0.35;

export type Scene = {
  readonly place: Place;
  readonly now: () => number;
  readonly random: () => number;
  readonly over: AbortSignal;
};

/** `at`: in that state of its own side. null: once it has accepted; it never comes back. */
type Leave = { readonly gets: CoinName; readonly at: SettleState | null };

/**
 * Of each taker, in turn. The maker funds first where it gives BTC. Elsewhere it funds only beside
 * a taker that has. All keep a place with the maker until the end: five a taker is its limit.
 */
const leaves: readonly (readonly Leave[])[] = [
  [
    { gets: 'EVM dollar', at: 'funded' },
    { gets: 'TRX', at: 'funded' },
    { gets: 'BTC', at: 'waiting_to_fund' },
  ],
  [
    { gets: 'TRON dollar', at: 'funded' },
    { gets: 'ETH', at: 'funded' },
    { gets: 'SOL', at: null },
  ],
  [
    { gets: 'ETH', at: 'funded' },
    { gets: 'TRON dollar', at: 'funded' },
    { gets: 'SOL', at: 'funded' },
  ],
  [
    { gets: 'TRX', at: 'funded' },
    { gets: 'EVM dollar', at: 'funded' },
    { gets: 'BTC', at: null },
  ],
];

export type Trade = {
  readonly taken: Taken;
  readonly end: 'received' | 'walked away' | 'left' | 'no swap' | (string & {});
};
export type Trades = {
  readonly taker: Person;
  readonly trades: readonly Trade[];
  readonly unquoted: number;
};

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

export async function tradesOf(taker: Person, nth: number, scene: Scene): Promise<Trades> {
  const { place, now, random, over } = scene;
  const assets = await assetsOf(taker, place);
  const trades: Trade[] = [];
  const left = [...(leaves[nth % leaves.length] ?? [])];
  let unquoted = 0;
  /** Asked for until it had some. Where the maker gives BTC, it is the one to show a secret. */
  const first: CoinName[] = [cappedCoin, 'BTC'];
  let isCapped = false;
  const drawn = () => coinNames[Math.floor(random() * coinNames.length)] ?? 'BTC';
  while (!over.aborted) {
    const leave = first.length === 0 && random() < leaveChance ? left[0] : undefined;
    const gives = drawn();
    const gets = leave?.gets ?? first[0] ?? drawn();
    if (place.coins[gives].chain === place.coins[gets].chain) continue;
    if (gets === cappedCoin && isCapped) continue;
    const amount = sizes[gives] + BigInt(Math.floor(random() * 1_000));
    const isLate = random() > 0.85;
    try {
      const taken = await take(taker, assets, { gives, gets, amount }, now, askMs);
      mustBeFair(taken, place);
      if (isLate) await sleep(lateMs);
      const end = leave?.at === null ? 'walked away' : await endOf(taker, taken, leave?.at ?? null);
      trades.push({ taken, end });
      if (end !== 'no swap') {
        if (leave !== undefined) left.shift();
        if (gets === first[0]) first.shift();
      }
      console.log(`${taker.name}: ${amount} ${gives} for ${taken.quoteAmount} ${gets}: ${end}`);
    } catch (error) {
      if (!(error instanceof Unquoted)) throw error;
      unquoted += 1;
      // There is no more of it today.
      if (gets === cappedCoin) isCapped = true;
      if (isCapped && first[0] === cappedCoin) first.shift();
      console.log(`${taker.name}: ${amount} ${gives} for ${gets}: no quote`);
    }
  }
  return { taker, trades, unquoted };
}

/** Those who left take what is theirs, once both timelocks have passed. */
export async function comeBack({ trades, ...rest }: Trades, now: () => number): Promise<Trades> {
  const { client } = rest.taker;
  const back = trades.map(async ({ taken, end }): Promise<Trade> => {
    if (end !== 'left') return { taken, end };
    const { refundAt } = (await client.swap(await taken.swap())).deadlines;
    const isDue = async () => (now() > Math.max(refundAt.a, refundAt.b) ? true : null);
    await until('the timelocks', isDue, { everyMs: 1_000, mostMs: endMs });
    return { taken, end: await endOf(rest.taker, taken) };
  });
  return { ...rest, trades: await Promise.all(back) };
}

/** No swap comes of it where the maker has refused by its price or caps of then, or was killed. */
async function endOf(
  { client }: Person,
  { rfqId, settles, swap }: Taken,
  leavesAt: SettleState | null = null,
): Promise<string> {
  const swapId = await swap().catch(() => null);
  if (swapId === null) {
    // Refused while the acceptance stands.
    await client.cancelRfq(rfqId).catch(() => null);
    return 'no swap';
  }
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(endMs)]);
  try {
    return (await settles(signal, ({ state }) => state === leavesAt && gone.abort())).end;
  } catch (error) {
    return gone.signal.aborted ? 'left' : `failed: ${messageOf(error)}`;
  }
}

/** By what coins are worth, and not by what the source says. */
function mustBeFair({ wish, quoteAmount }: Taken, place: Place): void {
  const worth = (coin: CoinName, units: bigint) => {
    const source = sources.find((each): each is Source => each === coin.toLowerCase());
    const price = source === undefined ? 1 : priceAt(source, Date.now());
    return (Number(units) / 10 ** place.coins[coin].decimals) * price;
  };
  const got = worth(wish.gives, wish.amount);
  const given = worth(wish.gets, quoteAmount);
  if (given < got * (1 + mostLoss)) return;
  throw new Error(`the maker gives ${given} dollars in ${wish.gets} for ${got} in ${wish.gives}`);
}
