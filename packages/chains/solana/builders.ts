// Unsigned transactions for the party that each belongs to, who pays its fee.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import { ParleyError } from '@parley/core/errors.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { BuildInput, SpendInput } from '../interface/building.ts';
import type { SolanaMaterial } from '../interface/material.ts';
import { alreadyFunded, holdsNothing, mayReveal } from '../kit/builders.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { begun, gathering } from '../nodes/gathering.ts';
import { mustAgree } from './agreement.ts';
import { depositOf, fundCosts, missingRent, settleNeeds } from './fees.ts';
import { accountsAt, latestBlockhash, recentPrices, simulate } from './node.ts';
import { payerOf, solanaEscrow, solanaTransaction, unitLimits, type Wanted } from './plan.ts';
import { native, reasonOf, tokenProgramOf } from './preflight.ts';
import { leastAmount, usualPrice } from './prices.ts';
import { systemProgram } from './programs.ts';
import { stateOf } from './read.ts';
import { mayBeClosed, returning, type Shown } from './state.ts';
import type { Watch } from './watch.ts';

const { timelockLeastSeconds } = layout.constants;

export async function buildFund(
  watch: Watch,
  { escrow }: BuildInput,
  signal: AbortSignal,
): Promise<SolanaMaterial> {
  const { address } = solanaEscrow(escrow.terms, watch.deployment);
  // All of it at one moment; errors come in this order.
  const together = { ...watch, rpc: gathering(watch.rpc, signal) };
  const agreeing = begun(mustAgree(watch, escrow, signal));
  const showing = begun(stateOf(together, escrow, 'confirmed', signal));
  const building = begun(material(watch, escrow.terms, { verb: 'fund' }, signal));
  await agreeing;
  const { state, clock } = await showing;
  const { timelock } = escrow.terms;
  if (state === null && timelock < clock + timelockLeastSeconds) {
    throw new ParleyError(
      'too_late_to_fund',
      `the escrow program takes no timelock less than ${timelockLeastSeconds} s ahead: ` +
        `${timelock} is ${timelock - clock} s ahead of the clock of ${watch.chain}`,
      { escrow: address, timelock, clock },
    );
  }
  if (state !== null) throw alreadyFunded(address);
  return building;
}

export async function buildClaim(
  watch: Watch,
  input: SpendInput,
  secret: Secret,
  signal: AbortSignal,
): Promise<SolanaMaterial> {
  const { escrow } = input;
  const { terms, address } = escrow;
  const agree = () => mustAgree(watch, escrow, signal);
  const { isPublic } = await mayReveal(watch, input, secret, agree);
  const shown = await stateOf(watch, escrow, 'confirmed', signal);
  if (shown.state?.status !== 'open') {
    throw holdsNothing(watch.chain, address, whatIs(shown, terms));
  }
  // A secret that is not public is shown to no node before its claim, so nothing is simulated.
  const withoutRefund = !isPublic && !(await isPlain(watch, terms.refund.address, signal));
  const first: Wanted = { verb: 'claim', secret, withoutRefund };
  const { lamports } = shown;
  const whole = await material(watch, terms, first, signal, lamports);
  if (!isPublic || (await simulate(watch.rpc, whole.transaction, signal)) === null) return whole;
  const wanted: Wanted = { verb: 'claim', secret, withoutRefund: true };
  const short = await material(watch, terms, wanted, signal, lamports);
  return (await simulate(watch.rpc, short.transaction, signal)) === null ? short : whole;
}

export async function buildRefund(
  watch: Watch,
  { escrow: { terms, address }, escrow }: SpendInput,
  signal: AbortSignal,
): Promise<SolanaMaterial> {
  const shown = await stateOf(watch, escrow, 'confirmed', signal);
  const wanted = returning(shown, terms.timelock);
  if (wanted === null) throw holdsNothing(watch.chain, address, whatIs(shown, terms));
  return material(watch, terms, wanted, signal);
}

/** Gives the escrow back to its funder. Throws `payout_would_fail` where its funder cannot take it. */
export async function buildRelease(
  watch: Watch,
  { escrow: { terms, address }, escrow }: SpendInput,
  signal: AbortSignal,
): Promise<SolanaMaterial> {
  const shown = await stateOf(watch, escrow, 'confirmed', signal);
  if (shown.state?.status !== 'open') {
    throw holdsNothing(watch.chain, address, whatIs(shown, terms));
  }
  const made = await material(watch, terms, { verb: 'release' }, signal);
  const trial = await simulate(watch.rpc, made.transaction, signal);
  if (trial === null) return made;
  throw wouldFail(terms, native, 'payout', terms.refund.address, reasonOf(watch, trial));
}

