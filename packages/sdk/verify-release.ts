// Is what a market gives to sign exactly the release of one's own escrow, and nothing more?

import { releaseText as evmText } from '@parley/chains/evm/plan.ts';
import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
import type { TypedData } from '@parley/chains/interface/material.ts';
import { releaseText as tronText } from '@parley/chains/tron/plan.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { VerificationError } from './errors.ts';
import type { ChainView } from './trade.ts';
import { escrowOf, mustEqual } from './verify.ts';
import { verifyMaterial } from './verify-material.ts';

/**
 * Throws VerificationError otherwise. `terms`: the verified ones of the leg that would pay this
 * side. A release gives up the claim of that leg: sign it only when the own leg is back, or was
 * never funded, or by a person's wish while the secret was shown to nobody.
 */
export function verifyRelease(
  material: ReleaseMaterial & { readonly validUntil?: number },
  terms: EscrowTerms,
  view: ChainView,
): void {
  if (material.sign !== 'typed-data') {
    const limits = { validUntil: null, outputs: null };
    verifyMaterial(material, { verb: 'refund', isReleased: true }, terms, view, limits);
    return;
  }
  mustEqual('family', view.family, material.family);
  mustEqual('chain', terms.chain, material.chain);
  mustEqual('escrow', escrowOf('escrow', terms, view).address, material.escrow);
  mustEqual('typedData', JSON.stringify(textOf(terms, view)), JSON.stringify(material.typedData));
}

function textOf(terms: EscrowTerms, view: ChainView): TypedData {
  switch (view.family) {
    case 'evm':
      return evmText(terms, view.deployment);
    case 'tron':
      return tronText(terms, view.deployment);
    case 'bitcoin':
    case 'solana':
      throw new VerificationError('sign', `for ${view.family}`, 'typed-data');
  }
}
