// The soak's takers: each asks, judges the quotes it hears, accepts the best one and settles it,
// crashes in the middle now and then, and leaves some swaps alone until the end.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '@parley/dev/demo/people.ts';
import type { CoinName, Place } from '@parley/dev/demo/place.ts';
import { accept } from '@parley/sdk/agree.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import { type Outcome, type Progress, settle } from '@parley/sdk/settle.ts';
import type { OwnTrade, PinnedAsset } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import type { Chance } from '../sim/chance.ts';
import type { PriceFeed } from './prices.ts';
import { type AssetName, coins, pairs, type SoakPair, type Style } from './settings.ts';

export type Scene = {
  readonly place: Place;
  readonly assets: Readonly<Record<CoinName, PinnedAsset>>;
  readonly prices: PriceFeed;
  readonly now: () => number;
  readonly chance: Chance;
  /** By the user's id. */
  readonly makers: ReadonlyMap<string, Style>;
  readonly signal: AbortSignal;
  readonly note: (what: string) => void;
};

/** A deal as its taker accepted it, and by its own view of both chains how that ended. */
export type Dealt = {
  readonly taker: Person;
  readonly makerId: string;
  readonly threadId: string;
  readonly trade: OwnTrade;
  readonly gives: { readonly coin: CoinName; readonly amount: bigint };
  readonly gets: { readonly coin: CoinName; readonly amount: bigint };
  swapId: string | null;
  outcome: Pick<Outcome, 'end'> | null;
};

const quotesMs = 12_000;
/** A maker that was killed comes back within this. */
const agreedMs = 90_000;
const pollMs = 500;
/** Base units are exact in the amounts; prices here are floats, and this is beyond their error. */
const floatBps = 0.01;

type Wish = {
  readonly pair: SoakPair;
  readonly direction: 'sell_base' | 'buy_base';
  /** The request names the pair's quote as its base. */
  readonly flipped: boolean;
  readonly amount: bigint;
  readonly base: CoinName;
  readonly quote: CoinName;
};

function wishOf({ place, chance, prices }: Scene): Wish {
  const pair = chance.pick(pairs);
  const flipped = chance.hits(0.3);
  const [least, ...bounds] = [pair.least, ...pair.tiers, pair.most];
  const at = chance.int(0, 2);
  const from = at === 0 ? (least ?? 0) * 1.1 : (bounds[at - 1] ?? 0);
  const size = from + ((bounds[at] ?? 0) * 0.95 - from) * (chance.int(0, 1_000) / 1_000);
  const base = coins[flipped ? pair.quote : pair.base].coin;
  const quote = coins[flipped ? pair.base : pair.quote].coin;
  const [dollars] = ratioBetween(pair, prices, [Date.now(), Date.now()]);
  const whole = flipped ? size * dollars : size;
  const { decimals } = place.coins[base];
  const amount = BigInt(Math.round(whole * 1e6)) * 10n ** BigInt(decimals - 6);
  return { pair, direction: chance.pick(['sell_base', 'buy_base']), flipped, amount, base, quote };
}

/** The least and most that the price of a pair was for its makers in that time. */
export function ratioBetween(
  { base, quote }: Pick<SoakPair, 'base' | 'quote'>,
  prices: Pick<PriceFeed, 'between'>,
  [fromMs, toMs]: readonly [number, number],
): readonly [number, number] {
  const of = (name: AssetName): readonly [number, number] => {
    const { walker } = coins[name];
    return walker === null ? [1, 1] : prices.between(walker, fromMs, toMs);
  };
  const [baseLeast, baseMost] = of(base);
  const [quoteLeast, quoteMost] = of(quote);
  return [baseLeast / quoteMost, baseMost / quoteLeast];
}

/** Throws where a fresh quote is beyond its maker's own rules at every price of late. */
function mustBeFair(
  scene: Scene,
  wish: Wish,
  { quoteAmount, makerId }: Thread,
  askedMs: number,
): void {
  const { place, prices, makers } = scene;
  const style = makers.get(makerId);
  if (style === undefined) throw new Error(`${makerId} quotes, and is no maker of the soak`);
  const { pair, flipped, amount, direction } = wish;
  const whole = (coin: CoinName, units: bigint) => Number(units) / 10 ** place.coins[coin].decimals;
  const asked = whole(wish.base, amount);
  const answered = whole(wish.quote, BigInt(quoteAmount));
  const [base, quote] = flipped ? [answered, asked] : [asked, answered];
  const sells = (direction === 'sell_base') === flipped;
  const [least, most] = ratioBetween(pair, prices, [askedMs, Date.now()]);
  const margin = (price: number) =>
    sells ? (quote / (base * price) - 1) * 10_000 : ((base * price) / quote - 1) * 10_000;
  const margins = [margin(least), margin(most)];
  const near = [0.999, 1.001].map((by) => {
    const tier = pair.tiers.findLastIndex((from) => base * by >= from) + 1;
    return style.spreads[tier] ?? 0;
  });
  const skew = 2 * style.mostSkewBps;
  const lowest = Math.max(style.leastSpreadBps, Math.min(...near) - skew) - floatBps;
  const highest = Math.max(...near) + skew + 2;
  if (Math.max(...margins) >= lowest && Math.min(...margins) <= highest) return;
  throw new Error(
    `${pair.base}/${pair.quote} ${base} for ${quote}: margins ${margins.join(' to ')}, ` +
      `and its rules say ${lowest} to ${highest}`,
  );
}

