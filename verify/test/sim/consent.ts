// Releases of simulated chains: the payee's word, as a text to sign, or on Solana in a transaction
// of its own. On Bitcoin both sides sign, and no partial signature is checked.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Consent } from '@parley/chains/interface/consent.ts';
import type { Material, SolanaMaterial, TypedData } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { releaseWord, type SimChain } from './chain.ts';

type Building = {
  readonly plan: (terms: EscrowTerms) => Escrow;
  /** The payee's transaction, with its word in it. */
  readonly build: (escrow: WatchedEscrow, word: string, signal: AbortSignal) => Promise<Material>;
};

export function consentOn(
  { chain, family }: SimChain,
  { plan, build }: Building,
): Pick<ChainAdapter, 'consent' | 'checkRequest' | 'checkAnswer'> {
  if (family === 'bitcoin') return { checkRequest: async () => {}, checkAnswer: async () => {} };
  const checkRelease: Consent['checkRelease'] = async (terms, signature) => {
    if (signature === releaseWord(terms.payout.address, plan(terms).address)) return;
    throw new ParleyError('bad_signature', 'the payee has not signed this', {});
  };
  const buildRelease: Consent['buildRelease'] = async ({ escrow }, signal) => {
    const { address, terms } = escrow;
    if (family === 'solana') {
      const word = releaseWord(terms.payout.address, address);
      return (await build(escrow, word, signal)) as SolanaMaterial;
    }
    return { chain, family, sign: 'typed-data', typedData: {} as TypedData, escrow: address };
  };
  return { consent: family === 'solana' ? { buildRelease } : { buildRelease, checkRelease } };
}
