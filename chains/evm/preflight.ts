// Whether a swap's money could move, tried before anybody commits any: an escrow with the same
// payout, token and amount but a hashlock of ours is funded and claimed inside one eth_call, by
// the real contracts and the real token. The true secret is not needed, and nothing is sent.

import { encodeFunctionData, type Hex } from 'viem';
import { erc20Abi } from '../../contracts/evm/artifacts/abi.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { About } from '../adapter.ts';
import { begun, gathering } from '../gathering.ts';
import type { EvmCall } from '../material.ts';
import { once } from '../sources.ts';
import { wouldFail } from '../would-fail.ts';
import { allowanceOf, balanceAt, codeAt, headBlock } from './node.ts';
import { claimCall, evmEscrow, fundCalls } from './plan.ts';
import {
  type Failure,
  lendBalance,
  lends,
  type Overrides,
  stranger,
  tryCall,
  tryCalls,
} from './simulate.ts';
import type { Watch } from './watch.ts';

const trialSecret = '00'.repeat(31).concat('01');
const trialTimelockSeconds = 7_200;

/** Who pays in a trial, and what it is lent for that. */
type Purse = { readonly from: string; readonly lent: Overrides };

/** Throws `payout_would_fail` or `funding_would_fail`, with the reason and the numbers. */
export async function preflight(
  asked: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const watch: Watch = { ...asked, rpc: gathering(asked.rpc, signal) };
  evmEscrow(terms, watch.deployment);
  const { token } = terms;
  // In one exchange, as the trials are below.
  const head = begun(headBlock(watch.rpc, signal));
  const funder = about === 'funding' ? begun(funderOf(watch, terms, signal)) : null;
  const lending = token === null ? begun(lends(watch.rpc, signal)) : null;
  const lent = await lentTo(watch, terms, signal);
  // A balance that it shows only because it was lent says both that there is a token and a node
  // that lends.
  if (token === null || lent === null) {
    if (token !== null && (await codeAt(watch.rpc, token, 'latest', signal)) === '0x') {
      throw wouldFail(terms, native, about, null, `there is no contract at ${token}`);
    }
    if (!(await (lending ?? lends(watch.rpc, signal)))) {
      once(watch, 'preflight_without_overrides', { chain: watch.chain });
      return plainTrial(watch, terms, about, signal);
    }
  }
  const funding = await funder;
  const purse = await purseOf(watch, terms, about, lent, signal);
  const { timestamp } = await head;
  const receivers = purse === null ? [] : receiversOf(terms, about);
  const trials = [
    ...(funding === null ? [] : [tryFunding(watch, terms, funding, signal)]),
    ...receivers.map(({ address }) =>
      tryPayout(watch, terms, about, address, purse as Purse, timestamp, signal),
    ),
  ];
  for (const trial of await Promise.allSettled(trials)) {
    if (trial.status === 'rejected') throw trial.reason;
  }
  if (purse !== null) return;
  watch.log('preflight_without_balance', { chain: watch.chain, token });
  return plainTrial(watch, terms, about, signal);
}

/** Once a leg is funded, its funder could change its own address to stop a reveal. */
function receiversOf({ payout, refund }: EscrowTerms, about: About) {
  return about === 'claim' ? [payout] : [payout, refund];
}

/** What gives a stranger the amount; null where the token's balances cannot be lent. */
async function lentTo(
  { rpc, slots }: Watch,
  { token, amount }: EscrowTerms,
  signal: AbortSignal,
): Promise<Overrides | null> {
  if (token === null) return { [stranger]: { balance: `0x${amount.toString(16)}` } };
  return lendBalance(rpc, token, stranger, amount, signal, slots);
}

async function purseOf(
  watch: Watch,
  { token, amount, refund }: EscrowTerms,
  about: About,
  lent: Overrides | null,
  signal: AbortSignal,
): Promise<Purse | null> {
  if (lent !== null) return { from: stranger, lent };
  if (about === 'claim') return null;
  const held = await balanceAt(watch.rpc, token, refund.address, 'latest', signal);
  return held >= amount ? { from: refund.address, lent: {} } : null;
}

