// Swaps between two people with wallets and nodes of their own, brought as far as a test wants: by
// the SDK alone.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../../scripts/demo/people.ts';
import type { CoinName, Place } from '../../scripts/demo/place.ts';
import { assetsOf } from '../../scripts/demo/trades.ts';
import { accept } from '../../sdk/agree.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import { ParleyApiError } from '../../sdk/errors.ts';
import { type Outcome, type Progress, settle } from '../../sdk/settle.ts';
import type { OwnTrade } from '../../sdk/trade.ts';

const amounts: Readonly<Record<CoinName, bigint>> = {
  BTC: 1_000_000n,
  ETH: 250_000_000_000_000_000n,
  'EVM dollar': 640_000_000n,
  TRX: 2_000_000_000n,
  'TRON dollar': 640_000_000n,
  SOL: 4_000_000_000n,
  'SPL dollar': 640_000_000n,
};
const patienceMs = 90_000;
const lookMs = 500;

export type Side = { readonly person: Person; readonly trade: OwnTrade };
export type Offer = {
  readonly threadId: string;
  readonly price: string;
  /** Accepts for that side: with its secret kept, as the initiator. */
  accept(person: Person): Promise<{ trade: OwnTrade; swapId: string | null }>;
};
export type Deal = {
  readonly swapId: string;
  readonly threadId: string;
  readonly hashlock: string;
  /** The initiator here: equal timelocks, or Bitcoin, are the taker's. */
  readonly taker: Side;
  readonly maker: Side;
};

/** The taker gives the first coin for the second, at a price of the maker's. */
export async function offer(
  place: Place,
  now: () => number,
  [taker, gives]: readonly [Person, CoinName],
  [maker, gets]: readonly [Person, CoinName],
): Promise<Offer> {
  const assets = await assetsOf(taker, place);
  const [base, quote] = [assets[gives], assets[gets]];
  const rfq = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: amounts[gives].toString(),
    quoteAssetId: quote.id,
    ttlSeconds: 86_400,
  });
  const price = amounts[gets];
  const { id: threadId } = await maker.client.quote(rfq.id, price.toString());
  return {
    threadId,
    price: price.toString(),
    accept: ({ client, userId, store, sources, wallets }) =>
      accept({
        client,
        userId,
        rfq,
        threadId,
        quoteAmount: price,
        base,
        quote,
        views: new Map([...sources].map(([chain, { view }]) => [chain, view])),
        destinationOn: (chain) => {
          const wallet = wallets.get(chain);
          assert.ok(wallet);
          const pubkey = wallet.family === 'bitcoin' ? wallet.pubkey : null;
          return { address: wallet.address, pubkey };
        },
        store,
        now,
      }),
  };
}

export async function agreed(made: Offer, taker: Person, maker: Person): Promise<Deal> {
  const first = await made.accept(taker);
  const second = await made.accept(maker);
  // So the first one hears of the swap: it would not take it if it first saw it an hour later.
  await made.accept(taker);
  const { hashlock } = first.trade;
  assert.ok(second.swapId !== null && hashlock !== null);
  return {
    swapId: second.swapId,
    threadId: made.threadId,
    hashlock,
    taker: { person: taker, trade: first.trade },
    maker: { person: maker, trade: second.trade },
  };
}

export type Running = {
  readonly ended: Promise<Outcome>;
  /** Resolves when it has come so far. */
  reaches(is: (progress: Progress) => boolean): Promise<void>;
  /** As a crash would; resolves when it has stopped. */
  stop(): Promise<void>;
};

/** One side of a swap, with this client to the market. */
export function run(
  now: () => number,
  { swapId }: Deal,
  { person, trade }: Side,
  client: ParleyClient | null,
): Running {
  const stop = new AbortController();
  const stopped = Symbol('stopped');
  const seen: Progress[] = [];
  const waiting = new Set<() => void>();
  const ended = settle({
    swapId,
    trade,
    client,
    sources: person.sources,
    wallets: person.wallets,
    store: person.store,
    now,
    pollMs: 400,
    marketPollMs: 600,
    signal: stop.signal,
    onProgress: (progress) => {
      seen.push(progress);
      for (const look of waiting) look();
    },
  });
  ended.catch(() => undefined);
  return {
    ended,
    reaches: (is) =>
      new Promise((resolve, reject) => {
        const told = () => seen.map(({ step, text }) => `${step}: ${text}`).join('\n');
        const timer = setTimeout(() => reject(new Error(`not reached:\n${told()}`)), patienceMs);
        const look = () => {
          if (!seen.some(is)) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        ended.catch(reject);
      }),
    stop: async () => {
      stop.abort(stopped);
      await ended.catch((error: unknown) => {
        if (error !== stopped) throw error;
      });
    },
  };
}

export const isDeepFunding =
  (leg: 'a' | 'b') =>
  ({ step, text, leg: of }: Progress): boolean =>
    step === 'seen' && of === leg && /^funding .* is deep$/.test(text);

/** Runs both sides until both legs, or the initiator's alone, are funded as deep as they should. */
export async function fund(now: () => number, deal: Deal, legs: 'both' | 'initiator') {
  const { taker, maker } = deal;
  if (legs === 'initiator') {
    // The other side names its addresses, and is not seen again.
    const [theirs, own] = [maker, taker].map((side) => run(now, deal, side, side.person.client));
    await theirs?.reaches(({ step }) => step === 'verified');
    await theirs?.stop();
    await own?.reaches(isDeepFunding('b'));
    await own?.stop();
    return;
  }
  const own = run(now, deal, taker, taker.person.client);
  const theirs = run(now, deal, maker, maker.person.client);
  await own.reaches(({ step }) => step === 'funded');
  await own.stop();
  await theirs.reaches(isDeepFunding('a'));
  await theirs.stop();
}

export async function finish(now: () => number, deal: Deal, client: (p: Person) => ParleyClient) {
  const sides = [deal.taker, deal.maker];
  const runs = sides.map((side) => run(now, deal, side, client(side.person)).ended);
  const outcomes = await Promise.all(runs);
  return outcomes.map(({ end }) => end);
}

/** The initiator takes what it was promised, and with that shows its secret; nobody else acts. */
export async function claimAlone(now: () => number, deal: Deal): Promise<void> {
  const own = run(now, deal, deal.taker, deal.taker.person.client);
  await own.reaches(({ step, text }) => step === 'seen' && /^claim .* is deep$/.test(text));
  await own.stop();
}

export async function hasStatus(client: ParleyClient, deal: Deal, expected: string) {
  for (let waited = 0; ; waited += lookMs) {
    const { status } = await client.swap(deal.swapId);
    if (status === expected) return;
    assert.ok(waited < patienceMs / 2, `${deal.swapId} is ${status}, not ${expected}`);
    await sleep(lookMs);
  }
}

/** Status and code of a refusal. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ParleyApiError, String(error));
    return `${error.status} ${error.code}: ${error.message}`;
  }
  return 'none';
}
