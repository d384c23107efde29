// Whether a swap's money could move, by constant calls. java-tron lends no state: a payment is
// tried only from who has the money, so a fee shows only once the token is approved.

import type { EscrowTerms } from '@parley/core/terms.ts';
import { inOwnLane } from '../escrows/trial-lane.ts';
import type { About } from '../interface/building.ts';
import { laneOwner } from '../interface/lanes.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { begun } from '../nodes/gathering.ts';
import { once } from '../nodes/sources.ts';
import { heldBy, holderOf, reasonOf, transferCall, trialOf } from './energy.ts';
import { deploymentOf, fundCalls, mustBeGood } from './plan.ts';
import { allowanceOf, atMoment, isContract, lanesOf, sunOf } from './views.ts';
import type { Watch } from './watch.ts';

/** Throws `payout_would_fail` or `funding_would_fail`, with the reason and the numbers. */
export async function preflight(
  asked: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const watch = atMoment(asked);
  mustBeGood(terms, watch.deployment);
  const { contract } = deploymentOf(watch, terms);
  const { token } = terms;
  // The funder of a funded leg could change its own address to stop a reveal.
  const isFunded = about === 'claim';
  const existing = token === null ? true : begun(isContract(watch.http, token, signal));
  const funding = about === 'funding' ? begun(tryFunding(watch, terms, signal)) : null;
  const holding = begun(isFunded ? Promise.resolve(contract) : holderOf(watch, terms, signal));
  const receivers = isFunded ? [terms.payout] : [terms.payout, terms.refund];
  // Heard with the views above.
  for (const { address } of token === null ? receivers : []) {
    void begun(isContract(watch.http, address, signal));
  }
  if (!(await existing)) {
    throw wouldFail(terms, native, about, null, `there is no contract at ${token}`);
  }
  // All trials leave at once; errors come in this order.
  const paying = receivers.map(({ address: to }) => {
    return { to, refused: begun(refusalOf(watch, terms, { holding, to }, signal)) };
  });
  await funding;
  if ((await holding) === null) {
    once(watch, 'preflight_without_balance', { chain: watch.chain, token });
    return;
  }
  for (const { to, refused } of paying) {
    const reason = await refused;
    if (reason !== null) throw wouldFail(terms, native, 'payout', to, reason);
  }
}

/** Asks ahead for the views of a funding's or a reveal's gates, so that a poll hears them. */
export function askAhead(watch: Watch, terms: EscrowTerms, signal: AbortSignal): void {
  const { http } = watch;
  const { token, refund, payout, lane } = terms;
  const { contract } = deploymentOf(watch, terms);
  void begun(holderOf(watch, terms, signal));
  void begun(sunOf(http, payout.address, signal));
  if (lane !== undefined) {
    const of = { contract, owner: laneOwner(terms) };
    void begun(lanesOf(watch)(of, [lane.number], signal));
  }
  const called = token === null ? [payout.address, refund.address] : [token];
  for (const each of called) void begun(isContract(http, each, signal));
  if (token === null) return;
  void begun(allowanceOf(http, token, refund.address, contract, signal));
}

/** Null: a payment by the holder arrives, or nobody holds as much. */
async function refusalOf(
  watch: Watch,
  terms: EscrowTerms,
  { holding, to }: { readonly holding: Promise<string | null>; readonly to: string },
  signal: AbortSignal,
): Promise<string | null> {
  const from = await holding;
  const { token, amount } = terms;
  // Coins arrive at whatever is no contract.
  if (from === null || (token === null && !(await isContract(watch.http, to, signal)))) return null;
  const call =
    token === null ? { from, to, data: '', value: amount } : transferCall(token, from, to, amount);
  return reasonOf(await trialOf(watch, call, signal));
}

async function tryFunding(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<void> {
  const { http, chain } = watch;
  const deployment = deploymentOf(watch, terms);
  const { token, amount, refund } = terms;
  const funder = refund.address;
  const holding = begun(heldBy(watch, terms, funder, signal));
  const allowing = begun(
    token === null
      ? Promise.resolve(0n)
      : allowanceOf(http, token, funder, deployment.contract, signal),
  );
  const held = await holding;
  if (held < amount) {
    watch.log('funder_short', { chain, funder, token, held, amount });
    return;
  }
  const calls = fundCalls(inOwnLane(terms, deployment.contract), deployment, await allowing);
  const trials =
    token === null || calls.length === 1
      ? calls
      : [...calls.slice(0, 1), transferCall(token, funder, deployment.contract, amount)];
  for (const trial of trials.map((call) => begun(trialOf(watch, call, signal)))) {
    const reason = reasonOf(await trial);
    if (reason !== null) throw wouldFail(terms, native, 'funding', null, reason);
  }
}

const native = 'TRX (sun)';
