// The scripted other side: the SDK in Node, which quotes an order and settles as far as it is told.

import { sleep } from '../../chains/nodes/turn.ts';
import { brandOf } from '../../scripts/demo/market.ts';
import { newPerson, type Person } from '../../scripts/demo/people.ts';
import { accept } from '../../sdk/agree.ts';
import { type Outcome, settle } from '../../sdk/settle.ts';
import type { PinnedAsset } from '../../sdk/trade.ts';
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

/**
 * Accepts after the person has. `idles`: it pays nothing in, or leaves what it is to collect where
 * it is, whichever comes first.
 */
export async function takesPart(
  maker: Person,
  threadId: string,
  { now }: Clock,
  { idles = false, signal }: { readonly idles?: boolean; readonly signal: AbortSignal },
): Promise<Part> {
  const thread = await acceptedThread(maker, threadId);
  const { assets } = await maker.client.assets({ limit: 100 });
  const pinned = (id: string): PinnedAsset => {
    const found = assets.find((each) => each.id === id);
    if (found === undefined) throw new Error(`no asset ${id}`);
    const { chain, address: token, decimals } = found;
    return { id, chain, token, decimals, highValueFrom: null };
  };
  const { rfq } = thread;
  const { client, userId, store, sources, wallets } = maker;
  const { trade, swapId } = await accept({
    ...{ client, userId, store, rfq, threadId, quoteAmount: BigInt(thread.quoteAmount), now },
    ...{ base: pinned(rfq.baseAssetId), quote: pinned(rfq.quoteAssetId) },
    views: new Map([...sources].map(([chain, { view }]) => [chain, view])),
    destinationOn: (chain) => {
      const wallet = wallets.get(chain);
      if (wallet === undefined) throw new Error(`no wallet on ${chain}`);
      const pubkey = wallet.family === 'bitcoin' ? wallet.pubkey : null;
      return { address: wallet.address, pubkey };
    },
  });
  if (swapId === null) throw new Error('the other side has not accepted');
  const { role } = await client.swap(swapId);
  const over = new AbortController();
  const ends = settle({
    ...{ client, store, sources, wallets, swapId, trade, now, pollMs },
    signal: AbortSignal.any([over.signal, signal]),
    onProgress: ({ step, state }) => {
      const isFirst = role === 'initiator';
      if (idles && (isFirst ? state === 'funded' : step === 'verified')) {
        over.abort(new Error('the maker idles'));
      }
    },
  });
  ends.catch(() => {});
  return { swapId, ends };
}

async function acceptedThread({ client }: Person, threadId: string) {
  const limit = performance.now() + acceptedWithinMs;
  for (;;) {
    const thread = await client.thread(threadId);
    if (thread.takerAccepted) return thread;
    if (performance.now() > limit) throw new Error('the person never accepted');
    await sleep(pollMs);
  }
}
