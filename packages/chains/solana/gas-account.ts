// An operator's gas key on a Solana cluster: fee payer of claims and refunds. It makes the
// receiver's token account where missing, whose rent is part of `mostCost` and its owner's.

import { ed25519 } from '@noble/curves/ed25519.js';
import { larger, smaller } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base58, base64 } from '@scure/base';
import type { GasAccount, GasOutcome, GasSlot, GasTransaction } from '../gas/account.ts';
import type { GasKey } from '../gas/keys.ts';
import { type GasParts, gasAccountOf, mortalOutcome } from '../gas/kit.ts';
import {
  aboveLimit,
  mustOpen,
  payeeOf,
  presentMultiple,
  type Settling,
  settling,
} from '../gas/work.ts';
import { wouldFail } from '../kit/would-fail.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { oneSource } from '../nodes/sources.ts';
import type { SolanaAdapter } from './adapter.ts';
import { isPlain, whatIs } from './builders.ts';
import { missingRent } from './fees.ts';
import { readTransaction } from './message.ts';
import {
  accountsAt,
  chainClock,
  heldIn,
  latestBlockhash,
  recentPrices,
  rentFor,
  simulate,
  statusOf,
  transactionOf,
} from './node.ts';
import {
  addedRent,
  decodeInstruction,
  type SolanaDeployment,
  solanaDeployment,
  solanaEscrow,
  solanaTransaction,
  unitLimits,
  type Wanted,
} from './plan.ts';
import { blockhashBlocks, type SolanaGasPolicy } from './policy.ts';
import { reasonOf, tokenProgramOf } from './preflight.ts';
import { signatureLamports, usualPrice } from './prices.ts';
import {
  associatedTokenAccount,
  associatedTokenProgram,
  computeBudgetProgram,
  systemProgram,
  type TokenProgram,
  token2022Program,
} from './programs.ts';
import { solanaAddressOfSeed } from './proof.ts';
import { stateOf } from './read.ts';

export type SolanaGasOptions = {
  readonly key: GasKey;
  readonly adapter: SolanaAdapter;
  readonly policy: SolanaGasPolicy;
  readonly deployment?: SolanaDeployment;
};

type Moving = Exclude<Wanted, { readonly verb: 'fund' | 'release' }>;

type Account = {
  readonly options: SolanaGasOptions;
  readonly address: string;
  readonly rpc: SolanaAdapter['node'];
  readonly chain: string;
  readonly deployment: SolanaDeployment;
};

const native = 'SOL, in lamports';
/** At 1.2 s a block, three times as long as any should take. */
const lifeSeconds = 1.2 * blockhashBlocks;

export function createSolanaGasAccount(options: SolanaGasOptions): GasAccount {
  return gasAccountOf(options, 'solana', () => partsOf(options));
}

function partsOf(options: SolanaGasOptions): GasParts<Settling> {
  const { adapter, key, deployment = solanaDeployment } = options;
  const { chain, node: rpc } = adapter;
  const address = solanaAddressOfSeed(key.bytes());
  const account: Account = { options, address, rpc, chain, deployment };
  return {
    address,
    escrowOf: (terms) => solanaEscrow(terms, deployment),
    able: (work) => settling(chain, work),
    balance: (signal) => balanceOf(account, signal),
    reserve: (work, signal) => reserve(account, work, signal),
    quote: (work, signal) => quote(account, work, signal),
    sign: (work, slot, signal) => sign(account, work, slot, signal),
    outcome: (sent, signal) => outcomeOf(rpc, sent, signal),
    costAt: (at, txid, signal) => costBy(oneSource(rpc, at), address, txid, signal),
  };
}

async function balanceOf({ rpc, address }: Account, signal: AbortSignal): Promise<bigint> {
  const { accounts } = await accountsAt(rpc, [address], 'confirmed', signal);
  return BigInt(Math.floor(accounts[0]?.lamports ?? 0));
}

async function quote(account: Account, work: Settling, signal: AbortSignal): Promise<bigint> {
  const mostCost = await balanceOf(account, signal);
  if (work.verb !== 'claim' || work.isPublic) {
    const { cost } = await weighed(account, work, { mostCost }, signal);
    return cost.mostCost;
  }
  // All that could be tried is the payment, which tells nothing of the price.
  const [{ missing }, program] = await Promise.all([
    wantedOf(account, work, signal),
    programOf(account, work, signal),
  ]);
  const rent = await holdingRent(account, work, program, signal);
  const cost = await costOf(account, work, rent + missing.bare, { mostCost }, signal);
  return cost.mostCost;
}

