// The Bitcoin chain behind the one interface: escrows through a follower, unsigned transactions.

import { ParleyError } from '@parley/core/errors.ts';
import { opens } from '@parley/core/hashlock.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ChainAdapter } from '../adapter.ts';
import type { About, SpendInput } from '../interface/building.ts';
import type { BtcSighash, Signed } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { ReadTransaction, Touch } from '../interface/sending.ts';
import type { Care } from '../interface/turns.ts';
import { type Memory, type Watching, watching } from '../kit/watching.ts';
import { isRefusal, type Offers, offersTo } from '../nodes/offers.ts';
import type { BitcoinBackend } from './backend.ts';
import { coreBackend } from './core-backend.ts';
import { costsAt, leastRefundOf, leastSats } from './costs.ts';
import { paymentsOf } from './escrow-facts.ts';
import {
  applyTransaction,
  historyOf,
  involvement,
  mayBeEscrow,
  takeTouched,
  type WatchedBytes,
} from './escrow-index.ts';
import { bitcoinContract } from './escrow-tree.ts';
import { esploraBackend } from './esplora-backend.ts';
import {
  type Conflict,
  defaultFeeBounds,
  estimating,
  type FeeBounds,
  type FeeEstimate,
  ladderRate,
  publicClaimBounds,
  rateOf,
  refundDeadline,
} from './fees.ts';
import { createFollower, type Follower, follow, type Log, unfollow } from './follower.ts';
import { checkingAnswer, checkingRequest } from './musig.ts';
import {
  type BitcoinNetwork,
  type BitcoinNetworkName,
  bitcoinNetworks,
  paidAddress,
  parseBitcoinAddress,
} from './networks.ts';
import {
  bitcoinEscrow,
  destination,
  escrowBytes,
  maxSats,
  type Path,
  paymentUri,
  type Verb,
  vsizeOf,
} from './plan.ts';
import { bitcoinBlockSeconds, bitcoinPolicies, fallbackRates } from './policy.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
import { type Both, catchUpBoth, followBoth, followChanges, look } from './read.ts';
import { assembledWith } from './signed-psbt.ts';
import { scheduledSpends } from './signed-spends.ts';
import { type Agreement, agreementOf, inTurns, type Led } from './sources.ts';
import {
  checkTogether,
  claimable,
  refundable,
  rivals,
  type Spent,
  spend,
  untaken,
} from './spending.ts';
import { stuckFunding } from './stuck-funding.ts';

/** Where the chain is read: a Core node, an Esplora server, or a backend made by the caller. */
export type BitcoinSource =
  | { readonly coreUrl: string; readonly timeMs?: number }
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
  readonly agreement: Agreement;
  readonly estimate: (signal: AbortSignal) => Promise<FeeEstimate>;
  readonly offers: Offers;
  readonly keeping: Watching['keeping'];
};

function backendOf(source: BitcoinSource, network: BitcoinNetwork, now: () => number) {
  if ('backend' in source) return source.backend;
  const limits = source.timeMs === undefined ? {} : { timeMs: source.timeMs };
  if ('esploraUrl' in source) {
    return esploraBackend({ url: source.esploraUrl, network, limits });
  }
  return coreBackend({ url: source.coreUrl, network, now, limits });
}

export type BitcoinAdapter = Led & {
  /** One by each source alone, to hold one against the other. They share all that is read. */
  readonly nodes: readonly ChainAdapter[];
};

export function bitcoinAdapter(options: BitcoinAdapterOptions): BitcoinAdapter {
  const { now, log, chain } = options;
  const network = bitcoinNetworks[options.network];
  const backend = backendOf(options.source, network, now);
  const other = options.second ? backendOf(options.second, network, now) : null;
  const policy = options.policy ?? bitcoinPolicies[network.name];
  const first = shared(createFollower(backend, now, log, other));
  const alone = (each: Shared) =>
    adapterOn(options, [each], agreementOf([each.follower], chain, policy));
  if (other === null) {
    const adapter = alone(first);
    return { ...adapter, nodes: [adapter] };
  }
  const second = shared(createFollower(other, now, log, backend));
  const followers = [first.follower, second.follower] as const;
  const agreement = agreementOf(followers, chain, policy);
  const led = (...followed: Followed) => adapterOn(options, followed, agreement);
  const adapter = inTurns([led(first, second), led(second, first)], followers);
  return { ...adapter, nodes: [first, second].map(alone) };
}

