// Unsigned transactions for the party that each belongs to, who burns TRX for its energy.

import { ParleyError } from '@parley/core/errors.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { mostGroupsGas } from '../escrows/calls.ts';
import { mustBeUnfunded } from '../escrows/state.ts';
import type { Batch, BuiltBatch } from '../interface/batches.ts';
import type { BuildInput, SpendInput } from '../interface/building.ts';
import type { TronMaterial } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { batchFails, mayReveal, mustBeFrom, mustBeWorth } from '../kit/builders.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { begun } from '../nodes/gathering.ts';
import { mustBeReleased } from './consent.ts';
import { leastSun } from './costs.ts';
import { feeLimitOf, fundEnergy, heldBy, reasonOf, settleEnergy, trialOf } from './energy.ts';
import { pricesOf } from './node.ts';
import {
  batchCall,
  claimCall,
  deploymentOf,
  fundCalls,
  fundManyCalls,
  mustFit,
  referenceTo,
  refundCall,
  releaseCall,
  type TronCall,
  tronEscrow,
  tronTransaction,
} from './plan.ts';
import { mustAgree, mustAgreeOnHeads, mustStillHold, recordAt } from './read.ts';
import { allowanceOf, energyPrice, newestBlock, solidBlock } from './views.ts';
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
    newestBlock(http, signal),
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
  { escrow: { terms }, laneSignature }: BuildInput,
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
  const calls = fundCalls(terms, deployment, await allowing, laneSignature);
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
  { escrow, release }: SpendInput,
  signal: AbortSignal,
): Promise<TronMaterial> {
  const { terms } = escrow;
  const { deployment } = watch;
  const address = await held(watch, escrow, signal);
  if (release !== undefined) {
    await mustBeReleased(watch, terms, release, signal);
    const call = releaseCall(terms, deployment, release);
    const trial = await trialOf(watch, call, signal);
    const reason = reasonOf(trial);
    if (reason !== null) throw wouldFail(terms, 'TRX (sun)', 'payout', call.from, reason);
    return material(watch, address, [{ call, energy: trial.energy }], signal);
  }
  const energy = await settleEnergy(watch, terms, terms.refund.address, signal);
  const call = refundCall(terms, deployment);
  return material(watch, address, [{ call, energy }], signal);
}

export async function buildBatch(
  watch: Watch,
  batch: Batch,
  from: string,
  signal: AbortSignal,
): Promise<BuiltBatch> {
  if (batch.verb === 'fund') return buildFundings(watch, batch.legs, from, signal);
  const { call, settles, energy } = await tryBatch(watch, batch, from, signal);
  const built = await material(watch, call.to, [{ call, energy }], signal);
  return { material: built, settles: Number(settles), gas: null };
}

/** One call for all of them: the contract takes all or none. */
async function buildFundings(
  watch: Watch,
  legs: readonly { readonly terms: EscrowTerms }[],
  from: string,
  signal: AbortSignal,
): Promise<BuiltBatch> {
  const { chain, http, deployment } = watch;
  await mustAgreeOnHeads(watch, signal);
  const allowed = new Map<string, bigint>();
  const asking = legs.map(async ({ terms }) => {
    const { address } = tronEscrow(terms, deployment);
    const { token } = terms;
    mustBeFrom(terms, from);
    mustBeUnfunded(address, await recordAt(watch, { address, terms }, 'head', signal));
    if (token === null || allowed.has(token)) return;
    allowed.set(token, 0n);
    const { contract } = deploymentOf(watch, terms);
    allowed.set(token, await allowanceOf(http, token, from, contract, signal));
  });
  await Promise.all(asking);
  const calls = fundManyCalls(legs, deployment, allowed, from);
  const parts: Part[] = [];
  for (const call of calls) {
    // Before its approvals a funding cannot be tried.
    const isTried = calls.length === 1 || call !== calls.at(-1);
    const trial = isTried ? await trialOf(watch, call, signal) : null;
    const reason = trial === null ? null : reasonOf(trial);
    if (reason !== null) throw batchFails(chain, { verb: 'fund', legs }, reason);
    parts.push({ call, energy: trial?.energy ?? (await allEnergy(watch, legs, signal)) });
  }
  const whole = await material(watch, calls.at(-1)?.to ?? '', parts, signal);
  return { material: whole, settles: legs.length, gas: null };
}

async function allEnergy(
  watch: Watch,
  legs: readonly { readonly terms: EscrowTerms }[],
  signal: AbortSignal,
): Promise<bigint> {
  const each = await Promise.all(legs.map(({ terms }) => fundEnergy(watch, terms, signal)));
  return each.reduce((sum, energy) => sum + energy, 0n);
}

type Settling = Exclude<Batch, { readonly verb: 'fund' }>;

async function tryBatch(watch: Watch, batch: Settling, from: string, signal: AbortSignal) {
  const call = batchCall(batch, watch.deployment, from);
  const trial = await trialOf(watch, call, signal);
  const reason = reasonOf(trial);
  if (reason !== null) throw batchFails(watch.chain, batch, reason);
  const { output, energy } = trial;
  const settles = /^[0-9a-f]{64}$/i.test(output) ? BigInt(`0x${output}`) : 0n;
  // A receiver may make its group take all that it may, and others still find theirs.
  return { call, settles, energy: energy + mostGroupsGas(batch) };
}

async function held(watch: Watch, { terms }: WatchedEscrow, signal: AbortSignal) {
  const { address } = tronEscrow(terms, watch.deployment);
  await mustStillHold(watch, { address, terms }, signal);
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
