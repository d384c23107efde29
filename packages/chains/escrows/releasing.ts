// A payee's consent to a refund before the timelock: its text, and whether the contract takes its
// signature.

import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Hex } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { Consent, ReleaseText } from '../interface/consent.ts';
import type { TypedData } from '../interface/material.ts';
import type { Deployment, planOf } from './plan.ts';
import { digestOf } from './typed-data.ts';

/** The question to a payee's code, and its yes: the whole word, as the contract compares it. */
function codeQuestion(text: TypedData, bytes: Hex): Hex {
  const abi = parseAbi(['function isValidSignature(bytes32, bytes) view returns (bytes4)']);
  return encodeFunctionData({ abi, args: [digestOf(text), bytes] });
}

const codeYes = BigInt(`0x1626ba7e${'0'.repeat(56)}`);

function isYes(answer: string | null): boolean {
  if (answer === null || !/^[0-9a-f]{64}/i.test(answer)) return false;
  return BigInt(`0x${answer.slice(0, 64)}`) === codeYes;
}

type Check = NonNullable<Consent['checkRelease']>;
type OfChain = { readonly chain: ChainKey; readonly deployment: Deployment };

type Family<W extends OfChain> = {
  readonly family: ReleaseText['family'];
  readonly plan: Pick<ReturnType<typeof planOf>, 'escrowOf' | 'releaseText' | 'releaseIn'>;
  /** The word of a payee's code by each node, in hex without 0x; null: the call failed. */
  readonly answers: (
    watch: W,
    terms: EscrowTerms,
    question: Hex,
    signal: AbortSignal,
  ) => Promise<readonly { readonly answer: string | null }[]>;
};

export function releasing<W extends OfChain>({ family, plan, answers }: Family<W>) {
  /** Throws `bad_signature`. Where it is no key's, each node has to say that the code takes it. */
  const mustBeReleased = async (
    watch: W,
    terms: EscrowTerms,
    signature: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const { deployment } = watch;
    const { bytes, isByKey } = plan.releaseIn(terms, deployment, signature);
    if (isByKey) return;
    const question = codeQuestion(plan.releaseText(terms, deployment), bytes);
    const said = await answers(watch, terms, question, signal);
    if (said.every(({ answer }) => isYes(answer))) return;
    const { address } = terms.payout;
    const sentence = `the release is not signed by ${address}, nor taken by a contract there`;
    throw new ParleyError('bad_signature', sentence);
  };
  const consentOf = (watch: W, opened: (check: Check) => Check): Consent => ({
    buildRelease: async ({ escrow: { terms } }) => ({
      chain: watch.chain,
      family,
      sign: 'typed-data',
      typedData: plan.releaseText(terms, watch.deployment),
      escrow: plan.escrowOf(terms, watch.deployment).address,
    }),
    checkRelease: opened((...asked) => mustBeReleased(watch, ...asked)),
  });
  return { mustBeReleased, consentOf };
}
