// Leaves signed refunds of the own Bitcoin leg with the market once its funding is final, and signed
// claims of the Bitcoin leg that pays this side; again when payments or fees have changed.

import type { ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import { has } from '@parley/core/families.ts';
import { messageOf } from '../errors.ts';
import {
  planSpends,
  type SpendPlan,
  scheduleClaims,
  scheduleRefunds,
} from '../scheduled-spends.ts';
import type { LeftWithMarket } from '../stores/store.ts';
import { type Context, ownLeg, payingLeg, sourceOf } from './context.ts';
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

export async function leaveSpends(
  context: Context,
  { state }: Seen,
  verb: ScheduledVerb,
): Promise<void> {
  const { client, swapId, record } = context;
  const { leg, chain } = verb === 'claim' ? payingLeg(context) : ownLeg(context);
  const wallet = context.chains[chain]?.wallet;
  if (client === null || !has(wallet, 'coins')) return;
  const isWanted = verb === 'claim' ? context.scheduleClaims : context.scheduleRefunds;
  if (!(isWanted ?? wallet.signsAlone ?? false)) return;
  const { funded, balance } = state.legs[leg].facts;
  const before = record.left?.[verb];
  // Where nothing came or went since; the balance counts shallow payments too.
  const pauses = before?.sats === balance ? pausesBetweenFees : pausesBetween;
  if (isTooSoon(context, `${verb} of ${funded?.txid} ${balance}`, pauses)) return;
  const keep = (left: LeftWithMarket) => context.keep({ left: { ...record.left, [verb]: left } });
  try {
    const source = sourceOf(context, chain);
    const escrow = watchedOf(record, leg);
    // An attacker who pays dust in quiet hours must not have a schedule replaced by one that ends
    // lower.
    const leastTop = before?.upTo ?? 0;
    const plan = await planSpends(verb, {
      escrow,
      source,
      wallet,
      signal: context.limit(),
      leastTop,
    });
    // Those that pay elsewhere are signed again.
    const paid = wallet.payout === undefined ? [] : [`to ${wallet.payout}`];
    const about = [...plan.outpoints.toSorted(), ...paid].join(' ');
    // A payment that does not fit into one spend is final and not new.
    const sats = plan.deepSats;
    const left = verb === 'refund' ? leftBy(plan) : '';
    if (before !== undefined && isKept(before, about, plan)) {
      if (left !== '') context.emit('scheduled', leg, left);
      if (before.sats !== sats) await keep({ ...before, sats });
      return;
    }
    const ask = ({ signal }: { signal: AbortSignal }) => {
      const input = { client, swapId, leg, escrow, source, wallet, signal };
      return verb === 'claim' ? scheduleClaims(input, plan) : scheduleRefunds(input, plan);
    };
    const { count, lowestFeeRate, highestFeeRate } = await asked(context, ask, limitMs);
    await keep({ about, sats, upTo: plan.highestFeeRate });
    const rates = `${lowestFeeRate} to ${highestFeeRate} sat per vbyte`;
    const kept = `the market keeps ${count} signed ${verb}s of ${sats} sats at ${rates}`;
    context.emit('scheduled', leg, left === '' ? kept : `${kept}; ${left}`);
  } catch (error) {
    context.signal?.throwIfAborted();
    context.emit('market_refused', leg, `signed ${verb}s are not kept: ${messageOf(error)}`);
  }
}

function leftBy({ leftOut }: SpendPlan): string {
  if (leftOut.length === 0) return '';
  const left = leftOut.map(({ outpoint, sats }) => `${outpoint} (${sats} sats)`).join(', ');
  return `refund by hand what is in none of the signed refunds: ${left}`;
}

/** Whether what the market keeps is of the same payments, and still far above what is paid now. */
function isKept(
  { about, upTo }: LeftWithMarket,
  wanted: string,
  { highestFeeRate }: SpendPlan,
): boolean {
  return about === wanted && highestFeeRate < upTo * renewAbove;
}

function isTooSoon(context: Context, about: string, pauses: number): boolean {
  const key = `spends: ${about}`;
  const last = context.sentAtMs.get(key);
  const now = performance.now();
  if (last !== undefined && now - last < context.marketPollMs * pauses) return true;
  context.sentAtMs.set(key, now);
  return false;
}
