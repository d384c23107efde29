// Unsigned calls for the party that each belongs to, who pays its gas.

import { hashlockOf, type Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { mostGroupsGas } from '../escrows/calls.ts';
import { mustBeUnfunded, mustHold } from '../escrows/state.ts';
import { inOwnLane, unusedLane } from '../escrows/trial-lane.ts';
import type { Batch, BuiltBatch } from '../interface/batches.ts';
import type { About, BuildInput, SpendInput } from '../interface/building.ts';
import type { EvmCall, EvmMaterial } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { batchFails, mayReveal, mustBeFrom, mustBeWorth } from '../kit/builders.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { begun, gathering } from '../nodes/gathering.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { parseEvmAddress } from './address.ts';
import { mustBeReleased } from './consent.ts';
import { leastWei } from './fees.ts';
import { evmTransactionGas } from './gas-policy.ts';
import { estimate, notOpen, tryBatch, unseenClaim } from './gas-work.ts';
import { allowanceOf, type Block, balanceAt, codeAt, gasPrice, headBlock } from './node.ts';
import {
  batchCall,
  claimCall,
  deploymentOf,
  evmEscrow,
  fundCalls,
  fundManyCalls,
  mustBeGood,
  refundCall,
  releaseCall,
} from './plan.ts';
import { mustAgree, mustAgreeOnHeads } from './read.ts';
import {
  type Failure,
  lendBalance,
  mustLend,
  type Overrides,
  stranger,
  tryCall,
  tryCalls,
  unlent,
} from './simulate.ts';
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
  { escrow: { terms }, ...wishes }: BuildInput,
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
  mustBeUnfunded(address, await shown);
  const calls = fundCalls(terms, deployment, await allowing, wishes);
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
  const address = await held(watch, escrow, signal);
  return material(watch, address, [claimCall(escrow.terms, watch.deployment, secret)]);
}

export async function buildRefund(
  watch: Watch,
  { escrow, release }: SpendInput,
  signal: AbortSignal,
): Promise<EvmMaterial> {
  const { terms } = escrow;
  const { deployment } = watch;
  const address = await held(watch, escrow, signal);
  if (release === undefined) return material(watch, address, [refundCall(terms, deployment)]);
  await mustBeReleased(watch, terms, release, signal);
  return material(watch, address, [releaseCall(terms, deployment, release)]);
}

export async function buildBatch(
  watch: Watch,
  batch: Batch,
  from: string,
  signal: AbortSignal,
): Promise<BuiltBatch> {
  const { rpc, deployment } = watch;
  if (batch.verb === 'fund') return buildFundings(watch, batch.legs, from, signal);
  const call = batchCall(batch, deployment);
  const trial = { rpc, from, mostGas: evmTransactionGas, offer: null };
  const { settles, gas } = await tryBatch(trial, batch, call, signal);
  // A receiver may make its group take all that it may, and others still find theirs.
  const most = gas + mostGroupsGas(batch);
  return { material: material(watch, call.to, [call]), settles: Number(settles), gas: most };
}

/** One call for all of them: the contract takes all or none. */
async function buildFundings(
  watch: Watch,
  legs: readonly { readonly terms: EscrowTerms }[],
  from: string,
  signal: AbortSignal,
): Promise<BuiltBatch> {
  const { chain, rpc, deployment } = watch;
  await mustAgreeOnHeads(watch, signal);
  const together = gathering(rpc, signal);
  const allowed = new Map<string, bigint>();
  const asking = legs.map(async ({ terms }) => {
    const { token } = terms;
    const { contract } = deploymentOf(watch, terms);
    mustBeFrom(terms, from);
    mustBeUnfunded(
      evmEscrow(terms, deployment).address,
      await stateAt(together, deployment, terms, 'latest', signal),
    );
    if (token === null || allowed.has(token)) return;
    allowed.set(token, 0n);
    allowed.set(token, await allowanceOf(together, token, from, contract, signal));
  });
  await Promise.all(asking);
  const calls = fundManyCalls(legs, deployment, allowed);
  const last = calls.at(-1) as EvmCall;
  const whole = material(watch, last.to, calls, parseEvmAddress(from));
  // Before its approvals a funding cannot be tried.
  if (calls.length > 1) return { material: whole, settles: legs.length, gas: null };
  const failure = await tryCall(rpc, { from, ...last }, null, signal);
  if (failure !== null) throw batchFails(chain, { verb: 'fund', legs }, failure.words);
  const trial = { rpc, from, mostGas: evmTransactionGas, offer: null };
  return { material: whole, settles: legs.length, gas: await estimate(trial, last, null, signal) };
}

