// The result of a trial before a funding, as a refusal with its numbers.

import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { About } from '../interface/building.ts';

export function wouldFail(
  { chain, token, amount, payout }: EscrowTerms,
  native: string,
  about: About,
  to: string | null,
  reason: string,
): ParleyError {
  const what = `${amount} of ${token === null ? native : `token ${token}`}`;
  const facts = { chain, token, amount, to };
  if (about === 'funding') {
    const sentence = `funding with ${what} on ${chain} would fail: ${reason}`;
    return new ParleyError('funding_would_fail', sentence, facts);
  }
  const which = to === payout.address ? 'payout' : 'refund';
  const where = to === null ? 'through an escrow' : `to the ${which} address ${to}`;
  const sentence = `a payment of ${what} on ${chain} ${where} would fail: ${reason}`;
  return new ParleyError('payout_would_fail', sentence, facts);
}
