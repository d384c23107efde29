// A Bitcoin funding of one's own that no block takes: until the time to fund has passed, a version
// with a higher fee takes its place (BIP 125). It spends the same coins, so only one version is
// ever mined, and makes the same payment, so it does not matter which.

import { ParleyError } from '../../../core/errors.ts';
import { nothingSeen } from '../../../core/facts.ts';
import { fundGate } from '../../../core/gates.ts';
import type { LegName } from '../../../core/trade.ts';
import { type Kept, keptNow, type SwapRecord, versionsOf } from '../../stores/store.ts';
import type { BitcoinWallet } from '../../wallets/wallet.ts';
import { type Context, look, type Seen } from '../context.ts';
import { overdue, sendAlone, waitAnew } from '../send.ts';
import type { On } from './hand.ts';

/** The record with the raised funding in it, sent; the same record when there is none to raise. */
export async function raiseFunding(
  { context, leg, wallet }: On<BitcoinWallet>,
  record: SwapRecord,
  funding: Kept,
  seen: Seen,
): Promise<SwapRecord> {
  const { leg: gives } = leg;
  if (!isOpen(record, seen, gives) || !overdue(context, leg, funding)) return record;
  waitAnew(context, funding);
  wallet.reserve(funding.raw);
  const payment = { payTo: leg.escrow.address, amountSats: leg.amount };
  const raised = await wallet.signRaise(funding, payment, context.limit());
  if (typeof raised === 'string') {
    const why =
      raised === 'no_fee'
        ? 'the change and the limits of the wallet leave no room for a higher fee'
        : 'a block spends a coin of the funding';
    context.tell('waiting', gives, why, funding.txid);
    return record;
  }
  // Signing may have taken long.
  if (!isOpen(record, await look(context, record), gives)) return record;
  const next = { ...record, funding: keptNow(raised) };
  await context.store.putSwap(next);
  context.tell('replaced', gives, 'sends the funding again, with a higher fee', raised.txid);
  // The market relays no second funding of a leg that it sees funded.
  await sendAlone(context, leg, raised).catch((error: unknown) => refused(context, gives, error));
  return next;
}

/** Nothing but a block is missing, and a funding sent now would still be in time. */
function isOpen({ funding, cancel, claim }: SwapRecord, seen: Seen, gives: LegName): boolean {
  if (funding === null || cancel || claim !== null) return false;
  const { state, clocks } = seen;
  const own = state.legs[gives];
  const { funded, claimed, refunded } = own.facts;
  if (claimed !== null || refunded !== null || !isUnmined(funded, funding)) return false;
  try {
    const unseen = { ...own, facts: nothingSeen };
    fundGate({ ...state, legs: { ...state.legs, [gives]: unseen } }, gives, clocks);
    return true;
  } catch (error) {
    if (error instanceof ParleyError) return false;
    throw error;
  }
}

function isUnmined(funded: Seen['state']['legs']['a']['facts']['funded'], kept: Kept): boolean {
  if (funded === null) return true;
  return funded.confirmations === 0 && versionsOf(kept).includes(funded.txid);
}

/** Whichever version the node has instead goes on; the next look shows it. */
function refused(context: Context, gives: LegName, error: unknown): void {
  if (!(error instanceof ParleyError) || error.code !== 'refused_by_node') throw error;
  context.tell('waiting', gives, error.message);
}
