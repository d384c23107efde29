// The scripted side: the SDK in Node, which quotes an order and settles.

import { sleep } from '@parley/chains/nodes/turn.ts';
import { brandOf } from '@parley/dev/demo/market.ts';
import { newPerson, type Person } from '@parley/dev/demo/people.ts';
import { accept } from '@parley/sdk/agree.ts';
import { settle } from '@parley/sdk/settle.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';
import type { Thread } from '@parley/sdk/types.ts';
import type { Clock, Ground } from './trader.ts';

const acceptedWithinMs = 60_000;
const pollMs = 300;

export async function newMaker({ web, place }: Ground, { now }: Clock): Promise<Person> {
  const market = { url: web.url, brand: await brandOf(web.url), dev: web.dev, now };
  return newPerson('Maker', 'evm', place, market);
}

/** Accepts after the taker has, and settles until `signal`. Resolves to the swap. */
export async function takesPart(
  maker: Person,
  threadId: string,
  { now }: Clock,
  signal: AbortSignal,
): Promise<string> {
  const { trade, swapId } = await acceptsOf(maker, await acceptedThread(maker, threadId), now);
  if (swapId === null) throw new Error('the other side has not accepted');
  const { client, store, chains } = maker;
  settle({ client, store, chains, swapId, trade, now, pollMs, signal }).catch(() => {});
  return swapId;
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