/** A follower, and by how many adapters each of its escrows is kept. */
type Shared = { readonly follower: Follower; readonly keptBy: Map<string, number> };

function shared(follower: Follower): Shared {
  return { follower, keptBy: new Map() };
}

type Followed = readonly [Shared, Shared?];

function adapterOn(options: BitcoinAdapterOptions, followed: Followed, agreement: Agreement): Led {
  const { chain, now, feeBounds: bounds = defaultFeeBounds } = options;
  const network = bitcoinNetworks[options.network];
  const { follower } = followed[0];
  const { backend } = follower;
  const second = followed[1]?.follower ?? null;
  const followers = second === null ? [follower] : [follower, second];
  const fallbackRate = fallbackRates[network.name];
  const estimate = estimating((at, signal) => backend.feeEstimate(at, signal), {
    bounds,
    now,
    fallbackRate,
  });
  const offers = offersTo({ chain, sources: followers.length, rounds: 1 });
  const { methods, keeping } = watching(
    {
      ...keepingOn(followed, network, bounds),
      owe: (address) => follower.index.touched.add(address),
    },
    {
      changes: async (signal) => {
        const heads = await followChanges({ follower, second }, signal);
        return { touched: takeTouched(follower.index), heads };
      },
      look: (escrows, signal) => look({ follower, second }, escrows, signal),
    },
  );
  const reader = { follower, second, agreement, estimate, offers, keeping };
  const context = { chain, network, bounds, now, ...reader };
  const reading = { ...context, backend, history: historyBy(context) };
  return {
    chain,
    family: 'bitcoin',
    policy: options.policy ?? bitcoinPolicies[network.name],
    contract: bitcoinContract,
    parseAddress: (text) => parseBitcoinAddress(text, network).address,
    plan: (terms) => bitcoinEscrow(terms, network),
    ...methods,
    catchUp: (signal) => catchUpBoth({ follower, second }, signal),
    blockHash: (height, signal) => backend.blockHash(height, signal),
    payments: async (escrow, signal) => {
      const { history } = await reading.history(escrow, signal);
      return paymentsOf(history, escrow.terms.amount);
    },
    preflight: (terms, about, signal) => preflight(context, terms, about, signal),
    buildFund: async ({ escrow }, signal) => {
      await agreement.heads(signal);
      return payment(chain, escrow);
    },
    buildClaim: async (input, secret, signal) => {
      const { hashlock } = input.escrow.terms;
      // It comes into the witness only when the claim is signed; a wrong one must not get that far.
      if (opens(secret, hashlock)) return build(context, input, 'claim', signal);
      throw new ParleyError('wrong_secret', `sha256(secret) is not ${hashlock}`, {});
    },
    mustAgree: (escrow, signal) => mustAgree(context, escrow, signal),
    buildRefund: (input, signal) => build(context, input, 'refund', signal),
    planTogether: async (input, verb, signal) => {
      const { outputs, feeSats } = await planned(context, input, verb, 'key', signal);
      const named = outputs.map(({ txid, vout, amount }) => ({ txid, vout, amount }));
      const paysTo = destination(input.escrow.terms, network, verb).address;
      return { verb, outputs: named, feeSats, paysTo };
    },
    checkRequest: async ({ escrow, isPublic }, request, inTurns, signal) => {
      const { address, terms } = escrow;
      const { history } = await historyBy(context)(escrow, signal);
      const isClaim = request.verb === 'claim';
      const payments = isClaim ? [claimable(history, terms, address)] : untaken(history);
      const own = isClaim && isPublic ? publicClaimBounds(bounds) : bounds;
      checkTogether(request, { terms, network, payments, bounds: own });
      await inTurns(checkingRequest({ terms, network }, request), signal);
    },
    checkAnswer: async (terms, { request, answer }, inTurns, signal) => {
      await inTurns(checkingAnswer({ terms, network }, request, answer), signal);
    },
    readSigned: (signed, signal, care) => readSigned(context, signed, signal, care),
    broadcast: (transaction, signal) => broadcast(context, transaction, signal),
    // By the bytes: a txid leaves the witness out, and with it the secret.
    isKnown: async ({ txid, raw }, signal) => {
      const height = follower.index.records.get(txid)?.height ?? null;
      return (await backend.rawOf(txid, height, signal)) === raw;
    },
    stuckFunding: (escrow, sendBy, signal) => stuckFunding(reading, escrow, sendBy, signal),
    scheduledSpends: scheduledSpends({
      ...reading,
      second: second && { ...second.backend, learn: (tx) => learn(follower, tx) },
    }),
    checkAmount: (token, amount, signal) => checkAmount(context, token, amount, signal),
    blockSeconds: bitcoinBlockSeconds[network.name],
    costs: async (_token, signal) => costsAt(await estimate(signal), bounds),
    close: async () => offers.close(),
  };
}

