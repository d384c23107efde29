// Unsigned transactions for the party that each belongs to, who burns TRX for its energy.

import { ParleyError } from '@parley/core/errors.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { mustBeUnfunded, mustHold } from '../escrows/state.ts';
import type { Batch, BuiltBatch } from '../interface/batches.ts';
import type { BuildInput, SpendInput } from '../interface/building.ts';
import type { TronMaterial } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { batchFails, mayReveal, mustBeWorth } from '../kit/builders.ts';
import { begun } from '../nodes/gathering.ts';
import { leastSun } from './costs.ts';
import { feeLimitOf, fundEnergy, heldBy, reasonOf, settleEnergy, trialOf } from './energy.ts';
import { headBlock, pricesOf } from './node.ts';
import {
  batchCall,
  claimCall,
  deploymentOf,
  fundCalls,
  mustFit,
  referenceTo,
  refundCall,
  type TronCall,
  tronEscrow,
  tronTransaction,
} from './plan.ts';
import { mustAgree, mustAgreeOnHeads, recordAt } from './read.ts';
import { allowanceOf, energyPrice, solidBlock } from './views.ts';
import type { Watch } from './watch.ts';

type Part = { readonly call: TronCall; readonly energy: bigint };

/** Good for as long as a party may take to sign, counted by the chain's own clock. */
async function material(
  { chain, http, signSeconds }: Watch,
  escrow: string,
  parts: readonly Part[],
  signal: AbortSignal,
): Promise<TronMaterial> {
  const [energySun, head, solid] = await Promise.all([
    energyPrice(http, signal),
    headBlock(http, 'head', signal),
    solidBlock(http, signal),
  ]);
  // A solid block is never taken back: no reorganisation makes the transaction void.
  const reference = referenceTo(solid);
  const { timestampMs: timestamp } = head;
  const expiration = timestamp + signSeconds * 1_000;
  const transactions = parts.map(({ call, energy }) => {
    const feeLimitSun = feeLimitOf(energy, { energySun });
    return tronTransaction(call, { ...reference, expiration, timestamp, feeLimitSun });
  });
  const from = parts[0]?.call.from ?? '';
  return { chain, family: 'tron', sign: 'tron-txid', from, transactions, escrow };
}

export async function buildFund(
  watch: Watch,
  { escrow: { terms } }: BuildInput,
  signal: AbortSignal,
): Promise<TronMaterial> {
  const { http } = watch;
  const deployment = deploymentOf(watch, terms);
  const { contract } = deployment;
  const { address } = tronEscrow(terms, deployment);
  await mustAgreeOnHeads(watch, signal);
  const { token, refund } = terms;
  const holding = begun(heldBy(watch, terms, refund.address, signal));
  const allowing = begun(
    token === null
      ? Promise.resolve(0n)
      : allowanceOf(http, token, refund.address, contract, signal),
  );
  mustBeUnfunded(address, await recordAt(watch, { address, terms }, 'head', signal));
  const calls = fundCalls(terms, deployment, await allowing);
  const held = await holding;
  const parts: Part[] = [];
  for (const call of calls) {
    // Before its approval a funding cannot be tried, nor before its money is there.
    const untried = call.to === contract && (calls.length > 1 || held < terms.amount);
    const energy = untried
      ? await fundEnergy(watch, terms, signal)
      : await triedEnergy(watch, terms, call, signal);
    parts.push({ call, energy });
  }
  return material(watch, address, parts, signal);
}

export async function buildClaim(
  watch: Watch,
  input: SpendInput,
  secret: Secret,
  signal: AbortSignal,
): Promise<TronMaterial> {
  const { escrow } = input;
  const { terms } = escrow;
  await mayReveal(watch, input, secret, () => mustAgree(watch, escrow, signal));
  const address = await held(watch, escrow, signal);
  const energy = await settleEnergy(watch, terms, terms.payout.address, signal);
  const call = claimCall(terms, watch.deployment, secret);
  return material(watch, address, [{ call, energy }], signal);
}

export async function buildRefund(
  watch: Watch,
  { escrow }: SpendInput,
  signal: AbortSignal,
): Promise<TronMaterial> {
  const { terms } = escrow;
  const address = await held(watch, escrow, signal);
  const energy = await settleEnergy(watch, terms, terms.refund.address, signal);
  const call = refundCall(terms, watch.deployment);
  return material(watch, address, [{ call, energy }], signal);
}

export async function buildBatch(
  watch: Watch,
  batch: Batch,
  from: string,
  signal: AbortSignal,
): Promise<BuiltBatch> {
  const { call, settles, energy } = await tryBatch(watch, batch, from, signal);
  const built = await material(watch, call.to, [{ call, energy }], signal);
  return { material: built, settles: Number(settles), gas: null };
}

async function tryBatch(watch: Watch, batch: Batch, from: string, signal: AbortSignal) {
  const call = batchCall(batch, watch.deployment, from);
  const trial = await trialOf(watch, call, signal);
  const reason = reasonOf(trial);
  if (reason !== null) throw batchFails(watch.chain, batch, reason);
  const { output, energy } = trial;
  const settles = /^[0-9a-f]{64}$/i.test(output) ? BigInt(`0x${output}`) : 0n;
  return { call, settles, energy };
}

async function held(watch: Watch, { terms }: WatchedEscrow, signal: AbortSignal) {
  const { address } = tronEscrow(terms, watch.deployment);
  const record = await recordAt(watch, { address, terms }, 'head', signal);
  mustHold(watch.chain, address, record, 'status');
  return address;
}

async function triedEnergy(
  watch: Watch,
  { token, amount }: EscrowTerms,
  call: TronCall,
  signal: AbortSignal,
): Promise<bigint> {
  const trial = await trialOf(watch, call, signal);
  const reason = reasonOf(trial);
  if (reason === null) return trial.energy;
  throw new ParleyError(
    'funding_would_fail',
    `funding ${amount} on ${watch.chain} would fail: ${reason}`,
    { chain: watch.chain, token, amount },
  );
}

export async function checkAmount(
  { http, chain }: Watch,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  mustFit(token, amount);
  // The worth of a token in energy is not known here.
  const least = token === null ? leastSun(await pricesOf(http, signal)) : 1n;
  mustBeWorth(chain, amount, least, 'energy');
}
