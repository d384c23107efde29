// A funding that was sent and is not mined when the time to fund has passed. It must not stay in
// somebody's pool, to be mined when nobody expects it: what it spends is spent otherwise, its nonce
// on EVM, one of its coins on Bitcoin. On TRON and Solana it dies. Only then has nothing moved. If
// the funding is mined after all, the swap goes on from there and is refunded in time.

import { ParleyError } from '../../core/errors.ts';
import { fundBy } from '../../core/gates.ts';
import { SettleError } from '../errors.ts';
import { type Kept, keptNow, type SwapRecord } from '../stores/store.ts';
import type { BitcoinWallet, EvmWallet, ExpiringWallet } from '../wallets/wallet.ts';
import { type Context, legOf, ownSides, type Seen, type SetLeg, walletOf } from './context.ts';
import {
  due,
  lookedAfter,
  overdue,
  push,
  raiseOf,
  sendAlone,
  sendWaiting,
  waitAnew,
} from './send.ts';

/**
 * Whether the own funding is late for good: by the own clock AND by the chain's. With a claim of
 * one's own sent the other side has been promised the money, and it is left to arrive.
 */
export function isLate(record: SwapRecord, { state, clocks }: Seen): boolean {
  const { gives } = ownSides(record);
  const own = state.legs[gives];
  const { funded, claimed, refunded } = own.facts;
  if (record.funding === null || record.claim !== null) return false;
  if ((funded?.confirmations ?? 0) > 0 || claimed !== null || refunded !== null) return false;
  return Math.min(clocks.wall, clocks[gives]) > fundBy(state, own);
}

/** One step towards a funding that can never be mined: the record has none in the end. */
export async function cancelFunding(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const leg = legOf(record, ownSides(record).gives);
  const wallet = walletOf(context, leg.chain);
  const { funding } = record;
  if (funding === null) return record;
  switch (wallet.family) {
    case 'evm':
      return cancelOnEvm(context, record, funding, leg, wallet);
    case 'bitcoin':
      return cancelOnBitcoin(context, record, funding, leg, wallet);
    default:
      return awaitDeath(context, record, funding, leg, wallet);
  }
}

/** Nothing has to be spent otherwise: it dies by itself, in minutes. It is not sent again. */
async function awaitDeath(
  context: Context,
  record: SwapRecord,
  funding: Kept,
  leg: SetLeg,
  wallet: ExpiringWallet,
): Promise<SwapRecord> {
  if (!due(context, leg, funding)) return record;
  const { state } = await wallet.fate(funding, context.limit());
  lookedAfter(context, funding);
  if (state === 'lost' || state === 'reverted') return forgetFunding(context, record, leg);
  const text =
    state === 'waiting' ? 'waits until the late funding has died' : 'the funding was mined';
  context.tell('waiting', leg.leg, text);
  return record;
}

async function cancelOnEvm(
  context: Context,
  record: SwapRecord,
  funding: Kept,
  leg: SetLeg,
  wallet: EvmWallet,
): Promise<SwapRecord> {
  const { cancel } = record;
  if (!due(context, leg, cancel ?? funding)) return record;
  const fate = await wallet.fate(funding, context.limit());
  lookedAfter(context, cancel ?? funding);
  if (fate.state === 'succeeded') {
    context.tell('waiting', leg.leg, 'the funding was mined after all');
    return record;
  }
  if (fate.state !== 'waiting') {
    // Whatever used the nonce: once that is deep, no version of the funding can be mined.
    const { requiredConfirmations } = leg;
    if (await wallet.isNonceDeep(funding, requiredConfirmations, context.limit())) {
      return forgetFunding(context, record, leg);
    }
    context.tell('waiting', leg.leg, 'the end of the late funding is not yet deep');
    return record;
  }
  if (cancel) return push(context, record, 'cancel', leg, wallet, fate);
  if (!overdue(context, leg, funding)) return record;
  const how = { ...raiseOf(leg), cancel: true };
  const signed = await wallet.raise(funding, how, context.limit());
  if (signed === null) return noFee(context, record, leg, funding);
  // Versions of the funding are no versions of its cancellation.
  const next = await keepCancel(context, record, leg, { txid: signed.txid, raw: signed.raw });
  lookedAfter(context, signed);
  await sendWaiting(context, leg, signed);
  return next;
}

async function cancelOnBitcoin(
  context: Context,
  record: SwapRecord,
  funding: Kept,
  leg: SetLeg,
  wallet: BitcoinWallet,
): Promise<SwapRecord> {
  wallet.reserve(funding.raw);
  const { cancel = null } = record;
  if (cancel !== null) {
    const depth = await wallet.confirmations(cancel, context.limit());
    if (depth !== null && depth >= leg.requiredConfirmations) {
      wallet.release(funding.raw, cancel);
      return forgetFunding(context, record, leg);
    }
    if (depth !== null) {
      context.tell('waiting', leg.leg, 'the end of the late funding is not yet deep');
      return record;
    }
  }
  if (!overdue(context, leg, cancel ?? funding)) {
    if (cancel === null || !due(context, leg, cancel)) return record;
    return sendCancel(context, record, leg, cancel);
  }
  const signed = await wallet.signCancel(funding.raw, cancel, context.limit());
  if (signed === 'no_fee') return noFee(context, record, leg, cancel ?? funding);
  if (signed === 'coins_gone') return coinsGone(context, record, leg, funding);
  const next = await keepCancel(context, record, leg, signed);
  return sendCancel(context, next, leg, signed);
}

async function keepCancel(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
  cancel: Kept,
): Promise<SwapRecord> {
  const next = { ...record, cancel: keptNow(cancel) };
  await context.store.putSwap(next);
  const text = `the funding of leg ${leg.leg} came too late: takes its place with a payment to self`;
  context.tell('cancelled', leg.leg, text, cancel.txid);
  return next;
}

async function noFee(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
  kept: Kept,
): Promise<SwapRecord> {
  waitAnew(context, kept);
  context.tell('waiting', leg.leg, 'cancelling the late funding would cost more than is allowed');
  return record;
}

async function sendCancel(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
  cancel: Kept,
): Promise<SwapRecord> {
  try {
    await sendAlone(context, leg, cancel);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
    context.tell('waiting', leg.leg, error.message, cancel.txid);
  }
  return record;
}

/** A block spends a coin of the funding: the funding itself, as will show, or something else. */
async function coinsGone(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
  funding: Kept,
): Promise<SwapRecord> {
  context.tell('waiting', leg.leg, `a coin of the funding ${funding.txid} is spent`);
  // A wait of its own, from when the coin was first missed.
  if (!overdue(context, leg, { txid: `${funding.txid} is gone`, raw: '' })) return record;
  const sentence =
    `the late funding ${funding.txid} is not mined, and a coin of it is spent elsewhere. It can ` +
    'only be mined if that is taken back';
  throw new SettleError('funding_replaced', sentence);
}

async function forgetFunding(
  context: Context,
  record: SwapRecord,
  leg: SetLeg,
): Promise<SwapRecord> {
  const next = { ...record, funding: null, cancel: null };
  await context.store.putSwap(next);
  context.tell('cancelled', leg.leg, 'the late funding can never be mined: nothing has moved');
  return next;
}
