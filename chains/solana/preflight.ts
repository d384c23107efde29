// Whether a swap's money could move, tried before anybody commits any: the mint is one that the
// program takes, both receivers can take the amount, and where the funder has it already, the
// funding is simulated, and a trial escrow is funded and claimed. The true secret goes nowhere, and
// nothing is sent.

import layout from '../../contracts/solana/layout.json' with { type: 'json' };
import { ParleyError } from '../../core/errors.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { About } from '../adapter.ts';
import { wouldFail } from '../would-fail.ts';
import { type Account, accountsAt, rentFor, simulate } from './node.ts';
import { solanaEscrow, solanaTransaction, vaultAddress } from './plan.ts';
import { leastAmount } from './prices.ts';
import { associatedTokenAccount, systemProgram, type TokenProgram } from './programs.ts';
import { isGuarded, readHolding, readMint } from './tokens.ts';
import { feeLamports, reasonOf, simulated, trialLamports, tryFundAndClaim } from './trial.ts';
import type { Watch } from './watch.ts';

const stateBytes = layout.constants.stateBytes;

/** Throws `payout_would_fail` or `funding_would_fail`, with the reason and the numbers. */
export async function preflight(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  solanaEscrow(terms, watch.deployment);
  const owner = await tokenProgramOf(watch, terms, signal).catch((error: unknown) => {
    if (!(error instanceof ParleyError) || error.code !== 'bad_asset') throw error;
    throw wouldFail(terms, native, about, null, error.message);
  });
  if (about === 'claim') return checkClaim(watch, terms, owner, signal);
  if (owner === null) await mustBeWorth(watch, terms, about, signal);
  const hasFunds =
    owner === null
      ? await checkWallets(watch, terms, signal)
      : await checkHoldings(watch, terms, owner, about, signal);
  if (!hasFunds) {
    watch.log('funder_short', { chain: watch.chain, funder: terms.refund.address });
    return;
  }
  if (about === 'funding') {
    const funding = solanaTransaction(terms, watch.deployment, { verb: 'fund' }, simulated(owner));
    const trial = await simulate(watch.rpc, funding, signal);
    if (trial !== null) throw wouldFail(terms, native, 'funding', null, reasonOf(watch, trial));
  }
  const trial = await tryFundAndClaim(watch, terms, owner, signal);
  if (trial !== null) throw wouldFail(terms, native, 'payout', null, reasonOf(watch, trial));
}

/** As when it was quoted: the price of speed may have risen since. */
async function mustBeWorth(
  watch: Watch,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const { worth, claim } = await leastAmount(watch, signal);
  if (terms.amount >= worth) return;
  const why = `the claim costs ${claim} lamports now, more than a quarter of ${terms.amount}`;
  throw wouldFail(terms, native, about, null, why);
}

/** The program of the terms' mint; null for SOL. Throws `bad_asset` for a mint that is refused. */
export async function tokenProgramOf(
  watch: Pick<Watch, 'rpc' | 'chain'>,
  { token }: Pick<EscrowTerms, 'token'>,
  signal: AbortSignal,
): Promise<TokenProgram | null> {
  if (token === null) return null;
  const { accounts } = await accountsAt(watch.rpc, [token], 'confirmed', signal);
  const mint = readMint(accounts[0] ?? null);
  if (typeof mint !== 'string') return mint.program;
  throw new ParleyError('bad_asset', `${token} on ${watch.chain} cannot be swapped: ${mint}`, {
    chain: watch.chain,
    token,
  });
}

/**
 * Of a funded escrow: the payout can take the amount, and tokens can leave the vault. No trial,
 * which would depend on what the funder has and allows.
 */
async function checkClaim(
  watch: Watch,
  terms: EscrowTerms,
  program: TokenProgram | null,
  signal: AbortSignal,
): Promise<void> {
  const { payout, token } = terms;
  if (token === null || program === null) {
    const { accounts } = await accountsAt(watch.rpc, [payout.address], 'confirmed', signal);
    return checkWallet(watch, terms, payout.address, accounts[0] ?? null, signal);
  }
  const { address: escrow } = solanaEscrow(terms, watch.deployment);
  const vault = vaultAddress(escrow, program);
  const holding = associatedTokenAccount(payout.address, token, program);
  const { accounts } = await accountsAt(watch.rpc, [holding, vault], 'confirmed', signal);
  const expected = { mint: token, program };
  const taking = readHolding(accounts[0] ?? null, { ...expected, owner: payout.address });
  if (typeof taking === 'string') {
    const why = `its token account ${holding}: ${taking}`;
    throw wouldFail(terms, native, 'payout', payout.address, why);
  }
  const giving = readHolding(accounts[1] ?? null, { ...expected, owner: escrow });
  if (typeof giving !== 'string') return;
  throw wouldFail(terms, native, 'payout', null, `the vault ${vault}: ${giving}`);
}

async function checkWallet(
  watch: Watch,
  terms: EscrowTerms,
  to: string,
  account: Account | null,
  signal: AbortSignal,
): Promise<void> {
  if (account?.executable) throw wouldFail(terms, native, 'payout', to, 'it is a program');
  if (account !== null) return;
  const least = await rentFor(watch.rpc, 0, signal);
  if (terms.amount >= least) return;
  const why = `an account that holds nothing yet takes at least ${least} lamports`;
  throw wouldFail(terms, native, 'payout', to, why);
}

/** SOL: both wallets can take the amount. Returns whether the funder has it. */
async function checkWallets(
  watch: Watch,
  terms: EscrowTerms,
  signal: AbortSignal,
): Promise<boolean> {
  const { payout, refund, amount } = terms;
  const addresses = [payout.address, refund.address];
  const { accounts } = await accountsAt(watch.rpc, addresses, 'confirmed', signal);
  for (const [at, to] of addresses.entries()) {
    await checkWallet(watch, terms, to, accounts[at] ?? null, signal);
  }
  const least = await rentFor(watch.rpc, 0, signal);
  const rent = await rentFor(watch.rpc, stateBytes, signal);
  const funder = accounts[1] ?? null;
  return BigInt(Math.floor(funder?.lamports ?? 0)) >= amount + rent + least + feeLamports;
}

/** Tokens: both can take them. Returns whether the funder has them, and the rents. */
async function checkHoldings(
  watch: Watch,
  terms: EscrowTerms,
  program: TokenProgram,
  about: About,
  signal: AbortSignal,
): Promise<boolean> {
  const { payout, refund, amount, token } = terms;
  const mint = token ?? systemProgram;
  const wallets = [payout.address, refund.address];
  const holdings = wallets.map((wallet) => associatedTokenAccount(wallet, mint, program));
  const { accounts } = await accountsAt(
    watch.rpc,
    [...holdings, refund.address],
    'confirmed',
    signal,
  );
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
  const lamports = await trialLamports(watch, signal);
  return held >= amount && BigInt(Math.floor(accounts[2]?.lamports ?? 0)) >= lamports;
}

const native = 'SOL, in lamports';