async function sign(account: Account, work: Settling, slot: GasSlot, signal: AbortSignal) {
  const { unsigned, cost, diesAt } = await weighed(account, work, slot, signal);
  const { txid, raw } = signedWith(account, unsigned);
  return {
    txid,
    raw,
    nonce: null,
    offer: cost.unitPrice,
    mostCost: cost.mostCost,
    diesAt,
  };
}

/** Its unsigned transaction, tried, and what it may cost. */
async function weighed(
  account: Account,
  work: Settling,
  slot: Pick<GasSlot, 'mostCost'>,
  signal: AbortSignal,
) {
  const { rpc, deployment, address } = account;
  const { terms } = work;
  mustOpen(work);
  const { wanted, missing } = await wantedOf(account, work, signal);
  const tokenProgram = await programOf(account, work, signal);
  const rent = await holdingRent(account, work, tokenProgram, signal);
  // The funder paid from one, and can send its refund itself.
  const withoutHolding = work.verb === 'refund';
  if (withoutHolding && rent > 0n) {
    const reason = 'there is no account of the token, and a refund makes none';
    throw wouldFail(terms, native, 'payout', payeeOf(work), reason);
  }
  // Before it is tried: a key that cannot pay makes every trial fail.
  const cost = await costOf(account, work, rent + missing.bare, slot, signal);
  const { blockhash } = await latestBlockhash(rpc, 'confirmed', signal);
  const diesAt = (await chainClock(rpc, signal)) + lifeSeconds;
  const circumstances = { tokenProgram, blockhash, unitPrice: cost.unitPrice, withoutHolding };
  const make = (what: Moving) => {
    const isBare = what.verb === 'claim' && what.withoutRefund === true;
    const added = { ...circumstances, missingRent: isBare ? missing.bare : missing.whole };
    return solanaTransaction(terms, deployment, what, added, address);
  };
  const unsigned =
    work.verb === 'claim' && !work.isPublic
      ? make(await unseen(account, work, signal))
      : await tried(account, work, wanted, make, signal);
  mustBeOwn(account, work, unsigned, { program: tokenProgram, mostAdded: missing.bare });
  return { unsigned, cost, diesAt };
}

/** Lamports that each form of a claim adds when the rent has risen. The bare form adds the most. */
type Missing = { readonly whole: bigint; readonly bare: bigint };
const nothingMissing: Missing = { whole: 0n, bare: 0n };

/** The verb, and what a rise of the rent adds to it. Throws `nothing_there`. */
async function wantedOf(
  account: Account,
  work: Settling,
  signal: AbortSignal,
): Promise<{ readonly wanted: Moving; readonly missing: Missing }> {
  const { terms } = work;
  const { address } = solanaEscrow(terms, account.deployment);
  const shown = await stateOf(account, { address, terms }, 'confirmed', signal);
  if (shown.state?.status === 'open') {
    if (work.verb === 'refund') {
      return { wanted: { verb: 'refund', afterClaim: false }, missing: nothingMissing };
    }
    const { lamports } = shown;
    const lacks = (withoutRefund: boolean) =>
      missingRent(account, terms, { lamports, withoutRefund }, signal);
    const [whole, bare] = await Promise.all([lacks(false), lacks(true)]);
    return { wanted: { verb: 'claim', secret: work.secret }, missing: { whole, bare } };
  }
  const sentence = `the escrow ${address} on ${account.chain} ${whatIs(shown, terms)}`;
  throw new ParleyError('nothing_there', sentence, { escrow: address });
}

async function programOf(account: Account, work: Settling, signal: AbortSignal) {
  try {
    return await tokenProgramOf(account, work.terms, signal);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'bad_asset') throw error;
    throw wouldFail(work.terms, native, 'payout', payeeOf(work), error.message);
  }
}

