// What is checked of a text that moves money: before signing that it is ours, after that the refund
// address signed it.

import { sameAddress } from '../../../chains/evm/address.ts';
import { signerOf, typedDataProblems } from '../../../chains/evm/ways.ts';
import type { Allowance } from '../../../chains/interface/fund-ways.ts';
import type { FundAlternative, TypedData } from '../../../chains/interface/material.ts';
import { SettleError, VerificationError } from '../../errors.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { type Context, sourceOf } from '../context.ts';
import type { On } from '../hands/hand.ts';
import type { SetLeg } from '../record.ts';

/** The own node's view of the token, and the own plan of the chain. */
export function signingOf(context: Context, leg: SetLeg) {
  const { adapter, view } = sourceOf(context, leg.chain);
  if (view.family !== 'evm') throw new VerificationError('view.family', 'evm', view.family);
  if (adapter.signing === undefined) {
    throw new SettleError('no_source', `the source of "${leg.chain}" cannot check signatures`);
  }
  return { reads: adapter.signing, deployment: view.deployment };
}

/** A permit's number is the own node's to say: the market may be a block ahead. */
export async function mustBeOwnText(
  context: Context,
  leg: SetLeg,
  alternative: FundAlternative,
  { allowance, latestDeadline }: { allowance: Allowance; latestDeadline: number },
): Promise<void> {
  const { reads, deployment } = signingOf(context, leg);
  const { terms } = leg.escrow;
  const separator = await reads.separator(terms.token ?? '', context.limit());
  const field = `alternatives.${alternative.way}`;
  if (separator === null) {
    throw new VerificationError(`${field}.typedData.domain`, 'of a token that has one', 'some');
  }
  const view = { separator, nonce: null, allowance, latestDeadline };
  const problems = typedDataProblems(alternative, terms, deployment, view);
  if (problems.length === 0) return;
  throw new VerificationError(field, 'what these terms come to', problems.join('; '));
}

/** Throws `no_wallet` where the wallet has signed with another key, or by code. */
export async function signText(
  { context, leg, wallet }: On<EvmWallet>,
  text: TypedData,
): Promise<string> {
  const signature = await wallet.signTypedData?.(text, context.limit());
  const { address } = leg.escrow.terms.refund;
  const signer = signature === undefined ? 'nobody' : signerOf(text, signature);
  if (signature !== undefined && sameAddress(signer, address)) return signature;
  throw new SettleError('no_wallet', `the funding of ${address} was signed by ${signer}`);
}
