// A payee's consent to a refund before the timelock: its text, and whether the contract takes its
// signature.

import type { EscrowTerms } from '@parley/core/terms.ts';
import { codeQuestion, codeYes, notReleased } from '../escrows/consent.ts';
import type { SpendInput } from '../interface/building.ts';
import type { Consent } from '../interface/consent.ts';
import type { Opened } from '../nodes/opened.ts';
import { eachSource } from '../nodes/sources.ts';
import { trialOf } from './energy.ts';
import { deploymentOf, releaseIn, releaseText, tronEscrow } from './plan.ts';
import type { Watch } from './watch.ts';

export function consentOf(watch: Watch, opened: Opened): Consent {
  const { chain, deployment } = watch;
  return {
    buildRelease: async ({ escrow: { terms } }: SpendInput) => ({
      chain,
      family: 'tron',
      sign: 'typed-data',
      typedData: releaseText(terms, deployment),
      escrow: tronEscrow(terms, deployment).address,
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
  const call = { from, to: payout, data: codeQuestion(text, bytes).slice(2), value: 0n };
  const said = await eachSource(watch, watch.http, async (http) => {
    const { failure, output } = await trialOf({ ...watch, http }, call, signal);
    const isWord = failure === null && /^[0-9a-f]{64}/i.test(output);
    return isWord && BigInt(`0x${output.slice(0, 64)}`) === codeYes;
  });
  if (said.some(({ answer }) => !answer)) throw notReleased(payout);
}
