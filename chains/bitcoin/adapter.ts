// The Bitcoin chain behind the one interface every chain keeps: reads escrows through an index
// that follows a Core node or an Esplora server, and builds unsigned payments, claims and refunds.

import { larger } from '../../core/amounts.ts';
import { ParleyError } from '../../core/errors.ts';
import { opens, type Secret } from '../../core/hashlock.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { About, BuildInput, SpendInput } from '../interface/building.ts';
import type { Warning } from '../interface/gas.ts';
import type { BtcSighash, Signed } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { ReadTransaction, Touch } from '../interface/sending.ts';
import type { Care } from '../interface/turns.ts';
import { type Watching, watching } from '../kit/watching.ts';
import { isRefusal, type Offers, offersTo } from '../nodes/offers.ts';
import { mustAgreeOnFunding, mustAgreeOnHeads } from './agreement.ts';
import type { BitcoinBackend } from './backend.ts';
import { assembledWith } from './careful.ts';
import { bitcoinContract } from './contract.ts';
import { coreBackend } from './core-backend.ts';
import { type EscrowHistory, fundingPayment } from './escrow-facts.ts';
import {
  applyTransaction,
  historyOf,
  involvement,
  isWitnessScriptHash,
  takeTouched,
} from './escrow-index.ts';
import { esploraBackend } from './esplora-backend.ts';
import { currentEstimate, type EstimateCache } from './fee-estimates.ts';
import { refundDeadline } from './fee-ladder.ts';
import {
  type Conflict,
  defaultFeeBounds,
  type FeeBounds,
  feeAt,
  ladderRate,
  rateOf,
} from './fees.ts';
import {
  createFollower,
  type Follower,
  follow,
  followOnce,
  followToEnd,
  type Log,
  unfollow,
} from './follower.ts';
import { hashlocksOf } from './hashlocks.ts';
import {
  type BitcoinNetwork,
  type BitcoinNetworkName,
  bitcoinNetworks,
  dustSats,
  parseBitcoinAddress,
  witnessScriptHashAddress,
} from './networks.ts';
import { bitcoinEscrow, escrowBytes, maxSats, paymentUri, spendVsize, vsizeOf } from './plan.ts';
import { bitcoinPolicies, fallbackRates } from './policy.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
import { look } from './read.ts';
import { scheduledRefunds } from './scheduled.ts';
import { claimable, refundable, rivals, type SpendRequest, spend } from './spending.ts';
import { isYoung, stuckFunding, stuckSentence } from './stuck-funding.ts';

/** Where the chain is read: a Core node, an Esplora server, or a backend made by the caller. */
export type BitcoinSource =
  | { readonly coreUrl: string; readonly cookiePath?: string; readonly timeMs?: number }
  | { readonly esploraUrl: string; readonly timeMs?: number }
  | { readonly backend: BitcoinBackend };

export type BitcoinAdapterOptions = {
  readonly chain: string;
  readonly network: BitcoinNetworkName;
  readonly source: BitcoinSource;
  /** Another source of the same chain, which must agree before anyone funds or reveals. */
  readonly second?: BitcoinSource;
  readonly policy?: ChainPolicy;
  readonly feeBounds?: FeeBounds;
  /** Unix seconds. */
  readonly now: () => number;
  readonly log?: Log;
};

type Context = {
  readonly chain: string;
  readonly network: BitcoinNetwork;
  readonly bounds: FeeBounds;
  readonly now: () => number;
  readonly follower: Follower;
  readonly second: Follower | null;
  readonly estimates: EstimateCache;
  readonly offers: Offers;
  readonly keeping: Watching['keeping'];
};

function backendOf(
  source: BitcoinSource,
  network: BitcoinNetwork,
  now: () => number,
): BitcoinBackend {
  if ('backend' in source) return source.backend;
  const limits = source.timeMs === undefined ? {} : { limits: { timeMs: source.timeMs } };
  if ('esploraUrl' in source) {
    return esploraBackend({ url: source.esploraUrl, network, now, ...limits });
  }
  const { coreUrl: url, cookiePath } = source;
  return coreBackend({
    url,
    network,
    now,
    ...limits,
    ...(cookiePath === undefined ? {} : { cookiePath }),
  });
}

export type BitcoinAdapter = ChainAdapter & {
  /**
   * Throws `sources_disagree` when a second source is configured and shows another chain, or this
   * escrow funded otherwise: for gates that fund or reveal on another chain by what this one shows.
   */
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
};

