// The energy that a call may burn. A claim is never tried whole: a node would hear its secret.

import { groupBy } from '@parley/core/engines.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { erc20Abi } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { revertIn } from '../escrows/calls.ts';
import { inOwnLane } from '../escrows/trial-lane.ts';
import { owedWords, type Sum, shortages } from '../kit/shortage.ts';
import { begun } from '../nodes/gathering.ts';
import { TronRefusal } from './http.ts';
import {
  type Account,
  accountOf,
  type Prices,
  pricesOf,
  resourcesOf,
  type Trial,
  tryCall,
} from './node.ts';
import { bareAddress, deploymentOf, fundCalls, largestFeeLimitSun, type TronCall } from './plan.ts';
import { allowanceOf, atMoment, energyPrice, isContract, sunOf, tokenBalance } from './views.ts';
import type { Watch } from './watch.ts';

// contracts/escrows/energy.snapshot.json, rounded up. Token: without the transfer, at USDT's
// dearest.
export const ownEnergy = {
  trxFund: 26_000n,
  trxSettle: 16_000n,
  /** A first payment to an address makes an account of it. */
  newAccount: 25_000n,
  tokenFund: 60_000n,
  tokenSettle: 18_000n,
  /** The energy of a call that cannot be tried, because the token wants another before it. */
  approve: 23_000n,
} as const;
/** For a transfer that cannot be tried: USDT to a new holder, with most of its dynamic factor. */
export const unknownTransfer = 130_000n;

/** Prices, and what is used, may rise between a trial and its transaction: 1.3 times. */
const marginTimes = 13n;
const marginOf = 10n;

export function withMargin(energy: bigint): bigint {
  return (energy * marginTimes + marginOf - 1n) / marginOf;
}

export function withoutMargin(energy: bigint): bigint {
  return (energy * marginOf) / marginTimes;
}

/** The fee limit of a call that uses so much, in sun: rounded up, within what a node takes. */
export function feeLimitOf(energy: bigint, { energySun }: Pick<Prices, 'energySun'>): bigint {
  const limit = withMargin(energy) * energySun;
  if (limit > largestFeeLimitSun) return largestFeeLimitSun;
  return limit;
}

/** Bytes of a signed transaction of ours and of what is kept beside it, at most. */
export const transactionBytes = 600n;

export function transferCall(token: string, from: string, to: string, amount: bigint): TronCall {
  const args = [bareAddress(to), amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }).slice(2);
  return { from, to: token, data, value: 0n };
}

export async function trialOf(watch: Watch, call: TronCall, signal: AbortSignal): Promise<Trial> {
  try {
    return await tryCall(watch.http, 'head', call, signal);
  } catch (error) {
    if (!(error instanceof TronRefusal)) throw error;
    return { failure: error.message, output: '', energy: 0n, logs: [] };
  }
}

export async function heldBy(
  { http }: Watch,
  { token }: EscrowTerms,
  holder: string,
  signal: AbortSignal,
): Promise<bigint> {
  if (token !== null) return tokenBalance(http, 'head', token, holder, signal);
  return sunOf(http, holder, signal);
}

/**
 * The present holder of as much of a token: the contract, else the funder; null where neither does.
 */
