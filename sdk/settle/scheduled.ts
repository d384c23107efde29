// Leaves signed refunds of the own Bitcoin leg with the market, once its funding is in a block, and
// again when there is other money in the escrow. Never in the way of the swap: what goes wrong is
// told, and tried again later.

import { scheduleRefunds } from '../scheduled-refunds.ts';
import type { SwapRecord } from '../stores/store.ts';
import { type Context, legOf, ownSides, type Seen, sourceOf, watchedOf } from './context.ts';
import { asked } from './market.ts';

/** Between two tries that failed, in pauses between questions to the market. */
const pausesBetween = 30;
/** For the retries too: a market that hangs must not hold up the swap for long. */
const limitMs = 10_000;

export async function leaveRefunds(
  context: Context,
  record: SwapRecord,
  { state, clocks }: Seen,
): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const { client } = context;
  const leg = legOf(record, gives);
  const wallet = context.wallets.get(leg.chain);
  if (client === null || wallet?.family !== 'bitcoin') return record;
  if (!(context.scheduleRefunds ?? wallet.signsAlone ?? false)) return record;
  const { funded, claimed, refunded, balance } = state.legs[gives].facts;
  const isSpent = claimed !== null || refunded !== null || record.refund !== null;
  if (isSpent || (funded?.confirmations ?? 0) === 0 || clocks[gives] > leg.timelock) return record;
  // The same funding in another block is the same.
  const about = `${funded?.txid} ${balance}`;
  if (record.scheduled === about || isTooSoon(context, about)) return record;
  try {
    const { swapId } = context;
    const source = sourceOf(context, leg.chain);
    const escrow = watchedOf(record, gives);
    const ask = (how: { signal: AbortSignal }) =>
      scheduleRefunds({ client, swapId, leg: gives, escrow, source, wallet, signal: how.signal });
    const { count, lowestFeeRate, highestFeeRate } = await asked(context, ask, limitMs);
    const next = { ...record, scheduled: about };
    await context.store.putSwap(next);
    const rates = `${lowestFeeRate} to ${highestFeeRate} sat per vbyte`;
    const text = `the market keeps ${count} signed refunds of ${balance} sats at ${rates}`;
    context.tell('scheduled', gives, text);
    return next;
  } catch (error) {
    context.signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    context.tell('market_refused', gives, `signed refunds are not kept: ${why}`);
    return record;
  }
}

function isTooSoon(context: Context, about: string): boolean {
  const key = `refunds of ${about}`;
  const last = context.sentAtMs.get(key);
  const now = performance.now();
  if (last !== undefined && now - last < context.marketPollMs * pausesBetween) return true;
  context.sentAtMs.set(key, now);
  return false;
}
