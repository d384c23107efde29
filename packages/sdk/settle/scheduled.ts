// Leaves signed refunds of the own Bitcoin leg with the market once its funding is final, and again
// when payments or fees have changed.

import { has } from '@parley/core/families.ts';
import { messageOf } from '../errors.ts';
import { planRefunds, type RefundPlan, scheduleRefunds } from '../scheduled-refunds.ts';
import type { SwapRecord } from '../stores/store.ts';
import { type Context, ownLeg, sourceOf } from './context.ts';
import { asked } from './market.ts';
import { type Seen, watchedOf } from './record.ts';

/** Between two tries that failed, in pauses between questions to the market. */
const pausesBetween = 30;
const pausesBetweenFees = 300;
/**
 * A schedule reaches eight times above its hour; another is signed when half of that is used up.
 */
const renewAbove = 2;
/** For the retries too: a market that hangs must not hold up the swap for long. */
const limitMs = 10_000;

export async function leaveRefunds(context: Context, { state }: Seen): Promise<void> {
  const { client, swapId, record } = context;
  const leg = ownLeg(context);
  const { leg: gives } = leg;
  const wallet = context.chains[leg.chain]?.wallet;
  if (client === null || !has(wallet, 'coins')) return;
  if (!(context.scheduleRefunds ?? wallet.signsAlone ?? false)) return;
  const { funded, balance } = state.legs[gives].facts;
  // Where nothing came or went since; the balance counts shallow payments too.
  const isAll = record.scheduledOf === balance;
  const pauses = isAll ? pausesBetweenFees : pausesBetween;
  if (isTooSoon(context, `${funded?.txid} ${balance}`, pauses)) return;
  try {
    const source = sourceOf(context, leg.chain);
    const escrow = watchedOf(record, gives);
    // An attacker who pays dust in quiet hours must not have a schedule replaced by one that ends
    // lower.
    const leastTop = record.scheduledUpTo ?? 0;
    const plan = await planRefunds({ escrow, source, wallet, signal: context.limit(), leastTop });
    // Those that pay elsewhere are signed again.
    const paid = wallet.payout === undefined ? [] : [`to ${wallet.payout}`];
    const about = [...plan.outpoints.toSorted(), ...paid].join(' ');
    // A payment that does not fit into one refund is final and not new.
    const scheduledOf = plan.allDeepSats;
    const left = leftBy(plan);
    if (isKept(record, about, plan)) {
      if (left !== '') context.emit('scheduled', gives, left);
      if (record.scheduledOf !== scheduledOf) await context.keep({ scheduledOf });
      return;
    }
    const ask = ({ signal }: { signal: AbortSignal }) =>
      scheduleRefunds({ client, swapId, leg: gives, escrow, source, wallet, signal }, plan);
    const { count, lowestFeeRate, highestFeeRate } = await asked(context, ask, limitMs);
    const scheduledUpTo = plan.highestFeeRate;
    await context.keep({ scheduled: about, scheduledOf, scheduledUpTo });
    const rates = `${lowestFeeRate} to ${highestFeeRate} sat per vbyte`;
    const kept = `the market keeps ${count} signed refunds of ${plan.deepSats} sats at ${rates}`;
    context.emit('scheduled', gives, left === '' ? kept : `${kept}; ${left}`);
  } catch (error) {
    context.signal?.throwIfAborted();
    context.emit('market_refused', gives, `signed refunds are not kept: ${messageOf(error)}`);
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