/** Funds and claims a trial escrow that pays `to`. */
async function tryPayout(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  to: string,
  purse: Purse,
  timestamp: number,
  signal: AbortSignal,
): Promise<void> {
  const { rpc, deployment } = watch;
  const trial: EscrowTerms = {
    ...terms,
    hashlock: hashlockOf(trialSecret),
    payout: { address: to, pubkey: null },
    refund: { address: purse.from, pubkey: null },
    timelock: timestamp + trialTimelockSeconds,
  };
  const { address: escrow } = evmEscrow(trial, deployment);
  const allowance =
    terms.token === null || purse.from === stranger
      ? 0n
      : await allowanceOf(rpc, terms.token, purse.from, deployment.factory, signal);
  const funding = fundCalls(trial, deployment, allowance);
  const calls = [...funding, claimCall(trial, deployment, trialSecret)];
  const failure = await tryCalls(rpc, purse.from, calls, purse.lent, signal);
  if (failure === null) return;
  const claiming = failure.index === funding.length;
  const reason = await innerReason(watch, terms, claiming ? to : escrow, purse, failure, signal);
  throw wouldFail(terms, native, claiming ? 'payout' : about, claiming ? to : null, reason);
}

/** Our contracts keep no answer of a token or a receiver: the bare transfer is asked for it. */
async function innerReason(
  watch: Watch,
  { token, amount }: EscrowTerms,
  to: string,
  purse: Purse,
  failure: Failure,
  signal: AbortSignal,
): Promise<string> {
  if (failure.name !== 'TokenCallFailed' && failure.name !== 'PaymentRejected') {
    return failure.words;
  }
  const bare = transfer(token, to, amount);
  const inner = await tryCalls(watch.rpc, purse.from, [bare], purse.lent, signal);
  return inner === null ? failure.words : `${failure.words}: ${inner.words}`;
}

function transfer(token: string | null, to: string, amount: bigint): EvmCall {
  if (token === null) return { to, data: '0x', value: `0x${amount.toString(16)}` };
  const args = [to as Hex, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { to: token, data, value: '0x0' };
}

/** What the funder has, and lets the factory take of it. */
type Funder = { readonly held: bigint; readonly allowance: bigint };

async function funderOf(
  { rpc, deployment }: Watch,
  { token, refund: { address } }: EscrowTerms,
  signal: AbortSignal,
): Promise<Funder> {
  const [held, allowance] = await Promise.all([
    balanceAt(rpc, token, address, 'latest', signal),
    token === null ? 0n : allowanceOf(rpc, token, address, deployment.factory, signal),
  ]);
  return { held, allowance };
}

/** Funds the true terms as the funder, with the balance lent when it has too little. */
async function tryFunding(
  watch: Watch,
  terms: EscrowTerms,
  { held, allowance }: Funder,
  signal: AbortSignal,
): Promise<void> {
  const { rpc, deployment } = watch;
  const { token, amount, refund } = terms;
  const funder = refund.address;
  let lent: Overrides | null = {};
  if (held < amount) {
    watch.log('funder_short', { chain: watch.chain, funder, token, held, amount });
    lent =
      token === null
        ? { [funder]: { balance: `0x${amount.toString(16)}` } }
        : await lendBalance(rpc, token, funder, amount, signal);
  }
  if (lent === null) return;
  const calls = fundCalls(terms, deployment, allowance);
  const failure = await tryCalls(rpc, funder, calls, lent, signal);
  if (failure === null) return;
  const { address: escrow } = evmEscrow(terms, deployment);
  const reason = await innerReason(watch, terms, escrow, { from: funder, lent }, failure, signal);
  throw wouldFail(terms, native, 'funding', null, reason);
}

/**
 * Without state overrides, or where a token's balances cannot be lent: what the funder, or the
 * funded escrow, could send right now is tried as plain calls; where it has too little, nothing can
 * be tried.
 */
async function plainTrial(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const { rpc, deployment } = watch;
  const { token, amount, refund } = terms;
  const from = about === 'claim' ? evmEscrow(terms, deployment).address : refund.address;
  const held = await balanceAt(rpc, token, from, 'latest', signal);
  if (held < amount) return;
  for (const { address: to } of receiversOf(terms, about)) {
    const failure = await tryCall(rpc, { from, ...transfer(token, to, amount) }, null, signal);
    if (failure !== null) throw wouldFail(terms, native, 'payout', to, failure.words);
  }
  if (about !== 'funding') return;
  const allowance =
    token === null ? 0n : await allowanceOf(rpc, token, from, deployment.factory, signal);
  const calls = fundCalls(terms, deployment, allowance);
  const [fund] = calls;
  if (calls.length > 1 || fund === undefined) return;
  const failure = await tryCall(rpc, { from, ...fund }, null, signal);
  if (failure !== null) throw wouldFail(terms, native, 'funding', null, failure.words);
}

const native = 'the native coin';
