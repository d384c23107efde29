// All that is looked at before a Solana token may be listed, in order, on what the chain shows. At
// last it goes through our escrow, funded by its largest holder, in an unsigned simulation.

import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  type Finding,
  found,
  type Inspection,
  type PowerRules,
  passed,
} from '@parley/tokens/inspection.ts';
import { cleanText } from '@parley/tokens/text.ts';
import { isOnCurve, solanaAddressBytes, solanaAddressOf } from './address.ts';
import {
  checkAuthorities,
  checkExtensions,
  checkMint,
  type Mint,
  mostMintBytes,
  readMintAt,
} from './checks/mint.ts';
import { checkName, metadataAddress, readNames } from './checks/name.ts';
import { type Account, accountsAt, chainClock, largestHoldings } from './node.ts';
import { reasonOf, trialLamports, tryFundAndClaim } from './preflight.ts';
import { associatedTokenAccount, systemProgram } from './programs.ts';
import { isGuarded, readHolding } from './tokens.ts';
import type { Watch } from './watch.ts';

export async function inspect(
  watch: Watch,
  token: string,
  rules: PowerRules,
  signal: AbortSignal,
): Promise<Inspection> {
  const { rpc, chain } = watch;
  const both = [token, metadataAddress(token)];
  const { accounts } = await accountsAt(rpc, both, 'confirmed', signal, mostMintBytes + 1);
  const mint = readMintAt(chain, token, accounts[0] ?? null);
  const named = readNames(mint, accounts[1] ?? null);
  const itself = [checkMint(mint), checkExtensions(mint)];
  const findings = [...itself, ...checkAuthorities(mint, rules), checkName(named)];
  // A zero supply cannot be tried; and a trial meets every refusal of the program too.
  if (itself.every(({ outcome }) => outcome === 'pass')) {
    findings.push(await checkTransfer(watch, mint, signal));
  }
  const { symbol, name } = typeof named === 'string' ? { symbol: '', name: '' } : named;
  return { address: token, symbol, name, decimals: mint.decimals, findings };
}

/** A token account and all extensions that one can have. */
const mostHoldingBytes = 1_024;
const mostReason = 200;

/** An address of no known key: its holder could make a token account that takes nothing. */
const nobody = (() => {
  for (let count = 0; ; count += 1) {
    const key = sha256(utf8ToBytes(`parley trial payout ${count}`));
    if (isOnCurve(key)) return solanaAddressOf(key);
  }
})();

type At = Pick<Watch, 'chain' | 'rpc' | 'deployment'>;
type Holder = { readonly wallet: string; readonly amount: bigint };

/** Without such a holder the token passes: the token programs treat all such mints alike. */
export async function checkTransfer(watch: At, mint: Mint, signal: AbortSignal): Promise<Finding> {
  const { chain } = watch;
  const holder = await largestHolder(watch, mint, signal);
  if (holder === null) return passed('transfer');
  const terms = {
    chain,
    payout: { address: nobody, pubkey: null },
    refund: { address: holder.wallet, pubkey: null },
    token: mint.address,
    amount: holder.amount,
  };
  const clock = await chainClock(watch.rpc, signal);
  const trial = await tryFundAndClaim(watch, terms, { program: mint.program, clock }, signal);
  if (trial === null) return passed('transfer');
  const said = cleanText(reasonOf(watch, trial), mostReason);
  const what = `a trial of ${holder.amount} base units of ${holder.wallet} in an escrow failed`;
  return found('transfer', 'wait', `${what}: ${said}`);
}

/** A wallet that holds it where wallets do, can let it go, and could pay for the trial. */
async function largestHolder(watch: At, mint: Mint, signal: AbortSignal): Promise<Holder | null> {
  const { rpc } = watch;
  const largest = (await largestHoldings(rpc, mint.address, signal)) ?? [];
  if (largest.length === 0) return null;
  const holdings = await accountsAt(rpc, largest, 'confirmed', signal, mostHoldingBytes);
  const holders = holdings.accounts.flatMap((account, at) => {
    const holder = holderOf(account, largest[at] ?? '', mint);
    return holder === null ? [] : [holder];
  });
  if (holders.length === 0) return null;
  const wallets = holders.map(({ wallet }) => wallet);
  const { accounts } = await accountsAt(rpc, wallets, 'confirmed', signal, 1);
  const least = await trialLamports(watch, signal);
  return holders.find((_, at) => isWallet(accounts[at] ?? null, least)) ?? null;
}

function holderOf(account: Account | null, at: string, mint: Mint): Holder | null {
  if (account === null || account.data.length < 64) return null;
  const wallet = solanaAddressOf(account.data.subarray(32, 64));
  const { address, program } = mint;
  const read = readHolding(account, { mint: address, owner: wallet, program });
  if (read === null || typeof read === 'string' || read.amount === 0n) return null;
  if (isGuarded(account) || !isOnCurve(solanaAddressBytes(wallet))) return null;
  if (associatedTokenAccount(wallet, address, program) !== at) return null;
  return { wallet, amount: read.amount };
}

function isWallet(account: Account | null, leastLamports: bigint): boolean {
  if (account === null || account.executable || account.owner !== systemProgram) return false;
  // A nonce account belongs to the system program too, and holds data.
  return account.data.length === 0 && BigInt(Math.floor(account.lamports)) >= leastLamports;
}