export function bitcoinAdapter(options: BitcoinAdapterOptions): BitcoinAdapter {
  const { chain, now } = options;
  const network = bitcoinNetworks[options.network];
  const backend = backendOf(options.source, network, now);
  const bounds = options.feeBounds ?? defaultFeeBounds;
  const fallbackRate = fallbackRates[network.name];
  const estimates = { backend, bounds, now, fallbackRate, last: null };
  const second =
    options.second === undefined
      ? null
      : createFollower(backendOf(options.second, network, now), now, options.log);
  const follower = createFollower(backend, now, options.log, second?.backend ?? null);
  const offers = offersTo({ chain, sources: second === null ? 1 : 2, rounds: 1 });
  const { methods, keeping } = watching(
    {
      keep: (escrow) => keep(context, escrow),
      drop: (address) => {
        unfollow(follower, address);
        if (second !== null) unfollow(second, address);
      },
      owe: (address) => follower.index.touched.add(address),
    },
    {
      changes: async (signal) => {
        const { heads } = await followOnce(follower, null, signal);
        return { touched: takeTouched(follower.index), heads };
      },
      look: (escrows, signal) => look(follower, escrows, signal),
    },
  );
  const places = { chain, network, follower, second, estimates, offers };
  const context: Context = { ...places, bounds, now, keeping };
  return {
    chain,
    family: 'bitcoin',
    policy: options.policy ?? bitcoinPolicies[network.name],
    contract: bitcoinContract,
    parseAddress: (text) => parseBitcoinAddress(text, network).address,
    plan: (terms) => bitcoinEscrow(terms, network),
    ...methods,
    hashlocks: hashlocksOf(chain, backend),
    preflight: (terms, about, signal) => preflight(context, terms, about, signal),
    buildFund: async ({ escrow }, signal) => {
      if (second !== null) await mustAgreeOnHeads(follower, second, signal);
      return payment(context, escrow);
    },
    buildClaim: (input, secret, signal) => buildClaim(context, input, secret, signal),
    mustAgree: (escrow, signal) => mustAgree(context, escrow, signal),
    buildRefund: (input, signal) => buildRefund(context, input, signal),
    readSigned: (signed, signal, care) => readSigned(context, signed, signal, care),
    broadcast: (transaction, signal) => broadcast(context, transaction, signal),
    isKnown: (transaction, signal) => isKnown(context, transaction, signal),
    stuckFunding: (escrow, sendBy, signal) => stuckWarning(context, escrow, sendBy, signal),
    scheduledRefunds: scheduledRefunds({
      network,
      bounds,
      backend,
      second: second && { ...second.backend, learn: (tx) => learn(follower, tx) },
      now,
      estimate: (signal) => currentEstimate(estimates, signal),
      history: (escrow, signal) => history(context, escrow, signal),
    }),
    checkAmount: (token, amount, signal) => checkAmount(context, token, amount, signal),
    close: async () => offers.close(),
  };
}

/** The escrow's address must be that of its terms: an index of another address would never fill. */
function keep(
  { follower, second, network }: Pick<Context, 'follower' | 'second' | 'network'>,
  escrow: WatchedEscrow,
): void {
  const bytes = escrowBytes(escrow.terms, network);
  if (bytes.address !== escrow.address) {
    throw new ParleyError(
      'unknown_escrow',
      `the terms give the escrow ${bytes.address}, not ${escrow.address}`,
      { escrow: escrow.address, derived: bytes.address },
    );
  }
  follow(follower, escrow, bytes);
  if (second !== null) follow(second, escrow, bytes);
}

async function mustAgree(
  context: Context,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const { follower, second } = context;
  if (second === null) return;
  await context.keeping([escrow], async () => {
    await mustAgreeOnHeads(follower, second, signal);
    await mustAgreeOnFunding(follower, second, escrow, signal);
  });
}

