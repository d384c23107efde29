// The cost of a transaction for its payer: fee, rents of accounts that it makes, and the payer's
// own.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import { larger } from '@parley/core/amounts.ts';
import { groupBy } from '@parley/core/engines.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { Warning } from '../interface/gas.ts';
import type { FundCosts } from '../interface/material.ts';
import { owedWords, shortages } from '../kit/shortage.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { gathering } from '../nodes/gathering.ts';
import { accountsAt, rentFor } from './node.ts';
import { mostRentLamports, solanaEscrow } from './plan.ts';
import { native, underMint } from './preflight.ts';
import { feeOf, lastingRent, signatureLamports } from './prices.ts';
import { associatedTokenAccount, type TokenProgram } from './programs.ts';
import { stateOf } from './read.ts';
import type { Watch } from './watch.ts';

/** For speed, and for what changes until it is sent: only warnings count it. */
export const sparedLamports = 100_000n;
const parts = ' for the fee and the rent of accounts';
const { leastDepositLamports, stateBytes, tombstoneBytes, vaultBytes } = layout.constants;

export type Needs = { readonly need: bigint; readonly has: bigint };

/** For a claim or refund that pays `wallet`, making its token account where there is none. */
export async function settleNeeds(
  watch: Watch,
  { token }: EscrowTerms,
  wallet: string,
  payer: string,
  signal: AbortSignal,
): Promise<Needs> {
  const { rpc } = watch;
  const holding = (program: TokenProgram) =>
    token === null ? [] : [associatedTokenAccount(wallet, token, program)];
  const [{ accounts }, least, vault] = await Promise.all([
    token === null
      ? accountsAt(rpc, [payer], 'confirmed', signal)
      : underMint(watch, token, (of) => [payer, ...holding(of)], signal),
    rentFor(rpc, 0, signal),
    rentFor(rpc, vaultBytes, signal),
  ]);
  const makesOne = token !== null && (accounts[1]?.data.length ?? 0) === 0;
  // A fee must not leave an account with less than its rent.
  const need = signatureLamports + least + (makesOne ? vault : 0n);
  return { need, has: BigInt(Math.floor(accounts[0]?.lamports ?? 0)) };
}

/**
 * The rent that an open escrow lacks for what a claim leaves at its address, where the rent has
 * risen: a transfer of so much goes before the claim. The rent of a vault is then to spare.
 * Throws `payout_would_fail` where a node says that it is beyond any need.
 */
export async function missingRent(
  { rpc }: Pick<Watch, 'rpc'>,
  terms: EscrowTerms,
  { lamports, withoutRefund }: { readonly lamports: bigint; readonly withoutRefund: boolean },
  signal: AbortSignal,
): Promise<bigint> {
  const least = await rentFor(rpc, withoutRefund ? stateBytes : tombstoneBytes, signal);
  return missingOf(terms, lamports, least);
}

function missingOf(terms: EscrowTerms, lamports: bigint, least: bigint): bigint {
  const shown = lamports - (terms.token === null ? terms.amount : 0n);
  // No escrow is funded with less, whatever a node shows.
  const left = larger(shown, BigInt(leastDepositLamports));
  const missing = larger(least - left, 0n);
  if (missing <= mostRentLamports) return missing;
  const why = `the rent of ${least} lamports is ${missing} more than the escrow has`;
  throw wouldFail(
    terms,
    native,
    'payout',
    null,
    `${why}, and no claim adds over ${mostRentLamports}`,
  );
}

/** Missing rents of several escrows; an address without one lacks no rent yet. */
async function missingRents(
  watch: Pick<Watch, 'rpc' | 'chain' | 'deployment'>,
  claims: readonly EscrowTerms[],
  signal: AbortSignal,
): Promise<bigint> {
  const each = claims.map(async (terms) => {
    const { address } = solanaEscrow(terms, watch.deployment);
    const [{ state, lamports }, least] = await Promise.all([
      stateOf(watch, { address, terms }, 'confirmed', signal),
      rentFor(watch.rpc, tombstoneBytes, signal),
    ]);
    return state?.status === 'open' ? missingOf(terms, lamports, least) : 0n;
  });
  return (await Promise.all(each)).reduce((sum, one) => sum + one, 0n);
}