async function held(
  { chain, rpc, deployment }: Watch,
  { terms }: WatchedEscrow,
  signal: AbortSignal,
): Promise<string> {
  const { address } = evmEscrow(terms, deployment);
  mustHold(chain, address, await stateAt(rpc, deployment, terms, 'latest', signal));
  return address;
}

export async function checkAmount(
  { rpc, chain }: Watch,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  // The worth of a token in gas is not known here.
  const least = token === null ? leastWei(await gasPrice(rpc, signal)) : 1n;
  mustBeWorth(chain, amount, least, 'gas');
}

export const trialSecret = '00'.repeat(31).concat('01');
/** Ahead of the best block's time. */
const trialFundSeconds = 3_600;
const trialTimelockSeconds = 7_200;

type Payer = { readonly from: string; readonly lent: Overrides };

type Trial = { readonly from: string; readonly to: string; readonly timestamp: number };

/** An escrow that nobody has, paid by `from` and paying `to`. */
export function trialEscrow(
  terms: Pick<EscrowTerms, 'chain' | 'token' | 'amount'>,
  contract: string,
  { from, to, timestamp }: Trial,
): EscrowTerms {
  return {
    ...terms,
    hashlock: hashlockOf(trialSecret),
    payout: { address: to, pubkey: null },
    refund: { address: from, pubkey: null },
    timelock: timestamp + trialTimelockSeconds,
    fundBefore: timestamp + trialFundSeconds,
    lane: unusedLane(contract),
  };
}

export async function preflight(
  asked: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const watch: Watch = { ...asked, rpc: gathering(asked.rpc, signal) };
  mustBeGood(terms, watch.deployment);
  if (about === 'claim') return tryClaim(watch, terms, signal);
  const { token } = terms;
  const head = begun(headBlock(watch.rpc, signal));
  const funding = about === 'funding' ? begun(tryFunding(watch, terms, signal)) : null;
  const pay = (payer: Payer) =>
    [terms.payout, terms.refund].map(({ address: to }) =>
      begun(tryPayout(watch, terms, { about, to, payer, head }, signal)),
    );
  const lent = await whileLent(watch, terms, pay, signal);
  if (token !== null && lent === null) {
    if ((await codeAt(watch.rpc, token, 'latest', signal)) === '0x') {
      throw wouldFail(terms, native, about, null, `there is no contract at ${token}`);
    }
  }
  await funding;
  const paying =
    lent ??
    ((await isHeld(watch, terms, signal)) ? pay({ from: terms.refund.address, lent: {} }) : null);
  for (const trial of paying ?? []) await trial;
  if (paying === null) watch.log('preflight_without_balance', { chain: watch.chain, token });
}

