// Swaps on a stage: agreed over HTTP, each side driven by the SDK as far as a test wants, with
// hooks where a fault is to begin, and at the end held against what was promised.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Holding, holdingOf } from '@parley/dev/demo/ledger.ts';
import type { CoinName } from '@parley/dev/demo/place.ts';
import { accept } from '@parley/sdk/agree.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { type Outcome, type Progress, type SettleInput, settle } from '@parley/sdk/settle.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import type { Swap } from '@parley/sdk/types.ts';
import type { Customer } from './customers.ts';
import type { Ground, Stage } from './stage.ts';

export const amounts: Readonly<Record<CoinName, bigint>> = {
  BTC: 1_000_000n,
  ETH: 10n ** 18n,
  'EVM dollar': 500n * 10n ** 6n,
  TRX: 5_000n * 10n ** 6n,
  'TRON dollar': 500n * 10n ** 6n,
  SOL: 10n * 10n ** 9n,
  'SPL dollar': 500n * 10n ** 6n,
};

export type Pair = readonly [taker: Customer, maker: Customer];
type Accepted = Awaited<ReturnType<typeof accept>>;
export type Offer = {
  readonly pair: Pair;
  readonly threadId: string;
  /** The price of the maker's coin. */
  readonly price: bigint;
  readonly coins: { readonly a: CoinName; readonly b: CoinName };
  /** Accepts for that side: with its secret kept, as the initiator. */
  accept(who: Customer): Promise<Accepted>;
};

export type Side = { readonly who: Customer; readonly trade: OwnTrade };
export type Deal = Pick<Offer, 'coins' | 'threadId'> & {
  readonly id: string;
  readonly hashlock: string;
  /** Gives leg b, and is the initiator wherever b is the longer leg. */
  readonly taker: Side;
  readonly maker: Side;
  readonly before: readonly [Holding, Holding];
};

/** The taker gives `b`, the maker `a`. */
export async function offer(ground: Ground, pair: Pair, b: CoinName, a: CoinName): Promise<Offer> {
  const [taker, maker] = pair;
  const base = taker.assets[b];
  const quote = taker.assets[a];
  const rfq = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: base.id,
    baseAmount: amounts[b].toString(),
    quoteAssetId: quote.id,
    ttlSeconds: 86_400,
  });
  const price = amounts[a];
  const { id: threadId } = await maker.client.quote(rfq.id, price.toString());
  const given = {
    ...({ rfqId: rfq.id, threadId, direction: 'sell_base', now: ground.now } as const),
    base,
    baseAmount: amounts[b],
    quote,
    quoteAmount: price,
  };
  return {
    pair,
    threadId,
    price,
    coins: { a, b },
    accept: (who) => {
      const { client, userId, store, chains } = who;
      const party = who === taker ? 'taker' : 'maker';
      return accept({ ...given, party, client, userId, store, chains });
    },
  };
}

export async function agreed(ground: Ground, pair: Pair, b: CoinName, a: CoinName): Promise<Deal> {
  const [taker, maker] = pair;
  const before = [
    await holdingOf(taker, ground.place),
    await holdingOf(maker, ground.place),
  ] as const;
  const made = await offer(ground, pair, b, a);
  const first = await made.accept(taker);
  const second = await made.accept(maker);
  // So the taker hears of the swap: it would take none that it first saw an hour later.
  await made.accept(taker);
  const { hashlock } = first.trade;
  assert.ok(second.swapId !== null && hashlock !== null);
  return {
    id: second.swapId,
    threadId: made.threadId,
    coins: made.coins,
    hashlock,
    before,
    taker: { who: taker, trade: first.trade },
    maker: { who: maker, trade: second.trade },
  };
}

/** A side's hooks at the points where faults begin. */
export type Hooks = {
  readonly onProgress?: (progress: Progress) => void;
  /** Instead of its own. */
  readonly client?: SettleInput['client'];
  readonly store?: SettleInput['store'];
  readonly givesUp?: () => boolean;
  readonly signal?: AbortSignal;
};

