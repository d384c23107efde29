// Texts that fund a token leg on EVM by a signature (EIP-712): are they what the verified terms
// demand, by what one's own node says of the token?

import { typedDataProblems } from '@parley/chains/evm/ways.ts';
import type { Allowance } from '@parley/chains/interface/fund-ways.ts';
import type { FundAlternative } from '@parley/chains/interface/material.ts';
import { has } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ChainSource } from './chains.ts';
import { SettleError, VerificationError } from './errors.ts';

// biome-ignore lint/performance/noBarrelFile: the uses of a text once it is verified.
export { typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
export { signedCall } from '@parley/chains/evm/ways.ts';

export type TextLimits = {
  /** The allowance of a permit: the amount alone, or any number of later fundings too. */
  readonly allowance: Allowance;
  /** The end of a permit: it must not be usable any later. */
  readonly latestDeadline: UnixSeconds;
  /** The payee's, where the leg is in a lane of its own. */
  readonly laneSignature?: string | null;
};

/** Throws VerificationError, and SettleError `no_source` where the source reads no domain. */
export async function verifyTypedData(
  alternative: FundAlternative,
  terms: EscrowTerms,
  source: ChainSource,
  limits: TextLimits,
  signal: AbortSignal,
): Promise<void> {
  const { reads, deployment } = signingOf(source);
  const separator = await reads.separator(terms.token ?? '', signal);
  const field = `alternatives.${alternative.way}`;
  if (separator === null) {
    throw new VerificationError(`${field}.typedData.domain`, 'a domain of the token', 'some');
  }
  // A permit's number is the own node's to say: the market may be a block ahead.
  const { laneSignature, ...bounds } = limits;
  const view = { separator, nonce: null, ...bounds, ...(laneSignature && { laneSignature }) };
  const problems = typedDataProblems(alternative, terms, deployment, view);
  if (problems.length === 0) return;
  throw new VerificationError(field, 'what these terms come to', problems.join('; '));
}

/** The own node's view of tokens, and the own plan of the chain. */
export function signingOf({ adapter, view }: ChainSource) {
  if (!has(view, 'signedFundings')) throw new VerificationError('view.family', 'evm', view.family);
  if (adapter.signing === undefined) {
    throw new SettleError('no_source', `the source of "${view.chain}" cannot check signatures`);
  }
  return { reads: adapter.signing, deployment: view.deployment };
}