/** Throws `payout_would_fail` where no form of it works; a funder cannot stop a claim. */
async function tried(
  account: Account,
  work: Settling,
  wanted: Moving,
  make: (what: Moving) => string,
  signal: AbortSignal,
): Promise<string> {
  const whole = make(wanted);
  const failure = await simulate(account.rpc, whole, signal);
  if (failure === null) return whole;
  if (wanted.verb === 'claim') {
    const short = make({ ...wanted, withoutRefund: true });
    if ((await simulate(account.rpc, short, signal)) === null) return short;
  }
  throw wouldFail(work.terms, native, 'payout', payeeOf(work), reasonOf(account, failure));
}

/** A secret that no chain has shown goes to no node: the payment is tried without it. */
async function unseen(
  account: Account,
  { terms, secret }: Extract<Settling, { readonly verb: 'claim' }>,
  signal: AbortSignal,
): Promise<Moving> {
  const { rpc, options } = account;
  if ((await chainClock(rpc, signal)) >= terms.timelock) {
    const reason = `its timelock ${terms.timelock} has passed`;
    throw wouldFail(terms, native, 'payout', terms.payout.address, reason);
  }
  await options.adapter.preflight(terms, 'claim', signal);
  const withoutRefund = !(await isPlain(account, terms.refund.address, signal));
  return { verb: 'claim', secret, withoutRefund };
}

/**
 * Bytes of classic token accounts, and of Token-2022's, which write down that an owner does not
 * change.
 */
const holdingBytes = { classic: 165, token2022: 170 } as const;

/** The cost of the receiver's token account; 0 where it exists. */
async function holdingRent(
  { rpc }: Account,
  work: Settling,
  program: TokenProgram | null,
  signal: AbortSignal,
): Promise<bigint> {
  const { token } = work.terms;
  if (token === null || program === null) return 0n;
  const holding = associatedTokenAccount(payeeOf(work), token, program);
  const { accounts } = await accountsAt(rpc, [holding], 'confirmed', signal);
  if ((accounts[0]?.data.length ?? 0) > 0) return 0n;
  return rentFor(rpc, bytesOf(program), signal);
}

const bytesOf = (program: TokenProgram) =>
  program === token2022Program ? holdingBytes.token2022 : holdingBytes.classic;

const limitOf = ({ terms }: Settling) =>
  BigInt(terms.token === null ? unitLimits.sol : unitLimits.token);
const millionth = 1_000_000n;
const speedOf = (limit: bigint, unitPrice: bigint) =>
  (limit * unitPrice + millionth - 1n) / millionth;

/** Throws `fee_above_limit`, also where the key itself has less. */
async function costOf(
  account: Account,
  work: Settling,
  rent: bigint,
  slot: Pick<GasSlot, 'mostCost'>,
  signal: AbortSignal,
): Promise<{ readonly unitPrice: bigint; readonly mostCost: bigint }> {
  const { rpc, chain, deployment, options } = account;
  const { leastUnitPrice } = options.policy;
  const { address: escrow } = solanaEscrow(work.terms, deployment);
  const wanted = await offerPrice({ rpc, terms: work.terms, signal }, escrow, options.policy);
  const limit = limitOf(work);
  // A fee must not leave the key's own account with less than its rent.
  const has = (await balanceOf(account, signal)) - (await rentFor(rpc, 0, signal));
  const most = smaller(slot.mostCost, has);
  const fixed = signatureLamports + rent;
  const affordable = most > fixed ? ((most - fixed) * millionth) / limit : 0n;
  if (most < fixed || affordable < leastUnitPrice) {
    const cost = fixed + speedOf(limit, leastUnitPrice);
    throw aboveLimit(chain, 'lamports', cost, most);
  }
  const unitPrice = smaller(wanted, affordable);
  return { unitPrice, mostCost: fixed + speedOf(limit, unitPrice) };
}

async function reserve(account: Account, work: Settling, signal: AbortSignal): Promise<bigint> {
  const { rpc, options } = account;
  const program = await programOf(account, work, signal);
  const usual = await placePrice({ rpc, terms: work.terms, signal });
  const price = larger(options.policy.reserveUnitPrice, presentMultiple * usual);
  // It may be closed until then, and the key's own rent stays in its account.
  const rents = [await rentFor(rpc, 0, signal)];
  if (program !== null) rents.push(await rentFor(rpc, bytesOf(program), signal));
  const fee = signatureLamports + speedOf(limitOf(work), price);
  return rents.reduce((sum, each) => sum + each, fee);
}