/** Why nothing can be taken out of it, to go on from "the escrow X". */
export function whatIs(shown: Shown, { timelock }: Pick<EscrowTerms, 'timelock'>): string {
  const { state } = shown;
  if (mayBeClosed(shown, timelock)) return 'has no account: it was settled, or never funded';
  if (state === null) return 'is not funded';
  if (state.status === 'open') return 'is open';
  return shown.clock < timelock
    ? `was ${state.status}; what is left of its rent goes to the funder from ${timelock} on`
    : `was ${state.status}`;
}

/** A wallet as it should be. The funder could make it a program, which takes no rent back. */
export async function isPlain(
  { rpc }: Pick<Watch, 'rpc'>,
  wallet: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { accounts } = await accountsAt(rpc, [wallet], 'confirmed', signal);
  const [account = null] = accounts;
  return account === null || (account.owner === systemProgram && !account.executable);
}

/** `lamports`: the balance of the claimed escrow. */
async function material(
  asked: Watch,
  terms: EscrowTerms,
  wanted: Wanted,
  signal: AbortSignal,
  lamports = 0n,
) {
  const watch = { ...asked, rpc: gathering(asked.rpc, signal) };
  const { rpc, chain, deployment } = watch;
  const { address: escrow } = solanaEscrow(terms, deployment);
  const missing = async () => {
    if (wanted.verb !== 'claim') return 0n;
    const { withoutRefund = false } = wanted;
    return missingRent(watch, terms, { lamports, withoutRefund }, signal);
  };
  const [tokenProgram, prices, latest, deposit, added] = await Promise.all([
    tokenProgramOf(watch, terms, signal),
    recentPrices(rpc, [deployment.program, escrow], signal),
    latestBlockhash(rpc, 'confirmed', signal),
    depositOf(watch, terms, signal),
    missing(),
  ]);
  const { blockhash, lastValidBlockHeight } = latest;
  const usual = usualPrice(terms, prices);
  const unitPrice = await affordable(watch, terms, { wanted, usual, added }, signal);
  const circumstances = { tokenProgram, blockhash, unitPrice, missingRent: added };
  const transaction = solanaTransaction(terms, deployment, wanted, circumstances);
  const sign = { chain, family: 'solana', sign: 'solana-tx' } as const;
  const made = { ...sign, transaction, lastValidBlockHeight, escrow };
  if (wanted.verb !== 'fund') return made;
  return { ...made, costs: fundCosts(terms, unitPrice, deposit) };
}

/** Others can bid the price up: it must not be what keeps a poor wallet from its money. */
async function affordable(
  watch: Watch,
  terms: EscrowTerms,
  offer: { readonly wanted: Wanted; readonly usual: bigint; readonly added: bigint },
  signal: AbortSignal,
): Promise<bigint> {
  const { wanted, usual, added } = offer;
  if (wanted.verb === 'fund' || usual === 0n) return usual;
  const payer = payerOf(terms, wanted);
  // A release brings its payer nothing, so no account for it.
  const brought = wanted.verb === 'release' ? { ...terms, token: null } : terms;
  const needs = await settleNeeds(watch, brought, payer, payer, signal);
  const need = needs.need + added;
  const { has } = needs;
  const limit = BigInt(terms.token === null ? unitLimits.sol : unitLimits.token);
  const most = has > need ? ((has - need) * 1_000_000n) / limit : 0n;
  return usual < most ? usual : most;
}

export async function checkAmount(
  watch: Watch,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = watch;
  // The worth of a token is not known here.
  const { least, claim } =
    token === null ? await leastAmount(watch, signal) : { least: 1n, claim: 0n };
  if (amount < least) {
    throw new ParleyError(
      'amount_too_small',
      `${amount} on ${chain} is less than ${least}, the least that an empty wallet can receive and ` +
        `whose claim, ${claim} now, costs no more than a quarter of it`,
      { chain, amount, least },
    );
  }
  if (amount >= 2n ** 64n) {
    throw new ParleyError('bad_amount', `${amount} on ${chain} is more than 2^64-1`, {
      chain,
      amount,
    });
  }
}