/** One adapter's keeping of escrows: a follower forgets one that no adapter keeps any more. */
function keepingOn(
  followed: Followed,
  network: BitcoinNetwork,
  bounds: FeeBounds,
): Pick<Memory, 'keep' | 'drop'> {
  const own = new Set<string>();
  const all = followed.filter((each) => each !== undefined);
  return {
    keep: (escrow) => {
      const { address } = escrow;
      const bytes = bytesOf(escrow, network, bounds);
      for (const { follower, keptBy } of all) {
        follow(follower, escrow, bytes);
        if (!own.has(address)) keptBy.set(address, (keptBy.get(address) ?? 0) + 1);
      }
      own.add(address);
    },
    drop: (address) => {
      if (!own.delete(address)) return;
      for (const { follower, keptBy } of all) {
        const left = (keptBy.get(address) ?? 1) - 1;
        if (left > 0) {
          keptBy.set(address, left);
          continue;
        }
        keptBy.delete(address);
        unfollow(follower, address);
      }
    },
  };
}

/** The escrow's address must be that of its terms: an index of another address would never fill. */
function bytesOf(escrow: WatchedEscrow, network: BitcoinNetwork, bounds: FeeBounds): WatchedBytes {
  const bytes = escrowBytes(escrow.terms, network);
  if (bytes.address !== escrow.address) {
    throw new ParleyError(
      'unknown_escrow',
      `the terms give the escrow ${bytes.address}, not ${escrow.address}`,
      { escrow: escrow.address, derived: bytes.address },
    );
  }
  const to = destination(escrow.terms, network, 'refund');
  return { ...bytes, leastRefund: leastRefundOf(bytes, to, bounds) };
}

function mustAgree(
  { agreement, keeping }: Context,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  return keeping([escrow], () => agreement.funding(escrow, signal));
}

function historyBy({ follower, second, keeping }: Pick<Context, keyof Both | 'keeping'>) {
  return (escrow: WatchedEscrow, signal: AbortSignal) =>
    keeping([escrow], async () => {
      const { clock } = await followBoth({ follower, second }, escrow.address, signal);
      return { history: historyOf(follower.index, escrow.address), clock };
    });
}

