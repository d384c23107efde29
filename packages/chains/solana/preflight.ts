// Whether a swap's money could move, tried before anybody commits any: the mint, both receivers,
// and by simulation the funding and a trial escrow. The true secret goes nowhere.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import { ParleyError } from '@parley/core/errors.ts';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import type { About } from '../interface/building.ts';
import { wouldFail } from '../kit/would-fail.ts';
import { begun, gathering } from '../nodes/gathering.ts';
import { solanaAddressOf } from './address.ts';
import { mostTransactionBytes } from './message.ts';
import {
  type Account,
  accountsAt,
  chainClock,
  lamportsOf,
  rentFor,
  simulate,
  type Trial,
} from './node.ts';
import {
  type Circumstances,
  solanaEscrow,
  solanaTransaction,
  trialTransaction,
  vaultAddress,
} from './plan.ts';
import { lastingRent, leastAmount } from './prices.ts';
import {
  associatedTokenAccount,
  systemProgram,
  type TokenProgram,
  tokenPrograms,
  wrappedSol,
} from './programs.ts';
import { isGuarded, readHolding, readMint } from './tokens.ts';
import type { Watch } from './watch.ts';

const { stateBytes, vaultBytes } = layout.constants;

/** Throws `payout_would_fail` where it is no mint that an escrow takes. */
export async function decimalsOf(
  { rpc, chain }: Watch,
  token: string,
  signal: AbortSignal,
): Promise<number> {
  const { accounts } = await accountsAt(rpc, [token], 'confirmed', signal);
  const mint = readMint(accounts[0] ?? null);
  if (typeof mint !== 'string') return mint.decimals;
  throw new ParleyError('payout_would_fail', `${token} on ${chain}: ${mint}`, { chain, token });
}

/**
 * Throws `payout_would_fail` or `funding_would_fail`. The trials leave with what is read, by wall
 * time and for each program of tokens; in a second exchange where the chain's clock is far from it.
 */
export async function preflight(
  asked: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const watch = { ...asked, rpc: gathering(asked.rpc, signal) };
  solanaEscrow(terms, watch.deployment);
  if (about === 'claim') return checkClaim(watch, terms, signal);
  const clock = begun(chainClock(watch.rpc, signal));
  const worth = terms.token === null ? begun(mustBeWorth(watch, terms, about, signal)) : null;
  const checking = begun(
    terms.token === null
      ? checkWallets(watch, terms, signal)
      : checkHoldings(watch, terms, about, signal),
  );
  const now = watch.now();
  const tryIn = (setting: Setting) => tryBoth(watch, terms, { about, ...setting }, signal);
  const early = (terms.token === null ? [null] : tokenPrograms).map((program) => {
    return tryIn({ program, clock: now });
  });
  await worth;
  const { program, hasFunds } = await checking;
  if (!hasFunds) {
    watch.log('funder_short', { chain: watch.chain, funder: terms.refund.address });
    return;
  }
  const shown = { program, clock: await clock };
  const isNear = Math.abs(shown.clock - now) <= mostAheadSeconds;
  const foreseen = isNear ? early.find((each) => each.program === program) : undefined;
  const tried = foreseen ?? tryIn(shown);
  for (const what of ['funding', 'payout'] as const) {
    const trial = await tried[what];
    if (trial !== null) throw wouldFail(terms, native, what, null, reasonOf(watch, trial));
  }
}

type Setting = { readonly program: TokenProgram | null; readonly clock: number };

/** The program takes a timelock from half an hour to a month ahead: a trial's is two hours. */
const mostAheadSeconds = 3_600;

function tryBoth(
  watch: Watch,
  terms: EscrowTerms,
  { about, program, clock }: Setting & { readonly about: About },
  signal: AbortSignal,
) {
  const { rpc, deployment } = watch;
  const fund = async () => {
    const funding = solanaTransaction(terms, deployment, { verb: 'fund' }, simulated(program));
    return simulate(rpc, funding, signal);
  };
  return {
    program,
    funding: about === 'funding' ? begun(fund()) : null,
    payout: begun(tryFundAndClaim(watch, terms, { program, clock }, signal)),
  };
}

/** As when it was quoted: the price of speed may have risen since. */
async function mustBeWorth(watch: Watch, terms: EscrowTerms, about: About, signal: AbortSignal) {
  const { worth, claim } = await leastAmount(watch, signal);
  if (terms.amount >= worth) return;
  const why = `the claim costs ${claim} lamports now, more than a quarter of ${terms.amount}`;
  throw wouldFail(terms, native, about, null, why);
}