/** The limit of one side: an end that never comes is reported as what it waits for. */
const runLimitMs = 200_000;

export function run(ground: Ground, deal: Deal, party: 'taker' | 'maker', hooks: Hooks = {}) {
  const { who, trade } = deal[party];
  const limit = AbortSignal.timeout(runLimitMs);
  const told: string[] = [];
  const running = settle({
    swapId: deal.id,
    trade,
    client: who.client,
    chains: who.chains,
    store: who.store,
    now: ground.now,
    pollMs: 400,
    marketPollMs: 1_000,
    ...hooks,
    onProgress: (progress) => {
      told.push(`${progress.step} ${progress.text}`);
      hooks.onProgress?.(progress);
    },
    signal: AbortSignal.any([limit, ...(hooks.signal ? [hooks.signal] : [])]),
  });
  // A waiting caller hears of its failure, but not what the side waited for.
  running.catch(() => {
    if (limit.aborted) console.error(`${who.name}, ${party}: ${told.slice(-12).join('\n  ')}`);
  });
  return running;
}

/** Runs a side until it says so, and then stops as a crash would. */
async function runUntil(
  ground: Ground,
  deal: Deal,
  party: 'taker' | 'maker',
  when: (progress: Progress) => boolean,
): Promise<void> {
  const stop = new AbortController();
  const stopped = new Error('stopped here');
  const onProgress = (progress: Progress) => {
    if (when(progress)) stop.abort(stopped);
  };
  try {
    // It may end by itself with what it says last.
    await run(ground, deal, party, { onProgress, signal: stop.signal });
  } catch (error) {
    if (error !== stopped) throw error;
  }
  assert.ok(stop.signal.aborted, `${party} ended before that`);
}

export async function finish(ground: Ground, deal: Deal): Promise<End[]> {
  const both = [run(ground, deal, 'taker'), run(ground, deal, 'maker')];
  return (await Promise.all(both)).map(({ end }) => end);
}

/** Both legs, or the taker's alone; the taker's is as deep as the maker wants it. */
export async function fund(ground: Ground, deal: Deal, legs: 'both' | 'initiator'): Promise<void> {
  const isBoth = legs === 'both';
  await Promise.all([
    runUntil(ground, deal, 'maker', isBoth ? isFunded : isVerified),
    runUntil(ground, deal, 'taker', deep(isBoth ? 'a' : 'b')),
  ]);
}

const isVerified = ({ step }: Progress) => step === 'verified';
const isFunded = ({ step }: Progress) => step === 'funded';
/** The funding of a leg counts by one's own node. */
const deep =
  (leg: 'a' | 'b') =>
  ({ step, leg: of, text }: Progress): boolean =>
    step === 'seen' && of === leg && text.startsWith('funding') && !isShallow.test(text);
const isShallow = / confirmations?$| in no block$/;

const limitMs = 100_000;

export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  ms = limitMs,
): Promise<T> {
  let problem: unknown;
  for (const end = performance.now() + ms; performance.now() < end; await sleep(100)) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found;
    } catch (error) {
      problem = error;
    }
  }
  throw new Error(`not within ${ms} ms: ${what}`, { cause: problem });
}

/** The swap as the market tells it once it is so. */
export function shows(deal: Deal, what: string, is: (swap: Swap) => boolean): Promise<Swap> {
  let last: Swap | null = null;
  return until(what, async () => {
    last = await deal.taker.who.client.swap(deal.id);
    return is(last) ? last : null;
  }).catch((error: unknown) => {
    const { status, legs } = last ?? {};
    const seen = `${status} a ${legs?.a.status} b ${legs?.b.status}`;
    throw new Error(`${what}: the swap is ${seen}`, { cause: error });
  });
}

export type End = Outcome['end'];

