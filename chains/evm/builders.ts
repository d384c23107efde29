// Unsigned calls for the party that each belongs to, who pays its gas.

import type { Secret } from '../../core/hashlock.ts';
import type { Batch, BuiltBatch } from '../interface/batches.ts';
import type { BuildInput, SpendInput } from '../interface/building.ts';
import type { EvmCall, EvmMaterial } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { alreadyFunded, holdsNothing, mayReveal, mustBeWorth } from '../kit/builders.ts';
import { begun, gathering } from '../nodes/gathering.ts';
import { parseEvmAddress } from './address.ts';
import { mustAgree, mustAgreeOnHeads } from './agreement.ts';
import { batchCall } from './batch.ts';
import { evmGasPolicyOf } from './gas-policy.ts';
import { tryBatch } from './gas-work.ts';
import { allowanceOf, gasPrice } from './node.ts';
import { claimCall, deploymentOf, evmEscrow, fundCalls, refundCall } from './plan.ts';
import { stateAt } from './state.ts';
import type { Watch } from './watch.ts';

function material(
  { chain, chainId }: Watch,
  escrow: string,
  txs: readonly EvmCall[],
  from?: string,
): EvmMaterial {
  const by = from === undefined ? {} : { from };
  return { chain, family: 'evm', sign: 'evm-tx', chainId, ...by, txs, escrow };
}

export async function buildFund(
  watch: Watch,
  { escrow: { terms }, allowance }: BuildInput,
  signal: AbortSignal,
): Promise<EvmMaterial> {
  const { rpc } = watch;
  const deployment = deploymentOf(watch, terms);
  const { address } = evmEscrow(terms, deployment);
  const from = parseEvmAddress(terms.refund.address);
  await mustAgreeOnHeads(watch, signal);
  const { token } = terms;
  const together = gathering(rpc, signal);
  const shown = stateAt(together, deployment, terms, 'latest', signal);
  const allowing = begun(
    token === null
      ? Promise.resolve(0n)
      : allowanceOf(together, token, from, deployment.contract, signal),
  );
  const { state } = await shown;
  if (state !== 'never' && state !== 'void') throw alreadyFunded(address);
  const calls = fundCalls(terms, deployment, await allowing, allowance);
  return material(watch, address, calls, from);
}

export async function buildClaim(
  watch: Watch,
  input: SpendInput,
  secret: Secret,
  signal: AbortSignal,
): Promise<EvmMaterial> {
  const { escrow } = input;
  await mayReveal(watch, input, secret, () => mustAgree(watch, escrow, signal));
  const address = await mustHold(watch, escrow, signal);
  return material(watch, address, [claimCall(escrow.terms, watch.deployment, secret)]);
}

export async function buildRefund(
  watch: Watch,
  { escrow }: SpendInput,
  signal: AbortSignal,
): Promise<EvmMaterial> {
  const address = await mustHold(watch, escrow, signal);
  return material(watch, address, [refundCall(escrow.terms, watch.deployment)]);
}

export async function buildBatch(
  watch: Watch,
  batch: Batch,
  from: string,
  signal: AbortSignal,
): Promise<BuiltBatch> {
  const { rpc, deployment } = watch;
  const call = batchCall(batch, deployment);
  const { mostGas } = evmGasPolicyOf(deployment.chainId);
  const trial = { rpc, from, mostGas, offer: null };
  const { settles, gas } = await tryBatch(trial, batch, call, signal);
  return { material: material(watch, call.to, [call]), settles: Number(settles), gas };
}

async function mustHold(
  { chain, rpc, deployment }: Watch,
  { terms }: WatchedEscrow,
  signal: AbortSignal,
): Promise<string> {
  const { address } = evmEscrow(terms, deployment);
  const { state } = await stateAt(rpc, deployment, terms, 'latest', signal);
  if (state === 'open') return address;
  const why = state === 'never' || state === 'void' ? 'never funded' : state;
  throw holdsNothing(chain, address, `holds nothing: ${why}`, { state });
}

const claimGas = 50_000n;

export async function checkAmount(
  { rpc, chain }: Watch,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  // What a token is worth in gas is not known here.
  const least = token === null ? claimGas * (await gasPrice(rpc, signal)) : 0n;
  mustBeWorth(chain, amount, least, 'gas');
}
