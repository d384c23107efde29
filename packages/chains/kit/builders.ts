// The refusals of a builder whichever the chain, with their facts.

import { type Fact, ParleyError } from '@parley/core/errors.ts';
import { opens, type Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Batch } from '../interface/batches.ts';
import type { SpendInput } from '../interface/building.ts';

/** A secret that is not public is shown only when `agree` has passed. Throws `wrong_secret`. */
export async function mayReveal(
  { secrets }: { readonly secrets: ReadonlyMap<string, string> },
  { escrow, isPublic }: SpendInput,
  secret: Secret,
  agree: () => Promise<void>,
): Promise<{ readonly isPublic: boolean }> {
  const { hashlock } = escrow.terms;
  if (!opens(secret, hashlock)) {
    throw new ParleyError('wrong_secret', `sha256(secret) is not ${hashlock}`, {});
  }
  const wasShown = isPublic || secrets.has(hashlock);
  if (!wasShown) await agree();
  return { isPublic: wasShown };
}

export function alreadyFunded(escrow: string): ParleyError {
  return new ParleyError('already_funded', `the escrow ${escrow} was funded before`, { escrow });
}

export function holdsNothing(
  chain: string,
  escrow: string,
  what: string,
  facts: Readonly<Record<string, Fact>> = {},
): ParleyError {
  const sentence = `the escrow ${escrow} on ${chain} ${what}`;
  return new ParleyError('nothing_there', sentence, { escrow, ...facts });
}

export function batchFails(chain: string, { verb, legs }: Batch, reason: string): ParleyError {
  const sentence = `a ${verb} of ${legs.length} escrows on ${chain} would fail: ${reason}`;
  const code = verb === 'fund' ? 'funding_would_fail' : 'payout_would_fail';
  return new ParleyError(code, sentence, { chain, legs: legs.length });
}

/** A batch of fundings is its one funder's. */
export function mustBeFrom({ refund }: EscrowTerms, from: string): void {
  if (refund.address === from) return;
  throw new Error(`a batch of fundings is of one funder, ${from}, not of ${refund.address}`);
}

/** Throws `amount_too_small`. `least`: one unit more than a claim costs now, in `kind`. */
export function mustBeWorth(chain: string, amount: bigint, least: bigint, kind: string): void {
  if (amount >= least) return;
  throw new ParleyError(
    'amount_too_small',
    `${amount} on ${chain} is not more than the ${least - 1n} that claiming it costs in ${kind} ` +
      'now',
    { chain, amount, least },
  );
}