/** The claim as it will be made, of another hashlock: by anybody, from what the contract holds. */
async function tryClaim(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<void> {
  const { rpc } = watch;
  const deployment = deploymentOf(watch, terms);
  // Side by side, so that both leave in two exchanges.
  const arriving = begun(mustArriveWhole(watch, terms, signal));
  const { call, overrides } = unseenClaim(deployment, terms);
  const { to, data } = call;
  const failure = await tryCall(rpc, { from: stranger, to, data }, overrides, signal);
  if (failure === null) return arriving;
  if (failure.name === notOpen) throw unlent(rpc);
  const { address } = terms.payout;
  const pool: Payer = { from: deployment.contract, lent: {} };
  const reason = await innerReason(watch, terms, address, pool, failure, signal);
  throw wouldFail(terms, native, 'payout', address, reason);
}

/** A claim does not see that a token's fee lets it arrive short: a funding would. */
async function mustArriveWhole(watch: Watch, terms: EscrowTerms, signal: AbortSignal) {
  if (terms.token === null) return;
  const head = begun(headBlock(watch.rpc, signal));
  const { address: to } = terms.payout;
  const pay = (payer: Payer) => [
    begun(tryPayout(watch, terms, { about: 'claim', to, payer, head }, signal)),
  ];
  for (const trial of (await whileLent(watch, terms, pay, signal)) ?? []) await trial;
}

/**
 * Trials of a stranger who is lent the amount; null where the token's balances cannot be lent. They
 * begin beside the check that the likeliest place is where to lend: where it is not, anew.
 */
async function whileLent<Trials>(
  { rpc }: Watch,
  { token, amount }: EscrowTerms,
  pay: (payer: Payer) => Trials,
  signal: AbortSignal,
): Promise<Trials | null> {
  const early = new Map<Overrides, Trials>();
  const hope = (lent: Overrides) => void early.set(lent, pay({ from: stranger, lent }));
  const lent = await lentFor(rpc, token, { holder: stranger, amount }, signal, hope);
  if (lent === null) return null;
  return early.get(lent) ?? pay({ from: stranger, lent });
}

type Holding = { readonly holder: string; readonly amount: bigint };

async function lentFor(
  rpc: Rpc,
  token: string | null,
  { holder, amount }: Holding,
  signal: AbortSignal,
  hope?: (lent: Overrides) => void,
): Promise<Overrides | null> {
  if (token === null) return { [holder]: { balance: `0x${amount.toString(16)}` } };
  const lent = await lendBalance(rpc, token, holder, amount, signal, hope);
  // Else a node that lends nothing would have it tried without a balance, or not at all.
  if (lent === null) await mustLend(rpc, signal);
  return lent;
}

async function isHeld(
  { rpc }: Watch,
  { token, amount, refund }: EscrowTerms,
  signal: AbortSignal,
): Promise<boolean> {
  return (await balanceAt(rpc, token, refund.address, 'latest', signal)) >= amount;
}

type Paying = {
  readonly about: About;
  readonly to: string;
  readonly payer: Payer;
  readonly head: Promise<Block>;
};

async function tryPayout(
  watch: Watch,
  terms: EscrowTerms,
  { about, to, payer, head }: Paying,
  signal: AbortSignal,
): Promise<void> {
  const { rpc } = watch;
  const deployment = deploymentOf(watch, terms);
  const { from } = payer;
  const { timestamp } = await head;
  const trial = trialEscrow(terms, deployment.contract, { from, to, timestamp });
  const allowance =
    terms.token === null || from === stranger
      ? 0n
      : await allowanceOf(rpc, terms.token, from, deployment.contract, signal);
  const funding = fundCalls(trial, deployment, allowance);
  const calls = [...funding, claimCall(trial, deployment, trialSecret)];
  const failure = await tryCalls(rpc, from, calls, payer.lent, signal);
  if (failure === null) return;
  const claiming = failure.index === funding.length;
  const paid = claiming ? to : deployment.contract;
  const reason = await innerReason(watch, terms, paid, payer, failure, signal);
  throw wouldFail(terms, native, claiming ? 'payout' : about, claiming ? to : null, reason);
}

/** The contract keeps no answer of a token or a receiver: the bare transfer is asked for it. */
export async function innerReason(
  watch: Watch,
  { token, amount }: Pick<EscrowTerms, 'token' | 'amount'>,
  to: string,
  payer: Payer,
  failure: Failure,
  signal: AbortSignal,
): Promise<string> {
  if (failure.name !== 'TokenCallFailed' && failure.name !== 'PaymentRejected') {
    return failure.words;
  }
  const bare = transferCall(token, to, amount);
  const { from, lent } = payer;
  const inner = await tryCall(watch.rpc, { from, ...bare }, lent, signal);
  return inner === null ? failure.words : `${failure.words}: ${inner.words}`;
}

export function transferCall(token: string | null, to: string, amount: bigint): EvmCall {
  if (token === null) return { to, data: '0x', value: `0x${amount.toString(16)}` };
  const args = [to as Hex, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { to: token, data, value: '0x0' };
}

type Funder = { readonly held: bigint; readonly allowance: bigint };

async function funderOf(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<Funder> {
  const { rpc } = watch;
  const { token, refund } = terms;
  const { address } = refund;
  const { contract } = deploymentOf(watch, terms);
  const [held, allowance] = await Promise.all([
    balanceAt(rpc, token, address, 'latest', signal),
    token === null ? 0n : allowanceOf(rpc, token, address, contract, signal),
  ]);
  return { held, allowance };
}

async function tryFunding(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<void> {
  const { rpc } = watch;
  const { held, allowance } = await funderOf(watch, terms, signal);
  const deployment = deploymentOf(watch, terms);
  const { token, amount, refund } = terms;
  const funder = refund.address;
  let lent: Overrides | null = {};
  if (held < amount) {
    watch.log('funder_short', { chain: watch.chain, funder, token, held, amount });
    lent = await lentFor(rpc, token, { holder: funder, amount }, signal);
  }
  if (lent === null) return;
  const calls = fundCalls(inOwnLane(terms, deployment.contract), deployment, allowance);
  const failure = await tryCalls(rpc, funder, calls, lent, signal);
  if (failure === null) return;
  const payer: Payer = { from: funder, lent };
  const to = deployment.contract;
  const reason = await innerReason(watch, terms, to, payer, failure, signal);
  throw wouldFail(terms, native, 'funding', null, reason);
}

const native = 'the native coin';
