// A payee's signature of its release, as the contract reads it: by its key, or by whatever its code
// takes (EIP-1271). Pure.

import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { type Hex, serializeSignature } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { Consent, ReleaseText } from '../interface/consent.ts';
import type { TypedData } from '../interface/material.ts';
import { bareSignature, hexIn, notIn } from '../kit/signature-text.ts';
import type { Opened } from '../nodes/opened.ts';
import type { Deployment, planOf } from './plan.ts';
import { digestOf, parseSignature, signerOf } from './typed-data.ts';

/** More than owners' signatures and passkeys take. */
const mostBytes = 8_192;

export type Given = {
  /** For the call, with v 27 or 28 where a key signed. */
  readonly bytes: Hex;
  /** Whether the payee's key did: else its code is to be asked. */
  readonly isByKey: boolean;
};

/** `payout`: its 20 bytes. Throws `bad_signature` for what is no signature of anybody. */
export function readRelease(text: TypedData, payout: Hex, signature: string): Given {
  const refuse = (why: string) => new ParleyError('bad_signature', `the release ${why}`);
  const bare = bareSignature(signature);
  const hex = hexIn(bare);
  if (hex === null) throw refuse(notIn('hex', bare));
  if (hex.length > 2 * mostBytes) throw refuse(`is longer than ${mostBytes} bytes`);
  const bytes: Hex = `0x${hex}`;
  const isByKey = hex.length === 130 && keyOf(text, bytes) === payout.toLowerCase();
  return { bytes: isByKey ? serialized(bytes) : bytes, isByKey };
}

function keyOf(text: TypedData, bytes: Hex): string | null {
  try {
    return signerOf(text, bytes).toLowerCase();
  } catch {
    return null;
  }
}

function serialized(bytes: Hex): Hex {
  const { v, r, s } = parseSignature(bytes);
  return serializeSignature({ v: BigInt(v), r, s });
}

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
  const consentOf = (watch: W, opened: Opened): Consent => ({
    buildRelease: async ({ escrow: { terms } }) => ({
      chain: watch.chain,
      family,
      sign: 'typed-data',
      typedData: plan.releaseText(terms, watch.deployment),
      escrow: plan.escrowOf(terms, watch.deployment).address,
    }),
    checkRelease: opened((terms: EscrowTerms, signature: string, signal) =>
      mustBeReleased(watch, terms, signature, signal),
    ),
  });
  return { mustBeReleased, consentOf };
}
