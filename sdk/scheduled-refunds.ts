// Refunds of an own Bitcoin leg, signed before they are due and left with the market, which sends
// the right one if this side is away then. Made from the customer's own terms and node alone; the
// bytes can do nothing but pay its refund address after the timelock.

import type { WatchedEscrow } from '../chains/adapter.ts';
import { mostRungs, signedLadder } from '../chains/bitcoin/fee-ladder.ts';
import { defaultFeeBounds } from '../chains/bitcoin/fees.ts';
import { buildSpend, vsizeOf } from '../chains/bitcoin/plan.ts';
import { assemble } from '../chains/bitcoin/signed-psbt.ts';
import { mostRefundInputs } from '../chains/bitcoin/signed-refunds.ts';
import type { LegName } from '../core/trade.ts';
import type { ParleyClient } from './client.ts';
import { VerificationError } from './errors.ts';
import type { ChainSource } from './settle/context.ts';
import type { ScheduledRefunds } from './types.ts';
import { mustEqual } from './verify.ts';
import { outputsOf, verifyMaterial } from './verify-material.ts';
import type { BitcoinWallet } from './wallets/wallet.ts';

export type ScheduleInput = {
  readonly client: Pick<ParleyClient, 'scheduleRefunds'>;
  readonly swapId: string;
  readonly leg: LegName;
  /** As verified; `former` where the leg has moved off it. */
  readonly escrow: WatchedEscrow;
  readonly former?: boolean;
  readonly source: ChainSource;
  /** Of the refund key. Asked once, for all the signatures. */
  readonly wallet: Pick<BitcoinWallet, 'signSighashes'>;
  readonly signal: AbortSignal;
};

/**
 * Signs a ladder of refunds of what the escrow holds now, and has the market keep it. Returns what
 * the market says it keeps, which was checked. Throws `nothing_there` while no block holds a
 * payment, VerificationError, and what the wallet or the market refuses with.
 */
export async function scheduleRefunds(input: ScheduleInput): Promise<ScheduledRefunds> {
  const { client, swapId, leg, escrow, former = false, signal } = input;
  const made = await signedRefunds(input);
  const transactions = made.map(({ raw }) => raw);
  const body = { transactions, ...(former ? { escrow: escrow.address } : {}) };
  const kept = await client.scheduleRefunds(swapId, leg, body, { signal });
  mustEqual('scheduledRefunds.escrow', escrow.address, kept.escrow);
  mustEqual('scheduledRefunds.count', made.length, kept.count);
  const txids = made.map(({ txid }) => txid).join();
  mustEqual('scheduledRefunds.txids', txids, [kept.txids].flat().join());
  return kept;
}

/** The signed refunds, the cheapest first. */
export async function signedRefunds({
  escrow,
  source: { adapter, view },
  wallet,
  signal,
}: Pick<ScheduleInput, 'escrow' | 'source' | 'wallet' | 'signal'>): Promise<
  { readonly txid: string; readonly raw: string }[]
> {
  if (view.family !== 'bitcoin') throw new VerificationError('family', 'bitcoin', view.family);
  const { terms } = escrow;
  const { network, mostFeeRateSatPerVbyte: cap = defaultFeeBounds.capSatPerVbyte } = view;
  const built = await adapter.buildRefund({ escrow, feeRateSatPerVbyte: null }, signal);
  if (built.sign !== 'btc-sighash') throw new VerificationError('sign', 'btc-sighash', built.sign);
  const payments = outputsOf(built.psbtBase64);
  const limits = { validUntil: null, outputs: payments };
  verifyMaterial(built, { verb: 'refund' }, terms, view, limits);
  // The largest come first.
  const outputs = payments.slice(0, mostRefundInputs);
  const dearest = built.ladder.at(-1)?.feeRateSatPerVbyte ?? built.feeRateSatPerVbyte;
  // The last step of a ladder is twice the rate for the next blocks.
  const rate = dearest / 2;
  const fees = signedLadder({
    estimate: { fast: rate, medium: rate, slow: rate, least: 1, at: 0 },
    bounds: { ...defaultFeeBounds, capSatPerVbyte: cap },
    vsize: vsizeOf(terms, network, 'refund', outputs.length),
    value: outputs.reduce((sum, { amount }) => sum + amount, 0n),
  });
  const spends = fees
    .slice(-mostRungs)
    .map((fee) => buildSpend(terms, network, 'refund', outputs, fee));
  const hashes = spends.flatMap(({ sighashHexes }) => sighashHexes);
  const signatures = await wallet.signSighashes(hashes, signal);
  return spends.map(({ psbtBase64 }, at) => {
    const from = at * outputs.length;
    // Verifies each signature against the refund key.
    return assemble({ psbtBase64, signaturesHex: signatures.slice(from, from + outputs.length) });
  });
}
