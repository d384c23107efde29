// The transactions of a gas key, and their gas: tried on the best block before it is signed.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { smaller } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { getAbiItem, toFunctionSelector } from 'viem/utils';
import type { Revert } from '../escrows/calls.ts';
import type { GasWork } from '../gas/account.ts';
import { mustOpen, unseenMargin } from '../gas/work.ts';
import type { Batch } from '../interface/batches.ts';
import type { EvmCall } from '../interface/material.ts';
import { batchFails } from '../kit/builders.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { isCallFailure, type Rpc, RpcError } from '../nodes/rpc.ts';
import type { Offer } from './gas-fees.ts';
import { refused } from './node.ts';
import { claimCall, type EvmDeployment, evmEscrow, mustBeGood, refundCall } from './plan.ts';
import { lentOpen, type Overrides, readRevert, tryCall } from './simulate.ts';
import { mustBeOpen, nothingThere } from './state.ts';
import { authorizationCall, signedCall } from './ways.ts';

export type Trial = {
  readonly rpc: Rpc;
  readonly deployment: EvmDeployment;
  readonly from: string;
  readonly mostGas: bigint;
  /** null: the key's coins would not do for `mostGas` of it, and a node would refuse the trial. */
  readonly offer: Offer | null;
};

export function callOf(work: GasWork, own: string, deployment: EvmDeployment): EvmCall {
  switch (work.verb) {
    case 'claim':
      return claimCall(work.terms, deployment, work.secret);
    case 'refund':
      return refundCall(work.terms, deployment);
    case 'fund':
      mustBeGood(work.terms, deployment);
      return signedCall(
        authorizationCall(work.terms, deployment, work.laneSignature),
        work.signature,
      );
    case 'void':
      return { to: own, data: '0x', value: '0x0' };
  }
}

/** A revert's data is a few words; a hostile token's may be a megabyte. */
const mostAnswer = { mostBytes: 64 * 2 ** 10 };

export async function gasOf(trial: Trial, work: GasWork, signal: AbortSignal): Promise<bigint> {
  const { rpc, deployment, from } = trial;
  if (work.verb === 'void') {
    return withMargin(await estimate(trial, callOf(work, from, deployment), null, signal), trial);
  }
  mustOpen(work);
  const { terms } = work;
  if (work.verb === 'fund') {
    return gasOfFunding(trial, terms, callOf(work, from, deployment), signal);
  }
  const { address } = evmEscrow(terms, deployment);
  // An unseen claim is tried as open, with the money of others: so the true one must be.
  await mustBeOpen(rpc, deployment, terms, address, signal);
  try {
    if (work.verb === 'claim' && !work.isPublic) {
      return await gasUnseen(trial, terms, signal);
    }
    const call = callOf(work, from, deployment);
    return withMargin(await estimate(trial, call, null, signal), trial);
  } catch (error) {
    const { name, words } = revertOf(trial, error);
    // Settled since it was looked at.
    if (name === notOpen) throw nothingThere(terms, address, words);
    const { address: paid } = work.verb === 'claim' ? terms.payout : terms.refund;
    throw wouldFail(terms, 'wei', 'payout', paid, words);
  }
}

export async function tryBatch(
  trial: Pick<Trial, 'rpc' | 'from' | 'mostGas' | 'offer'>,
  batch: Batch,
  { to, data }: EvmCall,
  signal: AbortSignal,
): Promise<{ settles: bigint; gas: bigint }> {
  const { rpc, from, mostGas } = trial;
  try {
    const call = { from, to, data, gas: hex(mostGas) };
    const answer = await rpc.call('eth_call', [call, 'latest'], signal, mostAnswer);
    const settles = /^0x[0-9a-f]{64}$/i.test(`${answer}`) ? BigInt(`${answer}`) : 0n;
    return { settles, gas: await estimate(trial, { to, data, value: '0x0' }, null, signal) };
  } catch (error) {
    const { words } = revertOf(trial, error);
    throw batchFails(rpc.chain, batch, words);
  }
}

/** There is no secret in it: the very call is tried. */
async function gasOfFunding(trial: Trial, terms: EscrowTerms, call: EvmCall, signal: AbortSignal) {
  try {
    return withMargin(await estimate(trial, call, null, signal), trial);
  } catch (error) {
    const { name, words } = revertOf(trial, error);
    if (name === 'WrongSigner') throw signedByOther(terms);
    throw wouldFail(terms, 'wei', 'funding', null, words);
  }
}

