// A Bitcoin funding that came too late: one of its coins is spent back to the wallet, so that it
// can never be mined when nobody expects it.

import { ParleyError } from '../../../core/errors.ts';
import { SettleError } from '../../errors.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { BitcoinWallet } from '../../wallets/wallet.ts';
import { due, overdue, sendAlone } from '../send.ts';
import type { On } from './hand.ts';
import { forgetFunding, keepCancel, noFee, notYetDeep } from './late.ts';

type OnBitcoin = On<BitcoinWallet>;

export async function cancelFunding(
  on: OnBitcoin,
  record: SwapRecord,
  funding: Kept,
): Promise<SwapRecord> {
  const { context, leg, wallet } = on;
  wallet.reserve(funding.raw);
  const { cancel = null } = record;
  if (cancel !== null) {
    const depth = await wallet.confirmations(cancel, context.limit());
    if (depth !== null && depth >= leg.requiredConfirmations) {
      wallet.release(funding.raw, cancel);
      return forgetFunding(context, record, leg);
    }
    if (depth !== null) return notYetDeep(context, record, leg);
  }
  if (!overdue(context, leg, cancel ?? funding)) {
    if (cancel === null || !due(context, leg, cancel)) return record;
    return sendCancel(on, record, cancel);
  }
  const signed = await wallet.signCancel(funding.raw, cancel, context.limit());
  if (signed === 'no_fee') return noFee(context, record, leg, cancel ?? funding);
  if (signed === 'coins_gone') return coinsGone(on, record, funding);
  const next = await keepCancel(context, record, leg, signed);
  return sendCancel(on, next, signed);
}

async function sendCancel(
  { context, leg }: OnBitcoin,
  record: SwapRecord,
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
function coinsGone({ context, leg }: OnBitcoin, record: SwapRecord, funding: Kept): SwapRecord {
  context.tell('waiting', leg.leg, `a coin of the funding ${funding.txid} is spent`);
  // A wait of its own, from when the coin was first missed.
  if (!overdue(context, leg, { txid: `${funding.txid} is gone` })) return record;
  const sentence =
    `the late funding ${funding.txid} is not mined, and a coin of it is spent elsewhere. It can ` +
    'only be mined if that is taken back';
  throw new SettleError('funding_replaced', sentence);
}
