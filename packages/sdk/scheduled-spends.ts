// Claims and refunds on Bitcoin, signed before they are due and left with the market, or with
// anybody else. They can only pay the address that was agreed, or the one that the wallet names: a
// claim once its secret is public, a refund after the timelock.

import {
  defaultFeeBounds,
  feeAt,
  mostBumps,
  rateOf,
  reserve,
  signedLadder,
} from '@parley/chains/bitcoin/fees.ts';
import { buildSpend, type EscrowOutput, type Spend, vsizeOf } from '@parley/chains/bitcoin/plan.ts';
import { assemble } from '@parley/chains/bitcoin/signed-psbt.ts';
import { boundsOf, mostScheduledInputs } from '@parley/chains/bitcoin/signed-spends.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { DeepPayment, ScheduledVerb } from '@parley/chains/interface/scheduled.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { ChainSource } from './chains.ts';
import type { ParleyClient } from './client.ts';
import { VerificationError } from './errors.ts';
import type { ScheduledRefunds } from './types.ts';
import { mustEqual } from './verify.ts';
import { paidWhere } from './verify-material.ts';
import { signaturesOf } from './wallets/bitcoin.ts';
import type { BitcoinKey } from './wallets/wallet.ts';

type SpendInput = {
  /** As verified. */
  readonly escrow: WatchedEscrow;
  readonly source: ChainSource;
  /** The wallet of the key and its payout. It is asked once, for all the signatures. */
  readonly wallet: Pick<BitcoinKey, 'pubkey' | 'signSighashes' | 'signLeaves' | 'payout'>;
  readonly signal: AbortSignal;
};

type Leaving = SpendInput & { readonly swapId: string; readonly leg: LegName };

export type ScheduleInput = Leaving & {
  readonly client: Pick<ParleyClient, 'scheduleRefunds'>;
  /** Where the leg has moved off `escrow`. */
  readonly former?: boolean;
};

export type ClaimsInput = Leaving & { readonly client: Pick<ParleyClient, 'scheduleClaims'> };

export type LeftSpends = ScheduledRefunds & Pick<SpendPlan, 'leftOut'>;

/**
 * Signs a fee bump schedule of refunds of what is final, and has the market keep it. Throws
 * `nothing_there` while no payment is final.
 */
export async function scheduleRefunds(input: ScheduleInput, plan?: SpendPlan): Promise<LeftSpends> {
  const { client, swapId, leg, escrow, former = false, signal } = input;
  return leave('refund', input, plan, (transactions) => {
    const body = { transactions, ...(former ? { escrow: escrow.address } : {}) };
    return client.scheduleRefunds(swapId, leg, body, { signal });
  });
}

/**
 * Signs a fee bump schedule of claims of the payment that funds the leg, and has the market keep
 * it: no secret is needed for that, and none is told. Throws `nothing_there` until it is final.
 */
export async function scheduleClaims(input: ClaimsInput, plan?: SpendPlan): Promise<LeftSpends> {
  const { client, swapId, leg, signal } = input;
  return leave('claim', input, plan, (transactions) =>
    client.scheduleClaims(swapId, leg, { transactions }, { signal }),
  );
}

async function leave(
  verb: ScheduledVerb,
  input: SpendInput,
  plan: SpendPlan | undefined,
  keep: (transactions: string[]) => Promise<ScheduledRefunds>,
): Promise<LeftSpends> {
  const planned = plan ?? (await planSpends(verb, input));
  const made = await signPlan(planned, input.escrow.terms, input.wallet, input.signal);
  const kept = await keep(made.map(({ raw }) => raw));
  mustEqual('scheduled.escrow', input.escrow.address, kept.escrow);
  mustEqual('scheduled.count', made.length, kept.count);
  const txids = made.map(({ txid }) => txid).join();
  mustEqual('scheduled.txids', txids, [kept.txids].flat().join());
  return { ...kept, leftOut: planned.leftOut };
}

/** The `raw` of a claim has an empty item where its secret goes. */
export type Signed = { readonly txid: string; readonly raw: string };

/** The same for a watchtower of one's own (`watch.ts`). Throws as those above. */
export async function signedSpends(verb: ScheduledVerb, input: SpendInput): Promise<Signed[]> {
  const plan = await planSpends(verb, input);
  return signPlan(plan, input.escrow.terms, input.wallet, input.signal);
}

/** A payment that no transaction of the schedule spends. */
export type LeftOut = {
  readonly outpoint: string;
  readonly sats: bigint;
  /** From this rate on, in sat per vbyte, spending it costs what it brings, or more. */
  readonly notWorthFrom: number;
};

