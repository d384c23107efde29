// Is what a market gives to sign exactly the release of one's own escrow, and nothing more?

import { releaseText as evmText } from '@parley/chains/evm/plan.ts';
import type { ReleaseMaterial } from '@parley/chains/interface/consent.ts';
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
  const { family } = view;
  if (family !== 'evm' && family !== 'tron') {
    throw new VerificationError('sign', `for ${family}`, material.sign);
  }
  mustEqual('family', family, material.family);
  mustEqual('chain', terms.chain, material.chain);
  mustEqual('escrow', escrowOf('escrow', terms, view).address, material.escrow);
  const own =
    view.family === 'tron' ? tronText(terms, view.deployment) : evmText(terms, view.deployment);
  mustEqual('typedData', JSON.stringify(own), JSON.stringify(material.typedData));
}
