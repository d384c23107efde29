// Leaves signed refunds of the own Bitcoin leg with the market, once its funding is deep, and again
// when other payments are, or when fees have risen towards the highest of them. Never in the way of
// the swap: what goes wrong is told, and tried again later.

import { planRefunds, type RefundPlan, scheduleRefunds } from '../scheduled-refunds.ts';
import type { SwapRecord } from '../stores/store.ts';
import { type Context, legOf, ownSides, type Seen, sourceOf, watchedOf } from './context.ts';
import { asked } from './market.ts';

/** Between two tries that failed, in pauses between questions to the market. */
const pausesBetween = 30;
/** Between two looks at fees, likewise. */
const pausesBetweenFees = 300;
/** A ladder reaches eight times above its hour; another is signed when half of that is used up. */
const renewAbove = 2;
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
  if (isSpent || !funded?.deep || clocks[gives] > leg.timelock) return record;
  // Where nothing came or went since; the balance counts shallow payments too.
  const isAll = record.scheduledOf === balance;
  const pauses = isAll ? pausesBetweenFees : pausesBetween;
  if (isTooSoon(context, `${funded.txid} ${balance}`, pauses)) return record;
  try {
    const { swapId } = context;
    const source = sourceOf(context, leg.chain);
    const escrow = watchedOf(record, gives);
    // Whoever pays dust in quiet hours must not have a ladder replaced by one that ends lower.
    const leastTop = record.scheduledUpTo ?? 0;
    const plan = await planRefunds({ escrow, source, signal: context.limit(), leastTop });
    const about = plan.outpoints.toSorted().join(' ');
    // Also what one refund does not take, too many or too small, is deep and not new.
    const scheduledOf = plan.allDeepSats;
    if (isKept(record, about, plan)) {
      const left = leftBy(plan);
      if (left !== '') context.tell('scheduled', gives, left);
      if (record.scheduledOf === scheduledOf) return record;
      const seen = { ...record, scheduledOf };
      await context.store.putSwap(seen);
      return seen;
    }
    const ask = ({ signal }: { signal: AbortSignal }) =>
      scheduleRefunds({ client, swapId, leg: gives, escrow, source, wallet, signal }, plan);
    const { count, lowestFeeRate, highestFeeRate } = await asked(context, ask, limitMs);
    const next = {
      ...record,
      ...{ scheduled: about, scheduledOf, scheduledUpTo: plan.highestFeeRate },
    };
    await context.store.putSwap(next);
    const rates = `${lowestFeeRate} to ${highestFeeRate} sat per vbyte`;
    const kept = `the market keeps ${count} signed refunds of ${plan.deepSats} sats at ${rates}`;
    const left = leftBy(plan);
    context.tell('scheduled', gives, left === '' ? kept : `${kept}; ${left}`);
    return next;
  } catch (error) {
    context.signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    context.tell('market_refused', gives, `signed refunds are not kept: ${why}`);
    return record;
  }
}

function leftBy({ leftOut }: RefundPlan): string {
  if (leftOut.length === 0) return '';
  const left = leftOut.map(({ outpoint, sats }) => `${outpoint} (${sats} sats)`).join(', ');
  return `refund by hand what is in none of the signed refunds: ${left}`;
}

/** Whether what the market keeps is of the same payments, and still far above what is paid now. */
function isKept(
  { scheduled, scheduledUpTo = 0 }: SwapRecord,
  about: string,
  { highestFeeRate }: RefundPlan,
): boolean {
  return scheduled === about && highestFeeRate < scheduledUpTo * renewAbove;
}

function isTooSoon(context: Context, about: string, pauses: number): boolean {
  const key = `refunds of ${about}`;
  const last = context.sentAtMs.get(key);
  const now = performance.now();
  if (last !== undefined && now - last < context.marketPollMs * pauses) return true;
  context.sentAtMs.set(key, now);
  return false;
}