function history(
  { follower, keeping }: Context,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<{ readonly history: EscrowHistory; readonly clock: number }> {
  const { address } = escrow;
  return keeping([escrow], async () => {
    const { clock } = await followToEnd(follower, address, signal);
    return { history: historyOf(follower.index, address), clock };
  });
}

async function stuckWarning(
  context: Context,
  escrow: WatchedEscrow,
  sendBy: number,
  signal: AbortSignal,
): Promise<Warning | null> {
  const { address, terms } = escrow;
  const { history: seen } = await history(context, escrow, signal);
  const funding = fundingPayment(seen, terms.amount);
  if (funding === null || funding.height !== null) return null;
  const { backend } = context.follower;
  const now = context.now();
  const entry = await backend.mempoolEntry(funding.txid, signal);
  if (entry === null || isYoung(entry, now)) return null;
  const raw = await backend.rawOf(funding.txid, null, signal);
  if (raw === null) return null;
  const changeOutputs = [...parseTx(raw).outputs.keys()].filter((vout) => vout !== funding.vout);
  const estimate = await currentEstimate(context.estimates, signal);
  // Who answers these no more is not asked in vain: it is told with what is known.
  const { isWhole = true, ...ancestors } =
    (await backend.ancestors?.(funding.txid, signal).catch(() => ({ isWhole: false }))) ?? {};
  const about = { entry: { ...entry, ...ancestors }, changeOutputs, estimate };
  const stuck = stuckFunding({ ...about, now, sendBy });
  if (stuck === null) return null;
  const sentence = stuckSentence(stuck, isWhole);
  return { code: 'fund_stuck', verb: 'fund', address, sentence, stuck };
}

function payment({ chain }: Context, { address, terms }: WatchedEscrow) {
  return {
    chain,
    family: 'bitcoin',
    sign: 'btc-payment',
    payTo: address,
    amountSats: terms.amount.toString(),
    uri: paymentUri(address, terms.amount),
    escrow: address,
  } as const;
}

async function buildClaim(
  context: Context,
  input: SpendInput,
  secret: Secret,
  signal: AbortSignal,
): Promise<BtcSighash> {
  const { escrow } = input;
  // It comes into the witness only when the claim is signed; a wrong one must not get that far.
  if (!opens(secret, escrow.terms.hashlock)) {
    throw new ParleyError('wrong_secret', `sha256(secret) is not ${escrow.terms.hashlock}`, {});
  }
  const { history: seen, clock } = await history(context, escrow, signal);
  const taken = claimable(seen, escrow.terms, escrow.address);
  // A public secret can no longer be kept: only haste helps then.
  if (!input.isPublic && seen.secret === null) await mustAgree(context, escrow, signal);
  // The chain's clock, where it is ahead, makes the deadline nearer.
  const ahead = Math.max(0, clock - context.now());
  const deadline = escrow.terms.timelock - ahead;
  return build(context, input, { verb: 'claim', payments: [taken], deadline }, signal);
}

async function buildRefund(
  context: Context,
  input: SpendInput,
  signal: AbortSignal,
): Promise<BtcSighash> {
  const { history: seen } = await history(context, input.escrow, signal);
  const taken = refundable(seen, input.escrow.address);
  const now = context.now();
  // Whoever holds a public secret may claim until the refund is mined.
  const { timelock } = input.escrow.terms;
  const isPublic = input.isPublic || seen.secret !== null;
  const deadline = isPublic ? now : refundDeadline(timelock, now);
  return build(context, input, { verb: 'refund', payments: taken, deadline }, signal);
}

async function build(
  context: Context,
  { escrow, feeRateSatPerVbyte }: BuildInput,
  { verb, payments, deadline }: Pick<SpendRequest, 'verb' | 'payments' | 'deadline'>,
  signal: AbortSignal,
): Promise<BtcSighash> {
  const { network, bounds, follower, estimates, chain } = context;
  const conflicts: Conflict[] = [];
  for (const txid of rivals(payments)) {
    const entry = await follower.backend.mempoolEntry(txid, signal);
    if (entry !== null) conflicts.push(entry);
  }
  const built = spend({
    verb,
    terms: escrow.terms,
    network,
    payments,
    conflicts,
    estimate: await currentEstimate(estimates, signal),
    bounds,
    now: context.now(),
    deadline,
    wantedRate: feeRateSatPerVbyte,
  });
  return {
    chain,
    family: 'bitcoin',
    sign: 'btc-sighash',
    psbtBase64: built.psbtBase64,
    sighashHexes: built.sighashHexes,
    escrow: escrow.address,
    feeSats: built.feeSats.toString(),
    feeRateSatPerVbyte: rateOf(built.feeSats, built.vsize),
    ladder: built.ladder.map((step) => ({ ...step, feeSats: step.feeSats.toString() })),
  };
}

async function readSigned(
  context: Context,
  signed: Signed,
  signal: AbortSignal,
  care: Care | undefined,
): Promise<ReadTransaction> {
  const { follower, network } = context;
  if (typeof signed !== 'string' && !('psbtBase64' in signed)) {
    throw new ParleyError('bad_transaction', 'not a Bitcoin transaction: neither hex nor a PSBT');
  }
  const raw =
    typeof signed === 'string'
      ? signed.toLowerCase()
      : (await assembledWith(care, network, signed, signal)).raw;
  const tx = parseTx(raw);
  const scripts = tx.outputs.map(({ script }) => script).filter(isWitnessScriptHash);
  const pays = new Set(scripts.map((script) => witnessScriptHashAddress(script, network)));
  return { txid: tx.txid(), raw, touches: touchesOf(follower, tx), pays: [...pays] };
}

/** Takes a claim in that another source has, if it is one of an escrow that is followed. */
function learn({ index }: Follower, tx: Tx): boolean {
  const spends = involvement(index, tx)?.spends ?? [];
  const isClaim = spends.some(({ secret }) => secret !== null);
  if (isClaim) applyTransaction(index, tx, null);
  return isClaim;
}

function touchesOf({ index }: Follower, tx: Tx): Touch[] {
  const found = involvement(index, tx);
  const touches = new Map<string, Touch>();
  for (const { address: escrow } of found?.payments ?? []) {
    touches.set(`fund ${escrow}`, { escrow, verb: 'fund', secret: null });
  }
  for (const { address: escrow, secret } of found?.spends ?? []) {
    const verb = secret === null ? 'refund' : 'claim';
    touches.set(`${verb} ${escrow}`, { escrow, verb, secret });
  }
  return [...touches.values()];
}

/** To both sources: the first that takes it, or has it, is the answer. */
async function broadcast(
  { follower, second, offers }: Context,
  transaction: ReadTransaction,
  signal: AbortSignal,
): Promise<string> {
  const { index } = follower;
  const { txid, raw, touches } = transaction;
  if (index.records.get(txid)?.height != null) return txid;
  const backendAt = (at: number) => (at === 0 || second === null ? follower : second).backend;
  let refusal: unknown = null;
  const give = async (at: number, until: AbortSignal) => {
    try {
      await backendAt(at).send(raw, txid, until);
    } catch (error) {
      if (at === 0 && isRefusal(error)) refusal = error;
      throw error;
    }
  };
  const taker = await offers
    .toAll({ name: 'a transaction', txid, give }, signal)
    .catch((error: unknown) => {
      // A second source that is silent holds up no claim or refund: another is signed at once.
      const isFunding = touches.some(({ verb }) => verb === 'fund');
      throw refusal === null || isFunding ? error : refusal;
    });
  // The node took it, so a secret in it is public from now on. A node that has the same txid with
  // another witness takes these bytes without a word and keeps its own.
  const kept = await backendAt(taker)
    .rawOf(txid, null, signal)
    .catch(() => null);
  applyTransaction(index, parseTx(kept ?? raw), null);
  return txid;
}

/** By the bytes: a txid leaves the witness out, and with it the secret. */
async function isKnown(
  { follower: { index, backend } }: Context,
  { txid, raw }: ReadTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  const height = index.records.get(txid)?.height ?? null;
  return (await backend.rawOf(txid, height, signal)) === raw;
}

async function checkAmount(
  { estimates }: Context,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  if (token !== null) {
    throw new ParleyError('bad_asset', `Bitcoin has no token ${token}`, { token });
  }
  if (amount > maxSats) {
    const sentence = `${amount} sats are more than the 21 million coins there will ever be`;
    throw new ParleyError('bad_amount', sentence, { amount });
  }
  const rate = ladderRate(await currentEstimate(estimates, signal), 0);
  const least = leastAmount(rate, estimates.bounds);
  if (amount >= least) return;
  throw new ParleyError(
    'amount_too_small',
    `${amount} sats are too little for Bitcoin now: at ${rate} sat per vbyte a claim needs at ` +
      `least ${least} sats`,
    { amount, least },
  );
}

/** The longest script has a 4-byte timelock; the longest destination is P2WSH or P2TR. */
const claimVsize = spendVsize('claim', 1, 119, 34);

/** Least amount whose claim is neither dust nor above the fee's share of the value. */
function leastAmount(rate: number, bounds: FeeBounds): bigint {
  const fee = feeAt(claimVsize, Math.min(rate, bounds.capSatPerVbyte));
  const byShare = (fee * 10_000n + bounds.capShareBps - 1n) / bounds.capShareBps;
  const byDust = fee + dustSats.p2pkh;
  return larger(byShare, byDust);
}

async function preflight(
  context: Context,
  terms: EscrowTerms,
  about: About,
  signal: AbortSignal,
): Promise<void> {
  const code = about === 'funding' ? 'funding_would_fail' : 'payout_would_fail';
  vsizeOf(terms, context.network, 'claim', 1);
  vsizeOf(terms, context.network, 'refund', 1);
  try {
    await checkAmount(context, terms.token, terms.amount, signal);
  } catch (cause) {
    if (!(cause instanceof ParleyError) || cause.code !== 'amount_too_small') throw cause;
    throw new ParleyError(code, cause.message, cause.facts, { cause });
  }
}