const endings = {
  received: ['counterparty_claimed', 'swap.settled'],
  refunded: ['refunded', 'swap.refunded'],
  lost: ['half_settled', 'swap.half_settled'],
  nothing: ['expired', null],
} as const satisfies Record<End, readonly [string, string | null]>;

/**
 * Both have what they were promised, or their own back; the market says what the chains show; and
 * webhooks told both the same, each event under one id, up to that status.
 */
export async function endsRight(
  stage: Stage,
  deal: Deal,
  ends: readonly End[],
  end: End,
): Promise<void> {
  for (const each of ends) {
    // A side without a funding has nothing to take back: the balances below say so.
    const isBare = end === 'refunded' && each === 'nothing';
    if (!isBare) assert.equal(each, end);
  }
  const [status, last] = endings[end];
  const swap = await shows(deal, `the market says ${status}`, (each) => each.status === status);
  if (end === 'received') assert.notEqual(swap.secret, null);
  await moneyMoved(stage, deal, end);
  for (const { who } of [deal.taker, deal.maker]) {
    if (last === null) continue;
    const told = await until(`${who.name} is told ${last}`, async () => {
      const all = heard(stage, who, deal.id);
      return all.some((each) => each.type === last && each.status === status) ? all : null;
    });
    if (end === 'received') {
      const revealed = told.filter(({ type }) => type === 'secret.revealed');
      assert.equal(revealed.length, 1, `${who.name} heard of the secret ${revealed.length} times`);
    }
  }
  for (const { market } of stage.servers) {
    assert.doesNotMatch(market.log(), /"msg":"request failed"/, 'a request ended in a 500');
  }
}

/** Fees are below three hundredths of what is traded: a second payment is not. */
async function moneyMoved(stage: Stage, deal: Deal, end: End): Promise<void> {
  const { a, b } = deal.coins;
  const parties = [deal.taker, deal.maker] as const;
  for (const [at, { who }] of parties.entries()) {
    const before = deal.before[at] as Holding;
    const [gives, gets] = at === 0 ? [b, a] : [a, b];
    for (const [coin, sign] of [
      [gives, -1n],
      [gets, 1n],
    ] as const) {
      const due = end === 'received' ? sign * amounts[coin] : 0n;
      const slack = (amounts[coin] * 3n) / 100n;
      await until(
        `${who.name} has ${due} more of ${coin}`,
        async () => {
          const moved = (await holdingOf(who, stage.place))[coin] - before[coin];
          const isRight = moved <= due && moved >= due - slack;
          if (!isRight) throw new Error(`it moved by ${moved}`);
          return true;
        },
        20_000,
      );
    }
  }
}

export type Told = {
  readonly type: string;
  readonly status: string | undefined;
  readonly deliveryId: string;
};

/** Each delivery of this swap to a customer once; one id always has the same body. */
function heard(stage: Stage, who: Customer, swapId: string): Told[] {
  const bodies = new Map<string, string>();
  for (const { path, body } of stage.receiver.received) {
    if (path !== who.hook) continue;
    const { deliveryId } = JSON.parse(body) as Told;
    const before = bodies.get(deliveryId);
    assert.ok(before === undefined || before === body, 'one delivery id, one body');
    bodies.set(deliveryId, body);
  }
  const all = [...bodies.values()].map((body) => JSON.parse(body) as Told & { swapId?: string });
  return all.filter((each) => each.swapId === swapId);
}

export type Probe = {
  readonly status: number;
  readonly code: string | null;
  readonly retryAfter: string | null;
};

/** A request as it is answered, without the SDK's patience. */
export async function probe(
  stage: Stage,
  who: Customer,
  path: string,
  body: object,
): Promise<Probe> {
  const { status, headers } = await fetch(stage.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${who.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(limitMs),
  });
  return { status, code: headers.get('x-parley-error'), retryAfter: headers.get('retry-after') };
}

/** The refusal that this ends with. */
export async function refusal(work: Promise<unknown>): Promise<ParleyApiError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ParleyApiError, String(error));
    return error;
  }
  assert.fail('it was not refused');
}
