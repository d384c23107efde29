// Whether a swap's money could move, tried before anybody commits any, by constant calls: nothing
// is sent and no secret is needed. java-tron lends no state, so a payment can be tried only from
// somebody who has the money: the contract itself, which will make it, or the funder. So a token
// that takes a fee shows only once it is approved.

import type { EscrowTerms } from '../../core/terms.ts';
import type { About } from '../adapter.ts';
import { once } from '../sources.ts';
import { wouldFail } from '../would-fail.ts';
import { heldBy, holderOf, transferCall, trialOf } from './energy.ts';
import { allowanceOf, codeAt } from './node.ts';
import { deploymentOf, fundCalls, mustBeGood } from './plan.ts';
import { reasonOf } from './reverts.ts';
import type { TronCall } from './transaction.ts';
import type { Watch } from './watch.ts';

/** Throws `payout_would_fail` or `funding_would_fail`, with the reason and the numbers. */
export async function preflight(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  mustBeGood(terms, watch.deployment);
  const { contract } = deploymentOf(watch, terms);
  const { token } = terms;
  if (token !== null && (await codeAt(watch.http, token, signal)) === null) {
    throw wouldFail(terms, native, about, null, `there is no contract at ${token}`);
  }
  if (about === 'funding') await tryFunding(watch, terms, signal);
  // The funder of a funded leg could change its own address to stop a reveal.
  const isFunded = about === 'claim';
  const from = isFunded ? contract : await holderOf(watch, terms, signal);
  if (from === null) {
    once(watch, 'preflight_without_balance', { chain: watch.chain, token });
    return;
  }
  const receivers = isFunded ? [terms.payout] : [terms.payout, terms.refund];
  for (const { address: to } of receivers) {
    const call = await paymentTo(watch, terms, from, to, signal);
    const reason = call === null ? null : reasonOf(await trialOf(watch, call, signal));
    if (reason !== null) throw wouldFail(terms, native, 'payout', to, reason);
  }
}

/** The bare payment; null where nothing can go wrong: TRX to an address without code. */
async function paymentTo(
  watch: Watch,
  { token, amount }: EscrowTerms,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<TronCall | null> {
  if (token !== null) return transferCall(token, from, to, amount);
  const code = await codeAt(watch.http, to, signal);
  return code === null ? null : { from, to, data: '', value: amount };
}

/** Funds the true terms as the funder; before the approval, moves the token as a funding will. */
async function tryFunding(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<void> {
  const { http, chain } = watch;
  const deployment = deploymentOf(watch, terms);
  const { token, amount, refund } = terms;
  const funder = refund.address;
  const held = await heldBy(watch, terms, funder, signal);
  if (held < amount) {
    watch.log('funder_short', { chain, funder, token, held, amount });
    return;
  }
  const allowance =
    token === null ? 0n : await allowanceOf(http, token, funder, deployment.contract, signal);
  const calls = fundCalls(terms, deployment, allowance);
  const trials =
    token === null || calls.length === 1
      ? calls
      : [...calls.slice(0, 1), transferCall(token, funder, deployment.contract, amount)];
  for (const call of trials) {
    const reason = reasonOf(await trialOf(watch, call, signal));
    if (reason !== null) throw wouldFail(terms, native, 'funding', null, reason);
  }
}

const native = 'TRX (sun)';
