// The scripted side: the SDK in Node, which quotes an order and settles as far as it is told.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { brandOf } from '@parley/dev/demo/market.ts';
import { newPerson, type Person } from '@parley/dev/demo/people.ts';
import { accept } from '@parley/sdk/agree.ts';
import { type Outcome, type Progress, type SettleInput, settle } from '@parley/sdk/settle.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import type { Clock, Ground } from './trader.ts';

const acceptedWithinMs = 60_000;
const pollMs = 300;

export async function newMaker({ web, place }: Ground, { now }: Clock): Promise<Person> {
  const market = { url: web.url, brand: await brandOf(web.url), dev: web.dev, now };
  return newPerson('Maker', 'evm', place, market);
}

export type Part = {
  readonly swapId: string;
  readonly ends: Promise<Outcome>;
};

export type How = Pick<SettleInput, 'cosignWaitMs'> & {
  readonly idles?: boolean;
  readonly signal: AbortSignal;
};

/**
 * Accepts after the taker has, and settles. `idles`: it pays nothing in, or leaves what it is to
 * collect where it is, whichever comes first.
 */
export async function takesPart(
  maker: Person,
  threadId: string,
  { now }: Clock,
  { idles = false, signal, cosignWaitMs }: How,
): Promise<Part> {
  const { trade, swapId } = await acceptsOf(maker, await acceptedThread(maker, threadId), now);
  if (swapId === null) throw new Error('the other side has not accepted');
  const { role } = await maker.client.swap(swapId);
  const over = new AbortController();
  const onProgress = ({ step, state }: Progress) => {
    const isOver = role === 'initiator' ? state === 'funded' : step === 'verified';
    if (idles && isOver) over.abort(new Error('the maker idles'));
  };
  const { client, store, chains } = maker;
  const waits = cosignWaitMs === undefined ? {} : { cosignWaitMs };
  const ends = settle({
    client,
    store,
    chains,
    swapId,
    trade,
    now,
    pollMs,
    marketPollMs: 2 * pollMs,
    onProgress,
    ...waits,
    signal: AbortSignal.any([over.signal, signal]),
  });
  ends.catch(() => {});
  return { swapId, ends };
}

async function acceptsOf(person: Person, thread: Thread, now: () => number) {
  const { client, userId, store, chains } = person;
  const { assets } = await client.assets({ limit: 100 });
  const pinned = (id: string): PinnedAsset => {
    const found = assets.find((each) => each.id === id);
    if (found === undefined) throw new Error(`no asset ${id}`);
    const { chain, address: token, decimals } = found;
    return { id, chain, token, decimals, highValueFrom: null };
  };
  const { rfq, id: threadId } = thread;
  const party = thread.makerId === userId ? 'maker' : 'taker';
  return accept({
    client,
    userId,
    store,
    chains,
    threadId,
    now,
    party,
    rfqId: rfq.id,
    direction: rfq.direction,
    baseAmount: BigInt(rfq.baseAmount),
    quoteAmount: BigInt(thread.quoteAmount),
    base: pinned(rfq.baseAssetId),
    quote: pinned(rfq.quoteAssetId),
  });
}

async function acceptedThread({ client }: Person, threadId: string): Promise<Thread> {
  const limit = performance.now() + acceptedWithinMs;
  for (;;) {
    const thread = await client.thread(threadId);
    if (thread.takerAccepted) return thread;
    if (performance.now() > limit) throw new Error('the person never accepted');
    await sleep(pollMs);
  }
}