export async function holderOf(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<string | null> {
  const holders = [deploymentOf(watch, terms).contract, terms.refund.address];
  const held = await Promise.all(holders.map((each) => heldBy(watch, terms, each, signal)));
  return holders.find((_, at) => (held[at] ?? 0n) >= terms.amount) ?? null;
}

/** The energy that a claim or a refund that pays `to` uses, without margin. */
export async function settleEnergy(
  asked: Watch,
  terms: EscrowTerms,
  to: string,
  signal: AbortSignal,
): Promise<bigint> {
  const watch = atMoment(asked);
  const { token, amount } = terms;
  const holding = holderOf(watch, terms, signal);
  if (token !== null) {
    const from = await holding;
    const transfer =
      from === null ? null : await trialOf(watch, transferCall(token, from, to, amount), signal);
    const used = transfer?.failure === null ? transfer.energy : unknownTransfer;
    return ownEnergy.tokenSettle + used;
  }
  const [from, sun, hasCode] = await Promise.all([
    holding,
    sunOf(watch.http, to, signal),
    isContract(watch.http, to, signal),
  ]);
  // One with coins has an account.
  if (sun === 0n && (await accountOf(watch.http, to, signal)) === null) {
    return ownEnergy.trxSettle + ownEnergy.newAccount;
  }
  if (from === null || !hasCode) return ownEnergy.trxSettle;
  const received = await trialOf(watch, { from, to, data: '', value: amount }, signal);
  return ownEnergy.trxSettle + received.energy;
}

export async function fundEnergy(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<bigint> {
  const { token, amount, refund } = terms;
  if (token === null) return ownEnergy.trxFund;
  const { contract } = deploymentOf(watch, terms);
  const call = transferCall(token, refund.address, contract, amount);
  const { failure, energy } = await trialOf(watch, call, signal);
  return ownEnergy.tokenFund + (failure === null ? energy : unknownTransfer);
}

async function wholeFunding(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<{ readonly energy: bigint; readonly transactions: bigint }> {
  const { token, refund } = terms;
  const own = begun(fundEnergy(watch, terms, signal));
  if (token === null) return { energy: await own, transactions: 1n };
  const deployment = deploymentOf(watch, terms);
  const { contract } = deployment;
  const allowance = await allowanceOf(watch.http, token, refund.address, contract, signal);
  const calls = fundCalls(inOwnLane(terms, contract), deployment, allowance);
  let energy = await own;
  for (const approval of calls.slice(0, -1)) {
    const { failure, energy: used } = await trialOf(watch, approval, signal);
    energy += failure === null ? used : ownEnergy.approve;
  }
  return { energy, transactions: BigInt(calls.length) };
}

export const shortage = shortages<Watch>({
  unit: 'sun',
  code: 'energy_poor',
  together: atMoment,
  owed: async (watch, owed, payer, signal) => {
    void begun(sunOf(watch.http, payer, signal));
    let energy = 0n;
    let transactions = 0n;
    let paid = 0n;
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
      paid += paidIn(terms);
    }
    const what = owedWords(owed, 'send its own claim');
    const lentCounts = false;
    return sumOf(watch, payer, { what, energy, transactions, paid, lentCounts }, signal);
  },
  funding: async (watch, terms, signal) => {
    const { address } = terms.refund;
    void begun(sunOf(watch.http, address, signal));
    const whole = await wholeFunding(watch, terms, signal);
    const sending = { what: 'fund', paid: paidIn(terms), ...whole, lentCounts: true };
    return sumOf(watch, address, sending, signal);
  },
});

const paidIn = ({ token, amount }: EscrowTerms) => (token === null ? amount : 0n);

/** Claims of one token for one receiver: one trial tells what each of them takes. */
function alike(claims: readonly EscrowTerms[]): readonly (readonly EscrowTerms[])[] {
  const groups = groupBy(claims, ({ token, payout }) => `${token} ${payout.address}`);
  return [...groups.values()];
}

type Sending = {
  readonly what: string;
  readonly energy: bigint;
  readonly transactions: bigint;
  readonly paid: bigint;
  /** Energy that others delegated may be gone before a claim is mined. */
  readonly lentCounts: boolean;
};

async function sumOf(
  { http }: Watch,
  address: string,
  { what, energy, transactions, paid, lentCounts }: Sending,
  signal: AbortSignal,
): Promise<Sum> {
  const [sun, has] = await Promise.all([
    sunOf(http, address, signal),
    resourcesOf(http, address, signal),
  ]);
  // It comes with the views.
  const energySun = await energyPrice(http, signal);
  // The account tells of use and of delegated energy. It is asked for only where wanted.
  const isClear = sun > 0n && (lentCounts || has.energy === 0n);
  const account = isClear ? null : await accountOf(http, address, signal);
  const own = lentCounts || account === null ? has.energy : ownEnergyLeft(account, has);
  const burnt = withMargin(energy) - own;
  const sent = transactions * transactionBytes;
  const bytes = has.bandwidth >= sent ? 0n : sent;
  const byteSun = bytes === 0n ? 0n : (await pricesOf(http, signal)).byteSun;
  const costSun = (burnt > 0n ? burnt * energySun : 0n) + bytes * byteSun;
  const leg = paid === 0n ? '' : `: ${paid} for the leg and ${costSun}`;
  return {
    need: paid + costSun,
    has: sun,
    what,
    parts: `${leg} for energy and bandwidth`,
    isUnused: !isClear && account === null,
  };
}

function ownEnergyLeft(
  { stakedSun, lentSun }: Account,
  { energy, energyLimit }: { readonly energy: bigint; readonly energyLimit: bigint },
): bigint {
  if (lentSun === 0n) return energy;
  const lent = (energyLimit * lentSun) / (stakedSun + lentSun);
  return energy > lent ? energy - lent : 0n;
}

export function reasonOf({ failure, output }: Trial): string | null {
  if (failure === null) return null;
  return output === '' ? `it fails: ${failure}` : revertIn(`0x${output}`).words;
}
