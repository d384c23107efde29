import { fundBy } from '../../core/gates.ts';
import type { FundQuery } from '../client.ts';
import { ParleyApiError, VerificationError } from '../errors.ts';
import { inPlaceOf, type Kept } from '../stores/store.ts';
import type { Built } from '../types.ts';
import { mustTakeNew } from '../verify-kept.ts';
import { verifyMaterial } from '../verify-material.ts';
import { type Context, ownLeg, sourceOf } from './context.ts';
import type { Signing } from './hands/hand.ts';
import { asked } from './market.ts';
import { claimPayerOf } from './owed.ts';
import { fundingGate, signAndKeep } from './sign.ts';

/**
 * Checked like anybody's bytes. null: the market refuses for now, or the leg may have moved, which
 * is asked before the next build.
 */
export async function askToFund(
  context: Context,
  { sign }: Pick<FundQuery, 'sign'> = {},
): Promise<Built | null> {
  const { client, allowance, asking } = context;
  const leg = ownLeg(context);
  const { leg: gives } = leg;
  if (client === null) {
    context.waits(leg, 'the market is gone: nothing new is funded');
    return null;
  }
  try {
    const built = await asked(context, (how) =>
      client.fund(context.swapId, gives, { ...how, allowance, sign }),
    );
    const { view } = sourceOf(context, leg.chain);
    const validUntil = fundBy(context.record.swap, leg);
    const limits = { validUntil, outputs: null, now: await context.now() };
    const wanted = { verb: 'fund', ...(allowance === undefined ? {} : { allowance }) } as const;
    verifyMaterial(built, wanted, leg.escrow.terms, view, limits);
    mustTakeNew(leg, view);
    return built;
  } catch (error) {
    if (error instanceof VerificationError) {
      // The other side may correct its key between the last question and the build.
      const { address } = leg.escrow;
      if (asking.doubted === address) throw error;
      asking.doubted = address;
      asking.lastAtMs = -Infinity;
      context.waits(leg, `the leg may have moved: ${error.message}`);
      return null;
    }
    const isForNow = error instanceof ParleyApiError && (error.unreachable || error.status === 409);
    if (!isForNow) throw error;
    if (error.code === 'escrow_moved') asking.lastAtMs = -Infinity;
    context.emit('market_refused', gives, error.message);
    return null;
  }
}

/** Signs and keeps a funding, as what takes the place of the one before if there was any. */
export async function keepFunding(context: Context, sign: Signing): Promise<Kept> {
  const { funding: before } = context.record;
  return signAndKeep(context, ownLeg(context), {
    sign: async () => (before === null ? sign() : inPlaceOf(before, await sign())),
    keeps: (funding) => ({ funding, owedBy: claimPayerOf(context) }),
    gate: () => fundingGate(context),
    isUrgent: false,
  });
}
