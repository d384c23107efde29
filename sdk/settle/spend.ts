// Signed claims and refunds. They are built from the customer's own record and chain sources, never
// by the market: it could name coins that do not exist, be slow when time is short, or learn from
// the question what nobody should know yet. What comes out is checked like anybody's bytes.

import type { LegName } from '../../core/trade.ts';
import type { Kept, SwapRecord } from '../stores/store.ts';
import { outputsOf, verifyMaterial } from '../verify-material.ts';
import { type Context, legOf, sourceOf, watchedOf } from './context.ts';
import type { Spending, SpendSigning } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { unquoted } from './unquoted.ts';

/** A signed claim or refund of this leg, not sent. */
export async function spend(
  context: Context,
  record: SwapRecord,
  name: LegName,
  asked: Spending,
): Promise<Kept> {
  const { sign } = await builtSpend(context, record, name, asked);
  return sign();
}

/** The same, built and checked, to be signed when it is its turn. */
export async function builtSpend(
  context: Context,
  record: SwapRecord,
  name: LegName,
  asked: Spending,
): Promise<SpendSigning> {
  const leg = legOf(record, name);
  const { adapter, view } = sourceOf(context, leg.chain);
  const isPublic = record.publicSecret !== null;
  const input = { escrow: watchedOf(record, name), feeRateSatPerVbyte: null, isPublic };
  const built =
    asked.verb === 'claim'
      ? await adapter.buildClaim(input, asked.secret, context.limit())
      : await adapter.buildRefund(input, context.limit());
  const outputs = built.sign === 'btc-sighash' ? outputsOf(built.psbtBase64) : null;
  const limits = { validUntil: null, outputs, now: await context.now() };
  verifyMaterial(built, asked, leg.escrow.terms, view, limits);
  const how = { isPublic, hasFailed: record.claimFailed ?? false };
  const { sign, gas } = await handOf(context, leg).signSpend(built, asked, how);
  return { sign: isPublic || asked.verb === 'refund' ? sign : () => unquoted(sign), gas };
}