async function bestQuote(scene: Scene, taker: Person, wish: Wish, rfqId: string) {
  const began = Date.now();
  const { chance } = scene;
  // Some hurry, so that one maker alone is heard.
  const wanted = chance.hits(0.7) ? 2 : 1;
  for (;;) {
    const { threads } = await taker.client.threadsOfRfq(rfqId);
    const passed = Date.now() - began;
    if (threads.length >= wanted || passed > quotesMs) {
      for (const each of threads) mustBeFair(scene, wish, each, began);
      const better = wish.direction === 'sell_base' ? -1n : 1n;
      const sorted = threads.toSorted((a, b) =>
        Number(better * (BigInt(a.quoteAmount) - BigInt(b.quoteAmount))),
      );
      return sorted[0] ?? null;
    }
    await sleep(pollMs);
  }
}

/** null: nobody quoted. */
export async function deal(scene: Scene, taker: Person): Promise<Dealt | null> {
  const { assets, now } = scene;
  const { client, userId, store, chains } = taker;
  const wish = wishOf(scene);
  const { direction } = wish;
  const base = assets[wish.base];
  const quote = assets[wish.quote];
  const rfq = await client.createRfq({
    direction,
    baseAssetId: base.id,
    quoteAssetId: quote.id,
    baseAmount: wish.amount.toString(),
    ttlSeconds: 600,
  });
  const best = await bestQuote(scene, taker, wish, rfq.id);
  if (best === null) {
    await client.cancelRfq(rfq.id);
    return null;
  }
  const quoteAmount = BigInt(best.quoteAmount);
  const { trade } = await accept({
    client,
    userId,
    store,
    chains,
    now,
    rfqId: rfq.id,
    threadId: best.id,
    base,
    baseAmount: wish.amount,
    quote,
    quoteAmount,
    party: 'taker',
    direction,
  });
  const ofBase = { coin: wish.base, amount: wish.amount };
  const ofQuote = { coin: wish.quote, amount: quoteAmount };
  const [gives, gets] = direction === 'sell_base' ? [ofBase, ofQuote] : [ofQuote, ofBase];
  const said = { taker, makerId: best.makerId, threadId: best.id, trade, gives, gets };
  return { ...said, swapId: null, outcome: null };
}

/** Whether it became a swap. */
export async function becameSwap(dealt: Dealt, withinMs = agreedMs): Promise<boolean> {
  const until = Date.now() + withinMs;
  for (;;) {
    dealt.swapId ??= (await dealt.taker.client.thread(dealt.threadId)).swapId;
    if (dealt.swapId !== null) return true;
    if (Date.now() > until) return false;
    await sleep(pollMs);
  }
}

/** Until it has ended; until it crashes, after a time or at a step. */
export async function settleDeal(
  { now, signal }: Pick<Scene, 'now' | 'signal'>,
  dealt: Dealt,
  { afterMs = 2 ** 31 - 1, at = null }: { afterMs?: number; at?: Progress['step'] | null } = {},
): Promise<void> {
  const { swapId, trade } = dealt;
  const { client, chains, store } = dealt.taker;
  if (swapId === null) return;
  const crash = new AbortController();
  const limit = setTimeout(() => crash.abort(), afterMs);
  const until = AbortSignal.any([signal, crash.signal]);
  const how = { signal: until, pollMs, marketPollMs: 2_500 };
  const onProgress = ({ step }: Progress) => {
    if (step === at) crash.abort();
  };
  try {
    dealt.outcome = await settle({ swapId, trade, client, chains, store, now, onProgress, ...how });
  } catch (error) {
    // It was away from the beginning, and has nothing in it.
    if (codeOf(error) === 'acceptance_lapsed') dealt.outcome = { end: 'nothing' };
    else if (!crash.signal.aborted || signal.aborted) throw error;
  } finally {
    clearTimeout(limit);
  }
}

/** One deal to its end, or left alone. */
export async function round(scene: Scene, taker: Person, all: Dealt[]): Promise<void> {
  const { chance, note } = scene;
  const dealt = await deal(scene, taker);
  if (dealt === null) return note('unquoted');
  all.push(dealt);
  if (!(await becameSwap(dealt))) return note('not agreed');
  // The maker funds for nobody, and refunds when the timelock has passed.
  if (chance.hits(0.06)) {
    await settleDeal(scene, dealt, { at: 'verified' });
    return note('left alone');
  }
  if (chance.hits(0.15)) {
    await settleDeal(scene, dealt, { afterMs: chance.int(500, 12_000) });
    if (dealt.outcome === null) note('taker crashed');
  }
  for (let tries = 0; dealt.outcome === null; tries += 1) {
    try {
      await settleDeal(scene, dealt);
    } catch (error) {
      if (tries > 20 || scene.signal.aborted) throw error;
      note(`taker failed: ${codeOf(error) ?? messageOf(error)}`);
      await sleep(2_000);
    }
  }
  note(dealt.outcome.end);
}
