// Whether a swap's money could move, tried before anybody commits any: an escrow with the same
// payout, token and amount but a hashlock of ours is funded and claimed inside one eth_call, by
// the real contracts and the real token. The true secret is not needed, and nothing is sent.

import { encodeFunctionData, type Hex } from 'viem';
import { erc20Abi } from '../../contracts/evm/artifacts/abi.ts';
import { ParleyError } from '../../core/errors.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { EvmCall } from '../material.ts';
import { sameAddress } from './address.ts';
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
import { once, type Watch } from './watch.ts';

export type About = 'payout' | 'funding';

const trialSecret = '00'.repeat(31).concat('01');
const trialTimelockSeconds = 7_200;

/** Who pays in a trial, and what it is lent for that. */
type Purse = { readonly from: string; readonly lent: Overrides };

/** Throws `payout_would_fail` or `funding_would_fail`, with the reason and the numbers. */
export async function preflight(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  evmEscrow(terms, watch.deployment);
  const { token } = terms;
  if (token !== null && (await codeAt(watch.rpc, token, 'latest', signal)) === '0x') {
    throw fails(watch, terms, about, null, `there is no contract at ${token}`);
  }
  if (!(await lends(watch.rpc, signal))) {
    once(watch, 'preflight_without_overrides', { chain: watch.chain });
    return plainTrial(watch, terms, about, signal);
  }
  if (about === 'funding') await tryFunding(watch, terms, signal);
  const purse = await purseOf(watch, terms, signal);
  if (purse === null) {
    watch.log('preflight_without_balance', { chain: watch.chain, token });
    return plainTrial(watch, terms, about, signal);
  }
  const { timestamp } = await headBlock(watch.rpc, signal);
  for (const { address } of [terms.payout, terms.refund]) {
    await tryPayout(watch, terms, about, address, purse, timestamp, signal);
  }
}

async function purseOf(
  watch: Watch,
  { token, amount, refund }: EscrowTerms,
  signal: AbortSignal,
): Promise<Purse | null> {
  if (token === null) {
    return { from: stranger, lent: { [stranger]: { balance: `0x${amount.toString(16)}` } } };
  }
  const lent = await lendBalance(watch.rpc, token, stranger, amount, signal);
  if (lent !== null) return { from: stranger, lent };
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
  throw fails(watch, terms, claiming ? 'payout' : about, claiming ? to : null, reason);
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

/** Funds the true terms as the funder, with the balance lent when it has too little. */
async function tryFunding(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<void> {
  const { rpc, deployment } = watch;
  const { token, amount, refund } = terms;
  const funder = refund.address;
  const held = await balanceAt(rpc, token, funder, 'latest', signal);
  const allowance =
    token === null ? 0n : await allowanceOf(rpc, token, funder, deployment.factory, signal);
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
  throw fails(watch, terms, 'funding', null, reason);
}

/**
 * Without state overrides, or where a token's balances cannot be lent: what the funder could send
 * right now is tried as plain calls; where it has too little, nothing can be tried.
 */
async function plainTrial(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const { rpc, deployment } = watch;
  const { token, amount, payout, refund } = terms;
  const from = refund.address;
  const held = await balanceAt(rpc, token, from, 'latest', signal);
  if (held < amount) return;
  for (const { address: to } of [payout, refund]) {
    const failure = await tryCall(rpc, { from, ...transfer(token, to, amount) }, null, signal);
    if (failure !== null) throw fails(watch, terms, 'payout', to, failure.words);
  }
  if (about === 'payout') return;
  const allowance =
    token === null ? 0n : await allowanceOf(rpc, token, from, deployment.factory, signal);
  const calls = fundCalls(terms, deployment, allowance);
  const [fund] = calls;
  if (calls.length > 1 || fund === undefined) return;
  const failure = await tryCall(rpc, { from, ...fund }, null, signal);
  if (failure !== null) throw fails(watch, terms, 'funding', null, failure.words);
}

function fails(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  to: string | null,
  reason: string,
): ParleyError {
  const { token, amount, payout } = terms;
  const what = `${amount} of ${token === null ? 'the native coin' : `token ${token}`}`;
  const facts = { chain: watch.chain, token, amount, to };
  if (about === 'funding') {
    const sentence = `funding with ${what} on ${watch.chain} would fail: ${reason}`;
    return new ParleyError('funding_would_fail', sentence, facts);
  }
  const which = to === null ? null : sameAddress(to, payout.address) ? 'payout' : 'refund';
  const where = which === null ? 'through an escrow' : `to the ${which} address ${to}`;
  const sentence = `a payment of ${what} on ${watch.chain} ${where} would fail: ${reason}`;
  return new ParleyError('payout_would_fail', sentence, facts);
}