function signedByOther({ chain, refund: { address } }: EscrowTerms): ParleyError {
  const sentence = `the signature is none of ${address} for the funding of this leg on ${chain}`;
  return new ParleyError('bad_signature', sentence, { chain, signer: address });
}

const fundedBySignature = (['fundWithAuthorization', 'fundInLaneWithAuthorization'] as const).map(
  (name) => toFunctionSelector(getAbiItem({ abi: escrowsAbi, name })),
);

export const isFundedBySignature = (data: string) =>
  fundedBySignature.some((selector) => data.startsWith(selector));

/** Room for state that another block changes. */
function withMargin(gas: bigint, { mostGas }: Trial): bigint {
  return smaller((gas * 5n) / 4n + 10_000n, mostGas);
}

const hex = (value: bigint) => `0x${value.toString(16)}`;

export async function estimate(
  { rpc, from, mostGas, offer }: Pick<Trial, 'rpc' | 'from' | 'mostGas' | 'offer'>,
  { to, data, value }: EvmCall,
  overrides: Overrides | null,
  signal: AbortSignal,
): Promise<bigint> {
  const call = { from, to, data, value, gas: hex(mostGas), ...fieldsOf(offer) };
  const params = overrides === null ? [call, 'latest'] : [call, 'latest', overrides];
  const answer = await rpc.call('eth_estimateGas', params, signal, mostAnswer);
  if (typeof answer === 'string' && /^0x[0-9a-f]{1,16}$/i.test(answer)) return BigInt(answer);
  throw refused(rpc, 'eth_estimateGas', new RpcError(0, 'its answer is no quantity', null));
}

/** With its fees a trial looks like the transaction, also to a token that asks for its price. */
function fieldsOf(offer: Offer | null): Readonly<Record<string, string>> {
  if (offer === null) return {};
  return { maxFeePerGas: hex(offer.maxFee), maxPriorityFeePerGas: hex(offer.tip) };
}

/** Neither it nor its hash has a zero byte: no claim has dearer calldata. */
const trialSecret = '5a'.repeat(32);

/** The contract is lent an open lane and pays from its own money. */
export function unseenClaim(
  deployment: EvmDeployment,
  terms: EscrowTerms,
): { readonly call: EvmCall; readonly overrides: Overrides } {
  const other = { ...terms, hashlock: hashlockOf(trialSecret) };
  return {
    call: claimCall(other, deployment, trialSecret),
    overrides: lentOpen(other, deployment),
  };
}

/** The contract's error for an escrow that is not open. */
export const notOpen = 'NotOpen';

/** The reason why an unseen claim failed: an estimate was lent no word. */
export function isUnlent({ data, message }: RpcError): boolean {
  return readRevert(data, message).name === notOpen;
}

/** All that is allowed where a node lends to eth_call alone. */
async function gasUnseen(trial: Trial, terms: EscrowTerms, signal: AbortSignal): Promise<bigint> {
  const { rpc, deployment, from, mostGas } = trial;
  const { call, overrides } = unseenClaim(deployment, terms);
  try {
    const gas = await estimate(trial, call, overrides, signal);
    return smaller(gas * unseenMargin, mostGas);
  } catch (error) {
    if (!(error instanceof RpcError) || (isCallFailure(error) && !isUnlent(error))) throw error;
    const { to, data } = call;
    const failure = await tryCall(rpc, { from, to, data, gas: hex(mostGas) }, overrides, signal);
    if (failure === null) return mostGas;
    throw wouldFail(terms, 'wei', 'payout', terms.payout.address, failure.words);
  }
}

/** The contract's no to a trial; else throws. */
function revertOf({ rpc, mostGas }: Pick<Trial, 'rpc' | 'mostGas'>, error: unknown): Revert {
  if (!(error instanceof RpcError)) throw error;
  const { data, message } = error;
  if (/an answer of more than/.test(message)) return { name: null, words: 'it answers too much' };
  if (!isCallFailure(error)) throw refused(rpc, 'eth_estimateGas', error);
  const { name, words } = readRevert(data, message);
  return { name, words: `${words} (tried with ${mostGas} gas)` };
}