/** The balance that a funder could give; zero where its token account has no part in it. */
export async function heldBy(
  watch: Pick<Watch, 'rpc' | 'chain'>,
  { token, refund: { address: owner } }: Pick<EscrowTerms, 'token' | 'refund'>,
  signal: AbortSignal,
): Promise<bigint> {
  if (token === null) return lamportsOf(watch.rpc, owner, signal);
  const { program, accounts } = await underMint(
    watch,
    token,
    (of) => [associatedTokenAccount(owner, token, of)],
    signal,
  );
  const holding = readHolding(accounts[0] ?? null, { mint: token, owner, program });
  return holding === null || typeof holding === 'string' ? 0n : holding.amount;
}

type Under<Program> = {
  readonly program: Program;
  readonly accounts: readonly (Account | null)[];
};

/** A mint's program, and accounts that follow from it. `bad_asset`: refused mint. */
export async function underMint(
  watch: Pick<Watch, 'rpc' | 'chain'>,
  token: string,
  addressesOf: (program: TokenProgram) => readonly string[],
  signal: AbortSignal,
): Promise<Under<TokenProgram>> {
  const all = tokenPrograms.map(addressesOf);
  const addresses = [token, ...all.flat()];
  const { accounts } = await accountsAt(watch.rpc, addresses, 'confirmed', signal);
  const [account = null, ...rest] = accounts;
  const mint = readMint(account);
  if (typeof mint !== 'string') {
    const count = rest.length / all.length;
    const from = count * tokenPrograms.indexOf(mint.program);
    return { program: mint.program, accounts: rest.slice(from, from + count) };
  }
  throw new ParleyError('bad_asset', `${token} on ${watch.chain} cannot be swapped: ${mint}`, {
    chain: watch.chain,
    token,
  });
}

/** The program of the terms' mint; null for SOL. Throws `bad_asset` for a mint that is refused. */
export async function tokenProgramOf(
  watch: Pick<Watch, 'rpc' | 'chain'>,
  { token }: Pick<EscrowTerms, 'token'>,
  signal: AbortSignal,
): Promise<TokenProgram | null> {
  if (token === null) return null;
  return (await underMint(watch, token, () => [], signal)).program;
}

/** A refused mint is no fault of the caller: a payment with it would not arrive. */
function refusedMint(terms: EscrowTerms, about: About) {
  return (error: unknown): never => {
    if (!(error instanceof ParleyError) || error.code !== 'bad_asset') throw error;
    throw wouldFail(terms, native, about, null, error.message);
  };
}

/** The claim of a funded escrow. No trial, which would depend on what the funder has and allows. */
async function checkClaim(watch: Watch, terms: EscrowTerms, signal: AbortSignal): Promise<void> {
  const { payout, token } = terms;
  if (token === null) {
    const least = begun(rentFor(watch.rpc, 0, signal));
    const { accounts } = await accountsAt(watch.rpc, [payout.address], 'confirmed', signal);
    return checkWallet(terms, payout.address, accounts[0] ?? null, await least);
  }
  const { address: escrow } = solanaEscrow(terms, watch.deployment);
  const addressesOf = (program: TokenProgram): [string, string] => [
    associatedTokenAccount(payout.address, token, program),
    vaultAddress(escrow, program),
  ];
  const asking = underMint(watch, token, addressesOf, signal);
  const { program, accounts } = await asking.catch(refusedMint(terms, 'claim'));
  const [holding, vault] = addressesOf(program);
  const expected = { mint: token, program };
  const taking = readHolding(accounts[0] ?? null, { ...expected, owner: payout.address });
  if (typeof taking === 'string') {
    const why = `its token account ${holding}: ${taking}`;
    throw wouldFail(terms, native, 'payout', payout.address, why);
  }
  if (token === wrappedSol && taking !== null) {
    const least = await rentFor(watch.rpc, vaultBytes, signal);
    checkWallet(terms, payout.address, accounts[0] ?? null, least);
  }
  const giving = readHolding(accounts[1] ?? null, { ...expected, owner: escrow });
  if (typeof giving !== 'string') return;
  throw wouldFail(terms, native, 'payout', null, `the vault ${vault}: ${giving}`);
}

function checkWallet(terms: EscrowTerms, to: string, account: Account | null, least: bigint): void {
  if (account?.executable) throw wouldFail(terms, native, 'payout', to, 'it is a program');
  const has = BigInt(Math.floor(account?.lamports ?? 0));
  if (has + terms.amount >= least) return;
  const what = has === 0n ? 'holds nothing yet' : `holds ${has} lamports`;
  const why = `an account that ${what} takes at least ${least - has} lamports`;
  throw wouldFail(terms, native, 'payout', to, why);
}

