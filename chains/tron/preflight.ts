// Whether a swap's money could move, tried before anybody commits any, by constant calls: nothing
// is sent and no secret is needed. java-tron lends no state, so a payment can be tried only from
// somebody who has the money: the contract itself, which will make it, or the funder. So a token
// that takes a fee shows only once it is approved.

import type { EscrowTerms } from '../../core/terms.ts';
import type { About, Owed, Warning } from '../adapter.ts';
import { owedWords } from '../owed.ts';
import { once } from '../sources.ts';
import { wouldFail } from '../would-fail.ts';
import {
  heldBy,
  holderOf,
  settleEnergy,
  transactionBytes,
  transferCall,
  trialOf,
  wholeFunding,
  withMargin,
} from './energy.ts';
import { type Account, accountOf, allowanceOf, codeAt, pricesOf, resourcesOf } from './node.ts';
import { fundCalls, mustBeGood } from './plan.ts';
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
  const { token } = terms;
  if (token !== null && (await codeAt(watch.http, token, signal)) === null) {
    throw wouldFail(terms, native, about, null, `there is no contract at ${token}`);
  }
  if (about === 'funding') await tryFunding(watch, terms, signal);
  // The funder of a funded leg could change its own address to stop a reveal.
  const isFunded = about === 'claim';
  const from = isFunded ? watch.deployment.contract : await holderOf(watch, terms, signal);
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
  const { http, deployment, chain } = watch;
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

/** Something that does not stop a swap, but may stop a party in it: to be said before it funds. */
export type TronWarning = Warning & {
  /** Sun that the address needs, what it funds included, and has. */
  readonly needSun: bigint;
  readonly hasSun: bigint;
};

/**
 * Whether both parties of a leg can pay for what they have to send: the receiver its claim, the
 * funder its funding. An address that was never used cannot send anything, and energy that is not
 * staked for is burnt in TRX. Anybody else may send the claim for the receiver.
 */
export async function warningsOf(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<readonly TronWarning[]> {
  const { payout, refund } = terms;
  const paid = terms.token === null ? terms.amount : 0n;
  const whole = await wholeFunding(watch, terms, signal);
  const funding = { verb: 'fund', what: 'fund', paid, ...whole } as const;
  const both = [
    await claimShortage(watch, terms, payout.address, signal),
    await shortOf(watch, refund.address, funding, signal),
  ];
  return both.filter((each) => each !== null);
}

/** See ChainAdapter. */
export async function claimShortage(
  watch: Watch,
  terms: EscrowTerms,
  payer: string,
  signal: AbortSignal,
): Promise<TronWarning | null> {
  return purseShortage(watch, { claims: [terms], fundings: [] }, payer, signal);
}

/** See ChainAdapter. */
export async function purseShortage(
  watch: Watch,
  owed: Owed,
  payer: string,
  signal: AbortSignal,
): Promise<TronWarning | null> {
  let [energy, transactions, paid] = [0n, 0n, 0n];
  for (const same of alike(owed.claims)) {
    const count = BigInt(same.length);
    const [largest] = same.toSorted((one, other) => (one.amount < other.amount ? 1 : -1));
    if (largest === undefined) continue;
    energy += count * (await settleEnergy(watch, largest, largest.payout.address, signal));
    transactions += count;
  }
  for (const terms of owed.fundings) {
    const whole = await wholeFunding(watch, terms, signal);
    energy += whole.energy;
    transactions += whole.transactions;
    if (terms.token === null) paid += terms.amount;
  }
  const what = owedWords(owed, 'send its own claim');
  return shortOf(watch, payer, { verb: 'claim', what, energy, transactions, paid }, signal);
}

/** Claims of one token for one receiver: one trial tells what each of them takes. */
function alike(claims: readonly EscrowTerms[]): readonly (readonly EscrowTerms[])[] {
  const groups = Map.groupBy(claims, ({ token, payout }) => `${token} ${payout.address}`);
  return [...groups.values()];
}

/** What somebody has to send, and the sun that goes along with it. */
type Sending = {
  readonly verb: Warning['verb'];
  readonly what: string;
  readonly energy: bigint;
  readonly transactions: bigint;
  readonly paid: bigint;
};

async function shortOf(
  { http, chain }: Watch,
  address: string,
  { verb, what, energy, transactions, paid }: Sending,
  signal: AbortSignal,
): Promise<TronWarning | null> {
  const { energySun, byteSun } = await pricesOf(http, signal);
  const account = await accountOf(http, address, signal);
  const has = await resourcesOf(http, address, signal);
  const own = verb === 'claim' && account !== null ? ownEnergyLeft(account, has) : has.energy;
  const burnt = withMargin(energy) - own;
  const sent = transactions * transactionBytes;
  const bytes = has.bandwidth >= sent ? 0n : sent;
  const costSun = (burnt > 0n ? burnt * energySun : 0n) + bytes * byteSun;
  const needSun = paid + costSun;
  const hasSun = account?.balance ?? 0n;
  if (account !== null && hasSun >= needSun) return null;
  const code = account === null ? 'not_activated' : 'energy_poor';
  const parts = paid === 0n ? '' : `: ${paid} for the leg and ${costSun}`;
  const needs = `${needSun} sun${parts} for energy and bandwidth`;
  const why =
    account === null
      ? `was never used on ${chain}: it cannot ${what} before somebody has sent it TRX, at least ${needs}`
      : `has ${hasSun} sun on ${chain}, and to ${what} may take ${needs}`;
  const other = verb === 'claim' ? '; anybody else may send the claim for it' : '';
  return { code, verb, address, needSun, hasSun, sentence: `${address} ${why}${other}` };
}

/** Energy that others delegated may be gone before a claim is mined: its own stake's is counted. */
function ownEnergyLeft(
  { stakedSun, lentSun }: Account,
  { energy, energyLimit }: { readonly energy: bigint; readonly energyLimit: bigint },
): bigint {
  if (lentSun === 0n) return energy;
  const lent = (energyLimit * lentSun) / (stakedSun + lentSun);
  return energy > lent ? energy - lent : 0n;
}
