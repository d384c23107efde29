// What the market builds for the own funding, checked like anybody's bytes.

import type { FundQuery } from '../client.ts';
import { ParleyApiError, VerificationError } from '../errors.ts';
import type { SwapRecord } from '../stores/store.ts';
import type { Built } from '../types.ts';
import { mustTakeNew } from '../verify-kept.ts';
import { verifyMaterial } from '../verify-material.ts';
import { type Context, legOf, ownSides, sourceOf } from './context.ts';
import { asked } from './market.ts';

/**
 * null: the market is gone or refuses for now, or the leg may have moved, which is told. Where it
 * is, is asked before the next build. Throws VerificationError where it has not moved.
 */
export async function askToFund(
  context: Context,
  record: SwapRecord,
  { sign }: Pick<FundQuery, 'sign'> = {},
): Promise<Built | null> {
  const { client, allowance } = context;
  const { gives } = ownSides(record);
  if (client === null) {
    context.tell('waiting', gives, 'the market is gone: nothing new is funded');
    return null;
  }
  try {
    const built = await asked(context, (how) =>
      client.fund(context.swapId, gives, { ...how, allowance, sign }),
    );
    const leg = legOf(record, gives);
    const { view } = sourceOf(context, leg.chain);
    const { deadlines } = record.swap;
    const validUntil = leg.long ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
    const limits = { validUntil, outputs: null, now: await context.now() };
    const wanted = { verb: 'fund', ...(allowance === undefined ? {} : { allowance }) } as const;
    verifyMaterial(built, wanted, leg.escrow.terms, view, limits);
    mustTakeNew(leg, view);
    return built;
  } catch (error) {
    if (error instanceof VerificationError) return doubtedOnce(context, record, error);
    if (!(error instanceof ParleyApiError)) throw error;
    if (!error.unreachable && error.status !== 409) throw error;
    if (error.code === 'escrow_moved') context.asking.lastAtMs = -Infinity;
    context.tell('market_refused', gives, error.message);
    return null;
  }
}

/** The other side may correct its key between the last question and the build. */
function doubtedOnce({ asking, tell }: Context, record: SwapRecord, error: Error): null {
  const { gives } = ownSides(record);
  const { address } = legOf(record, gives).escrow;
  if (asking.doubted === address) throw error;
  asking.doubted = address;
  asking.lastAtMs = -Infinity;
  tell('waiting', gives, `the leg may have moved: ${error.message}`);
  return null;
}