function payment(chain: string, { address, terms }: WatchedEscrow) {
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

async function planned(
  context: Context,
  { escrow, feeRateSatPerVbyte: wantedRate, isPublic }: SpendInput,
  verb: Verb,
  path: Path,
  signal: AbortSignal,
): Promise<Spent> {
  const { network, follower, estimate } = context;
  const { terms, address } = escrow;
  const { history, clock } = await historyBy(context)(escrow, signal);
  const payments =
    verb === 'claim' ? [claimable(history, terms, address)] : refundable(history, address);
  const isKnown = isPublic || history.secret !== null;
  // A public secret can no longer be kept: only haste helps then.
  if (verb === 'claim' && !isKnown) await mustAgree(context, escrow, signal);
  const conflicts: Conflict[] = [];
  for (const txid of rivals(payments)) {
    const entry = await follower.backend.mempoolEntry(txid, signal);
    if (entry !== null) conflicts.push(entry);
  }
  const isPublicClaim = verb === 'claim' && isKnown;
  const bounds = isPublicClaim ? publicClaimBounds(context.bounds) : context.bounds;
  const now = context.now();
  // A holder of the public secret may claim until the refund is mined.
  const refundBy = isKnown ? now : refundDeadline(terms.timelock, now);
  // The chain's clock, where it is ahead, makes a claim's deadline nearer.
  const deadline = verb === 'claim' ? terms.timelock - Math.max(0, clock - now) : refundBy;
  const about = { verb, terms, network, payments, conflicts, bounds, now, deadline, wantedRate };
  return spend({ ...about, path, estimate: await estimate(signal) });
}

async function build(
  context: Context,
  input: SpendInput,
  verb: Verb,
  signal: AbortSignal,
): Promise<BtcSighash> {
  const { address, terms } = input.escrow;
  const built = await planned(context, input, verb, 'script', signal);
  return {
    chain: context.chain,
    family: 'bitcoin',
    sign: 'btc-sighash',
    psbtBase64: built.psbtBase64,
    sighashHexes: built.sighashHexes,
    ...(terms.form === 'p2tr' && { scheme: 'schnorr' }),
    escrow: address,
    feeSats: built.feeSats.toString(),
    feeRateSatPerVbyte: rateOf(built.feeSats, built.vsize),
    ladder: built.ladder.map((step) => ({ ...step, feeSats: step.feeSats.toString() })),
  };
}

async function readSigned(
  { follower, network }: Context,
  signed: Signed,
  signal: AbortSignal,
  care: Care | undefined,
): Promise<ReadTransaction> {
  if (typeof signed !== 'string' && !('psbtBase64' in signed)) {
    throw new ParleyError('bad_transaction', 'not a Bitcoin transaction: neither hex nor a PSBT');
  }
  const raw =
    typeof signed === 'string'
      ? signed.toLowerCase()
      : (await assembledWith(care, network, signed, signal)).raw;
  const tx = parseTx(raw);
  const scripts = tx.outputs.map(({ script }) => script).filter(mayBeEscrow);
  const pays = new Set(scripts.flatMap((script) => paidAddress(script, network)?.address ?? []));
  return { txid: tx.txid(), raw, touches: touchesOf(follower, tx), pays: [...pays] };
}

/** Takes a claim in that another source has, if it is one of an escrow that is followed. */
function learn({ index }: Follower, tx: Tx): boolean {
  const spends = involvement(index, tx)?.spends ?? [];
  const isClaim = spends.some(({ by }) => by === 'claim');
  if (isClaim) applyTransaction(index, tx, null);
  return isClaim;
}

function touchesOf({ index }: Follower, tx: Tx): Touch[] {
  const found = involvement(index, tx);
  const touches = new Map<string, Touch>();
  for (const { address: escrow } of found?.payments ?? []) {
    touches.set(`fund ${escrow}`, { escrow, verb: 'fund', secret: null });
  }
  for (const { address: escrow, secret, by: verb, together } of found?.spends ?? []) {
    touches.set(`${verb} ${escrow}`, { escrow, verb, secret, ...(together && { together }) });
  }
  return [...touches.values()];
}

/** To both sources: the first that takes it, or has it, is the answer. */
async function broadcast(
  { follower, second, offers }: Context,
  { txid, raw, touches }: ReadTransaction,
  signal: AbortSignal,
): Promise<string> {
  const { index } = follower;
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
  // A secret in it is public from now on. A node that has the same txid with another witness takes
  // these bytes without a word and keeps its own.
  const kept = await backendAt(taker)
    .rawOf(txid, null, signal)
    .catch(() => null);
  applyTransaction(index, parseTx(kept ?? raw), null);
  return txid;
}

async function checkAmount(
  { estimate, bounds }: Context,
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
  const rate = ladderRate(await estimate(signal), 0);
  const least = leastSats(rate, bounds);
  if (amount >= least) return;
  throw new ParleyError(
    'amount_too_small',
    `${amount} sats are too little for Bitcoin now: at ${rate} sat per vbyte a claim needs at ` +
      `least ${least} sats`,
    { amount, least },
  );
}

async function preflight(context: Context, terms: EscrowTerms, about: About, signal: AbortSignal) {
  const code = about === 'funding' ? 'funding_would_fail' : 'payout_would_fail';
  for (const verb of ['claim', 'refund'] as const) vsizeOf(terms, context.network, verb, 1);
  await checkAmount(context, terms.token, terms.amount, signal).catch((cause: unknown) => {
    if (!(cause instanceof ParleyError) || cause.code !== 'amount_too_small') throw cause;
    throw new ParleyError(code, cause.message, cause.facts, { cause });
  });
}