type Deposit = { readonly deposit: bigint; readonly kept: bigint };

/** Rents that a funding pays, and what of them stays from a claim until the timelock. */
export async function depositOf(
  { rpc }: Pick<Watch, 'rpc'>,
  { token }: Pick<EscrowTerms, 'token'>,
  signal: AbortSignal,
): Promise<Deposit> {
  const [kept, ...rents] = await Promise.all([
    rentFor(rpc, tombstoneBytes, signal),
    lastingRent(rpc, stateBytes, signal),
    ...(token === null ? [] : [rentFor(rpc, vaultBytes, signal)]),
  ]);
  return { deposit: rents.reduce((sum, each) => sum + each, 0n), kept };
}

export function fundCosts(
  terms: EscrowTerms,
  unitPrice: bigint,
  { deposit, kept }: Deposit,
): FundCosts {
  return {
    depositLamports: deposit.toString(),
    returnedLamports: (deposit - kept).toString(),
    keptLamports: kept.toString(),
    feeLamports: feeOf(terms, unitPrice).toString(),
  };
}

/** Every funding has it: the rent that the funder pays beside the amount, and when it comes back. */
async function depositWarning(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<Warning> {
  const { address } = terms.refund;
  const { deposit, kept } = await depositOf(watch, terms, signal);
  const sentence =
    `beside what it funds with, ${address} deposits ${deposit} lamports on ${watch.chain} for the ` +
    `rent of the escrow: all come back with its refund, ${deposit - kept} with its claim and ` +
    `${kept} more once its timelock has passed`;
  return { code: 'deposit', verb: 'fund', address, sentence };
}

async function fundNeeds(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<Needs> {
  const { refund, token, amount } = terms;
  const [{ accounts }, { deposit }, least] = await Promise.all([
    accountsAt(watch.rpc, [refund.address], 'confirmed', signal),
    depositOf(watch, terms, signal),
    rentFor(watch.rpc, 0, signal),
  ]);
  const need = deposit + least + signatureLamports;
  const left = BigInt(Math.floor(accounts[0]?.lamports ?? 0)) - (token === null ? amount : 0n);
  return { need, has: left > 0n ? left : 0n };
}

const together = (watch: Watch, signal: AbortSignal): Watch => ({
  ...watch,
  rpc: gathering(watch.rpc, signal),
});

const counted = shortages<Watch>({
  unit: 'lamports',
  code: 'fee_poor',
  spared: sparedLamports,
  together,
  owed: async (watch, owed, payer, signal) => {
    // The first claim of a token makes the account that the next ones pay into.
    const alike = groupBy(owed.claims, ({ token, payout }) => `${token} ${payout.address}`);
    const [own, missing, { accounts }, ...all] = await Promise.all([
      rentFor(watch.rpc, 0, signal),
      missingRents(watch, owed.claims, signal),
      accountsAt(watch.rpc, [payer], 'confirmed', signal),
      ...[...alike.values()].map(async ([first, ...more]) => ({
        needs: first && (await settleNeeds(watch, first, first.payout.address, payer, signal)),
        more: BigInt(more.length),
      })),
    ]);
    const has = BigInt(Math.floor(accounts[0]?.lamports ?? 0));
    let need = own + missing;
    for (const { needs, more } of all) {
      // The payer's own rent is in each of the parts, and is needed once.
      need += (needs?.need ?? own) - own + more * signatureLamports;
    }
    for (const terms of owed.fundings) {
      const needs = await fundNeeds(watch, terms, signal);
      need += needs.need - own + (terms.token === null ? terms.amount : 0n);
    }
    return { need, has, what: owedWords(owed, 'send its own claim'), parts };
  },
  funding: async (watch, terms, signal) => {
    const needs = await fundNeeds(watch, terms, signal);
    return { ...needs, what: 'fund, beside what it funds with,', parts };
  },
});

/** See ChainAdapter. */
export const shortage = {
  ...counted,
  warnings: async (watch: Watch, terms: EscrowTerms, signal: AbortSignal) => {
    const [deposit, short] = await Promise.all([
      depositWarning(together(watch, signal), terms, signal),
      counted.warnings(watch, terms, signal),
    ]);
    return [deposit, ...short];
  },
};