/** `hasFunds`: whether the funder has the amount, and the rents. */
type Checked = { readonly program: TokenProgram | null; readonly hasFunds: boolean };

async function checkWallets(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<Checked> {
  const { payout, refund, amount } = terms;
  const addresses = [payout.address, refund.address];
  const [{ accounts }, least, rent] = await Promise.all([
    accountsAt(watch.rpc, addresses, 'confirmed', signal),
    lastingRent(watch.rpc, 0, signal),
    lastingRent(watch.rpc, stateBytes, signal),
  ]);
  for (const [at, to] of addresses.entries()) {
    checkWallet(terms, to, accounts[at] ?? null, least);
  }
  const has = BigInt(Math.floor(accounts[1]?.lamports ?? 0));
  return { program: null, hasFunds: has >= amount + rent + least + feeLamports };
}

async function checkHoldings(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<Checked> {
  const { payout, refund, amount, token } = terms;
  const mint = token ?? systemProgram;
  const wallets = [payout.address, refund.address];
  const holdingsOf = (program: TokenProgram) =>
    wallets.map((wallet) => associatedTokenAccount(wallet, mint, program));
  const lamports = begun(trialLamports(watch, signal));
  const addressesOf = (program: TokenProgram) => [...holdingsOf(program), refund.address];
  const asking = underMint(watch, mint, addressesOf, signal);
  const { program, accounts } = await asking.catch(refusedMint(terms, about));
  const holdings = holdingsOf(program);
  let held = 0n;
  for (const [at, owner] of wallets.entries()) {
    const holding = readHolding(accounts[at] ?? null, { mint, owner, program });
    if (typeof holding === 'string') {
      throw wouldFail(
        terms,
        native,
        'payout',
        owner,
        `its token account ${holdings[at]}: ${holding}`,
      );
    }
    held = holding?.amount ?? 0n;
  }
  if (about === 'funding' && isGuarded(accounts[1] ?? null)) {
    const why = `${holdings[1]} forbids programs to move its tokens (CPI guard)`;
    throw wouldFail(terms, native, 'funding', null, why);
  }
  const has = BigInt(Math.floor(accounts[2]?.lamports ?? 0));
  return { program, hasFunds: held >= amount && has >= (await lamports) };
}

export const native = 'SOL, in lamports';

const trialSecret = '00'.repeat(31).concat('01');
const trialTimelockSeconds = 7_200;
/** Fees and a little: the least that a funder must have over amount and rents. */
export const feeLamports = 100_000n;

/** The needs of a simulated transaction: the node puts a blockhash of its own in. */
export function simulated(tokenProgram: TokenProgram | null): Circumstances {
  return { tokenProgram, blockhash: solanaAddressOf(new Uint8Array(32)), unitPrice: 0n };
}

/** The lamports that a funder of tokens must have: for the escrow, its vault, a token account, and
 * itself. */
export async function trialLamports({ rpc }: Pick<Watch, 'rpc'>, signal: AbortSignal) {
  const sizes = [stateBytes, vaultBytes, vaultBytes, 0];
  const rents = await Promise.all(sizes.map((bytes) => lastingRent(rpc, bytes, signal)));
  return rents.reduce((sum, each) => sum + each, feeLamports);
}

/** Why terms like these, with another hashlock and timelock, would fail at `clock`; null: not. */
export async function tryFundAndClaim(
  watch: Pick<Watch, 'rpc' | 'deployment'>,
  terms: Omit<EscrowTerms, 'hashlock' | 'timelock'>,
  { program, clock }: Setting,
  signal: AbortSignal,
): Promise<Trial | null> {
  const trialTerms: EscrowTerms = {
    ...terms,
    hashlock: hashlockOf(trialSecret),
    timelock: clock + trialTimelockSeconds,
  };
  const circumstances = simulated(program);
  const text = trialTransaction(trialTerms, watch.deployment, trialSecret, circumstances);
  if (base64.decode(text).length > mostTransactionBytes) return null;
  return simulate(watch.rpc, text, signal);
}

/** The program's error by its name, else what the node says. */
export function reasonOf(watch: Pick<Watch, 'deployment'>, { error, logs }: Trial): string {
  const start = `Program ${watch.deployment.program} failed: custom program error: 0x`;
  const own = logs.find((line) => line.startsWith(start));
  const code = own === undefined ? null : Number.parseInt(own.slice(start.length), 16);
  const name = Object.entries(layout.errors).find(([, each]) => each === code)?.[0];
  const words = JSON.stringify(error);
  const last = logs.findLast((line) => /failed|Error/.test(line));
  if (name !== undefined) return `the escrow program says ${name}`;
  return last === undefined ? words : `${words}, ${last.slice(0, 200)}`;
}