/** By the bytes: signed by the key, this verb of this escrow, its rent, budget, token account. */
function mustBeOwn(
  { address, deployment }: Account,
  work: Settling,
  unsigned: string,
  { program, mostAdded }: { readonly program: TokenProgram | null; readonly mostAdded: bigint },
): void {
  const { terms, verb } = work;
  const shown = readTransaction(unsigned);
  const { signers, keys, lookups, instructions } = shown;
  const { address: escrow } = solanaEscrow(terms, deployment);
  let own = 0;
  const isOurs = instructions.every((each) => {
    const accounts = each.accounts.map((at) => keys[at] ?? null);
    switch (each.program) {
      case computeBudgetProgram:
        return accounts.length === 0;
      case associatedTokenProgram: {
        if (terms.token === null || program === null) return false;
        const holding = associatedTokenAccount(payeeOf(work), terms.token, program);
        return each.data.length === 1 && each.data[0] === 1 && accounts[1] === holding;
      }
      case systemProgram: {
        const added = addedRent(shown);
        const isFirst = each === instructions.find(({ program: of }) => of === systemProgram);
        return isFirst && added > 0n && added <= mostAdded && accounts[1] === escrow;
      }
      case deployment.program: {
        own += 1;
        const decoded = decodeInstruction(each.data, accounts);
        return decoded?.verb === verb && decoded.escrow === escrow;
      }
      default:
        return false;
    }
  });
  if (isOurs && own === 1 && signers === 1 && keys[0] === address && lookups.length === 0) return;
  throw new Error('a gas key signs only claims and refunds of the escrow program');
}

function signedWith({ options }: Account, unsigned: string) {
  const bytes = base64.decode(unsigned);
  const signature = ed25519.sign(readTransaction(unsigned).message, options.key.bytes());
  bytes.set(signature, 1);
  return { txid: base58.encode(signature), raw: base64.encode(bytes) };
}

function outcomeOf(
  rpc: Rpc,
  { txid, diesAt }: Pick<GasTransaction, 'txid' | 'diesAt'>,
  signal: AbortSignal,
): Promise<GasOutcome> {
  const seen = (one: Rpc) => outcomeSeen(one, txid, signal);
  const finalClock = () => chainClock(rpc, signal, 'finalized');
  // Nodes tell of no transaction that waits.
  const waits = async () => false;
  return mortalOutcome(rpc, diesAt, { seen, finalClock, waits }, signal);
}

async function outcomeSeen(
  rpc: Rpc,
  txid: string,
  signal: AbortSignal,
): Promise<GasOutcome | null> {
  const status = await statusOf(rpc, txid, signal);
  if (status === null) return null;
  if (status.failed) return 'failed';
  return status.finalized ? 'deep' : 'mined';
}

/** Lamports that left the payer's account, fee and rents, by one node. */
async function costBy(
  one: Rpc,
  own: string,
  txid: string,
  signal: AbortSignal,
): Promise<bigint | null> {
  const transaction = await transactionOf(one, txid, signal);
  if (transaction === null || !('read' in transaction)) return null;
  const held = heldIn(transaction, own, false);
  return held === null || held.after > held.before ? null : held.before - held.after;
}

type Asked = { readonly rpc: Rpc; readonly terms: EscrowTerms; readonly signal: AbortSignal };

/** Three of four blocks took this or less, by the cheapest in each: no stranger makes that dear. */
async function placePrice({ rpc, terms, signal }: Asked): Promise<bigint> {
  return usualPrice(terms, await recentPrices(rpc, [], signal));
}

/** Also the escrow's price: the price of three in four blocks, up to the reserve. */
async function offerPrice(
  asked: Asked,
  escrow: string,
  { leastUnitPrice, reserveUnitPrice }: SolanaGasPolicy,
): Promise<bigint> {
  const { rpc, signal } = asked;
  const [place, prices] = await Promise.all([
    placePrice(asked),
    recentPrices(rpc, [escrow], signal),
  ]);
  const here = prices[Math.floor(prices.length / 4)] ?? 0n;
  return larger(smaller(here, reserveUnitPrice), larger(place, leastUnitPrice));
}
