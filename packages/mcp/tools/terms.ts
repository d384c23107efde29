// The subject of a price that this profile has neither asked for nor quoted: under the same price a
// market could show another amount, so it is named too.

import type { OwnAsset } from '@parley/trader/assets.ts';
import type { Session } from '@parley/trader/session.ts';
import { compareTerms, namedBy, otherThan, type Terms } from '@parley/trader/terms.ts';
import type { z } from 'zod';
import { amountOf, inWords } from '../desk.ts';
import { Refusal } from '../refusal.ts';
import * as shape from '../schemas.ts';

/** The fields of the request that are named beside the price. */
export const named = {
  side: shape.side.optional().describe('this and the next three: where terms_unknown wants them'),
  amount: shape.amountIn.optional().describe('of the base asset'),
  base: shape.assetName.optional().describe('ASSET'),
  quote: shape.assetName.optional().describe('ASSET'),
};
type Named = {
  readonly [name in keyof typeof named]?: z.infer<(typeof named)[name]> | undefined;
};
type Of = Terms & Readonly<Record<'base' | 'quote', OwnAsset>>;

/**
 * Throws VerificationError where the request is another than it was, Refusal `terms_unknown` where
 * nobody has named it, `other_terms` where it is not what was named.
 */
export async function mustBeTerms(
  session: Session,
  rfqId: string,
  terms: Of,
  said: Named,
): Promise<void> {
  const kept = await compareTerms(session, rfqId, terms);
  const { direction, baseAmount, base, quote } = terms;
  const side = direction === 'sell_base' ? 'sell' : 'buy';
  const { amount } = amountOf(baseAmount, base);
  const facts = { side, amount, base: base.name, quote: quote.name };
  const what = `the taker ${side}s ${inWords(amountOf(baseAmount, base))} for ${quote.name}`;
  const missing = namedBy.filter((name) => said[name] === undefined);
  if (kept === null && missing.length > 0) {
    const why = 'this profile has neither asked for the request nor quoted it';
    const sentence = `${why}: name ${missing.join(', ')} of it too. ${what}`;
    throw new Refusal('needs_you', 'terms_unknown', sentence, facts);
  }
  const other = otherThan(session, said, terms);
  if (other === null) return;
  const sentence = `${what}, which is not ${other} ${said[other]}: nothing was accepted`;
  throw new Refusal('needs_you', 'other_terms', sentence, facts);
}