export type SpendPlan = {
  readonly verb: ScheduledVerb;
  readonly spends: readonly Spend[];
  readonly inputs: number;
  readonly outpoints: readonly string[];
  /** Final, and too small for the highest rate, or more than one transaction takes. */
  readonly leftOut: readonly LeftOut[];
  /** All that is final and that a spend of now would take. */
  readonly deepSats: bigint;
  readonly highestFeeRate: number;
};

/** The spends to be signed, up to `leastTop` sat per vbyte at least. Throws `nothing_there`. */
export async function planSpends(
  verb: ScheduledVerb,
  {
    escrow: agreed,
    source: { adapter, view },
    wallet: { payout },
    signal,
    leastTop = 0,
  }: Pick<SpendInput, 'escrow' | 'source' | 'signal'> & {
    readonly wallet: Pick<BitcoinKey, 'payout'>;
    readonly leastTop?: number;
  },
): Promise<SpendPlan> {
  const { scheduledSpends } = adapter;
  if (!has(view, 'coins') || scheduledSpends === undefined) {
    throw new VerificationError('family', 'bitcoin', view.family);
  }
  const { network, mostFeeRateSatPerVbyte: cap = defaultFeeBounds.capSatPerVbyte } = view;
  const { terms } = paidWhere(agreed, verb, view, payout);
  const { payments: deep, lastHourRate } = await scheduledSpends.spendable(agreed, verb, signal);
  if (deep.length === 0) {
    const { address, requiredConfirmations: wanted } = agreed;
    const sentence = `no payment to the escrow ${address} has ${wanted} confirmations yet`;
    throw new ParleyError('nothing_there', sentence, { escrow: address, wanted });
  }
  // The last step of a schedule is twice the rate for the next blocks.
  const rate = Math.max(lastHourRate, leastTop / reserve) / 2;
  const vsize = (inputs: number) => vsizeOf(terms, network, verb, inputs);
  const feesOf = (spent: readonly EscrowOutput[]) =>
    signedLadder({
      estimate: { fast: rate, medium: rate, slow: rate, least: 1, at: 0 },
      bounds: boundsOf(verb, { ...defaultFeeBounds, capSatPerVbyte: cap }),
      vsize: vsize(spent.length),
      value: sumOf(spent),
    });
  const largest = deep.slice(0, mostScheduledInputs[verb]);
  const top = rateOf(feesOf(largest).at(-1) ?? 0n, vsize(largest.length));
  const outputs = worthOf(largest, feeAt(vsize(2) - vsize(1), top));
  const fees = feesOf(outputs);
  const spends = fees
    .slice(-mostBumps)
    .map((fee) => buildSpend(terms, network, verb, outputs, fee));
  const last = spends.at(-1);
  if (last === undefined) {
    const sats = sumOf(outputs);
    const sentence = `no ${verb} of ${sats} sats pays its fee at ${rate} sat per vbyte`;
    throw new ParleyError('payout_would_fail', sentence, { sats, rate, highest: cap });
  }
  return {
    verb,
    spends,
    inputs: outputs.length,
    outpoints: outputs.map(outpointOf),
    leftOut: leftOutOf(deep, outputs, vsize(2) - vsize(1)),
    deepSats: sumOf(deep),
    highestFeeRate: rateOf(last.feeSats, last.vsize),
  };
}

/** Anybody can pay dust to an escrow: it must not make the refund of the rest dearer. */
export function worthOf<Output extends { readonly amount: bigint }>(
  largestFirst: readonly Output[],
  inputSats: bigint,
): Output[] {
  return largestFirst.filter(({ amount }, at) => at === 0 || amount > inputSats);
}

function leftOutOf(
  all: readonly DeepPayment[],
  spent: readonly EscrowOutput[],
  inputVsize: number,
): LeftOut[] {
  const taken = new Set(spent.map(outpointOf));
  return all
    .filter((each) => !taken.has(outpointOf(each)))
    .map((each) => {
      const notWorthFrom = rateOf(each.amount, inputVsize);
      return { outpoint: outpointOf(each), sats: each.amount, notWorthFrom };
    });
}

function outpointOf({ txid, vout }: { readonly txid: string; readonly vout: number }): string {
  return `${txid}:${vout}`;
}

function sumOf(outputs: readonly Pick<EscrowOutput, 'amount'>[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n);
}

async function signPlan(
  { verb, spends, inputs }: SpendPlan,
  terms: EscrowTerms,
  wallet: SpendInput['wallet'],
  signal: AbortSignal,
): Promise<Signed[]> {
  const hashes = spends.flatMap(({ sighashHexes }) => sighashHexes);
  const signatures = await signaturesOf(wallet, terms, hashes, signal);
  return spends.map(({ psbtBase64 }, at) => {
    const from = at * inputs;
    const signaturesHex = signatures.slice(from, from + inputs);
    // Verifies each signature against the key.
    return assemble({ psbtBase64, signaturesHex }, verb);
  });
}
