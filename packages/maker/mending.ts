// A deal whose file is damaged, put together again: from the ledger if it has ended, else from the
// trade that the SDK's store has kept before it was accepted. So a maker settles it as it would have.

import { link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '@parley/host/private-file.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import type { Config } from './config/config.ts';
import { ledgerDeals } from './history/ledger.ts';
import { type Damaged, type Deal, dealIn, type OpenedJournal } from './journal.ts';
import type { Log } from './log.ts';

type Mending = {
  readonly config: Pick<Config, 'store' | 'assets' | 'pairs' | 'markets' | 'hedge'>;
  readonly store: Pick<Store, 'getTrade' | 'getSwap' | 'swapIds'>;
  readonly journal: OpenedJournal;
  readonly log: Log;
};

/**
 * How many could not be: the maker agrees to no new deal, as their promises are not known. The damaged
 * file is kept beside its deal, under a name that ends in `.damaged`.
 */
export async function mendDeals(mending: Mending): Promise<number> {
  const { journal, log } = mending;
  let left = 0;
  for (const damaged of journal.damaged) {
    const { threadId, file } = damaged;
    try {
      const deal = await dealAgain(mending, damaged);
      await setBeside(file);
      await journal.keep(deal);
      const { swapId, end } = deal;
      log.warn('deal_mended', { threadId, swapId, end, file, why: damaged.why });
    } catch (error) {
      left += 1;
      const what = 'nothing new is agreed until it is moved away and the maker is started again';
      log.error('deal_damaged', {
        threadId,
        file,
        why: damaged.why,
        error: messageOf(error),
        what,
      });
    }
  }
  return left;
}

/** Its name stays taken until the deal has it: one that is killed in between finds it damaged again. */
async function setBeside(file: string): Promise<void> {
  const beside = `${file}.damaged`;
  await rm(beside, { recursive: true, force: true });
  // A folder has one name alone.
  await link(file, beside).catch(() => rename(file, beside));
  await syncFolder(dirname(file));
}

async function dealAgain({ config, store }: Mending, { threadId }: Damaged): Promise<Deal> {
  for await (const deal of ledgerDeals(config.store, { read: dealIn, torn: () => undefined })) {
    if (deal.threadId === threadId) return deal;
  }
  const { trade, swapId } = await tradeOf(store, threadId);
  return dealOf(config, trade, swapId);
}

/** Throws where the store knows of none, or cannot read it. */
async function tradeOf(store: Mending['store'], threadId: string) {
  for (const swapId of await store.swapIds()) {
    const record = await store.getSwap(swapId).catch(() => null);
    if (record?.trade.threadId === threadId) return { trade: record.trade, swapId };
  }
  const trade = await store.getTrade(threadId);
  if (trade === null) throw new Error('the store has no trade of this thread');
  return { trade, swapId: null };
}

/** By the names of the settings. A maker of several markets takes it for one of the first. */
function dealOf(
  { assets, pairs, markets, hedge }: Mending['config'],
  trade: OwnTrade,
  swapId: string | null,
) {
  const { base, quote, direction, baseAmount, quoteAmount } = trade;
  const nameOf = ({ chain, token }: OwnTrade['base']) =>
    assets.find((each) => each.chain === chain && each.token === token)?.name ?? chain;
  const isPair = (one: string, other: string) =>
    pairs.some(({ name }) => name === `${one}/${other}`);
  const names = [nameOf(base), nameOf(quote)] as const;
  const isFlipped = !isPair(...names) && isPair(names[1], names[0]);
  // A taker that sells base is given quote.
  const givesBase = (direction === 'buy_base') !== isFlipped;
  return {
    market: markets[0]?.url ?? '',
    threadId: trade.threadId,
    rfqId: trade.rfqId,
    takerId: trade.takerId,
    pair: (isFlipped ? names.toReversed() : names).join('/'),
    gives: givesBase ? 'base' : 'quote',
    base: isFlipped ? quoteAmount : baseAmount,
    quote: isFlipped ? baseAmount : quoteAmount,
    acceptedAt: trade.acceptedAt,
    swapId,
    end: null,
    endedAt: null,
    // Its file knew whether one is told of it: one that was told is not told the same again.
    ...(hedge && { hedged: true }),
  } satisfies Deal;
}
