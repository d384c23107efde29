// A payee's consent to a refund before the timelock: its text, and whether the contract takes its
// signature.

import type { EscrowTerms } from '@parley/core/terms.ts';
import { codeQuestion, codeYes, notReleased } from '../escrows/consent.ts';
import type { SpendInput } from '../interface/building.ts';
import type { Consent } from '../interface/consent.ts';
import type { Opened } from '../nodes/opened.ts';
import { fewWords, type Rpc, RpcError } from '../nodes/rpc.ts';
import { eachSource } from '../nodes/sources.ts';
import { isCallFailure } from './ask.ts';
import { refused } from './node.ts';
import { deploymentOf, evmEscrow, releaseIn, releaseText } from './plan.ts';
import type { Watch } from './watch.ts';

export function consentOf(watch: Watch, opened: Opened): Consent {
  const { chain, deployment } = watch;
  return {
    buildRelease: async ({ escrow: { terms } }: SpendInput) => ({
      chain,
      family: 'evm',
      sign: 'typed-data',
      typedData: releaseText(terms, deployment),
      escrow: evmEscrow(terms, deployment).address,
    }),
    checkRelease: opened((terms: EscrowTerms, signature: string, signal) =>
      mustBeReleased(watch, terms, signature, signal),
    ),
  };
}

/** Throws `bad_signature`. Where it is no key's, each node has to say that the code takes it. */
export async function mustBeReleased(
  watch: Watch,
  terms: EscrowTerms,
  signature: string,
  signal: AbortSignal,
): Promise<void> {
  const { deployment } = watch;
  const { bytes, isByKey } = releaseIn(terms, deployment, signature);
  if (isByKey) return;
  const { address: payout } = terms.payout;
  const text = releaseText(terms, deployment);
  const { contract: from } = deploymentOf(watch, terms);
  const call = { from, to: payout, data: codeQuestion(text, bytes), gas: mostGas };
  const said = await eachSource(watch, watch.rpc, (one) => codeSays(one, call, signal));
  if (said.some(({ answer }) => !answer)) throw notReleased(payout);
}

/** A node must not work long. */
const mostGas = `0x${(3_000_000).toString(16)}`;

async function codeSays(rpc: Rpc, call: Readonly<Record<string, string>>, signal: AbortSignal) {
  try {
    const answer = await rpc.call('eth_call', [call, 'latest'], signal, fewWords);
    return /^0x[0-9a-f]{64}/i.test(`${answer}`) && BigInt(`${answer}`.slice(0, 66)) === codeYes;
  } catch (error) {
    if (isCallFailure(error)) return false;
    throw error instanceof RpcError ? refused(rpc, 'eth_call', error) : error;
  }
}
