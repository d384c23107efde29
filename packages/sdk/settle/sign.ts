// The steps between building and sending. Claims and refunds are built by the customer alone: a
// market could lie, be slow, or learn too much.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Offered } from '@parley/chains/interface/gas.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import { fundGate } from '@parley/core/gates.ts';
import type { LegName } from '@parley/core/trade.ts';
import { ParleyApiError, WalletError, type WalletFault } from '../errors.ts';
import {
  type AskedFunding,
  type Kept,
  keptNow,
  mustBeOnly,
  type SwapRecord,
} from '../stores/store.ts';
import { outputsOf, paidWhere, verifyMaterial } from '../verify-material.ts';
import { mostFeePerGasOf } from '../wallets/evm.ts';
import { byEachNode, snapshot } from './chains.ts';
import { type Context, ownLeg, payingLeg, shows, sourceOf } from './context.ts';
import type { Signing, Spending, SpendSigning } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { asked, keepOwnWord, takeOwnWord, unquoted } from './market.ts';
import { claimPayerOf } from './owed.ts';
import { legOf, type SetLeg, watchedOf } from './record.ts';

/** A snapshot of the chains older than this is repeated before anything is signed by it. */
export const freshMs = 5_000;
/** A signature takes its time, and deadlines leave ten minutes for it. */
export const signedFreshMs = 30_000;
/** From then on it is signed by an older one. */
export const mostSnapshots = 3;

/** Returns what is asked again right after signing, of its own chain and clock alone. */
export type Gate = (signed: Kept | null) => Promise<(signed: Kept) => Promise<void>>;

/** Whether a transaction with a secret may still be sent once it is kept, by the clock. */
export type Still = () => Promise<void>;

type Keeping = {
  readonly sign: Signing;
  readonly keeps: (kept: Kept) => Partial<SwapRecord>;
  readonly gate: Gate;
  /** Kept before a wallet is asked that sends by itself: it may do so at any time from then on. */
  readonly asks?: () => Partial<SwapRecord>;
  /** Urgent is what may not be put off: a claim whose secret is public, and a refund. */
  readonly isUrgent: boolean;
  readonly still?: Still;
};

export const open: Gate = async () => async () => {};

/**
 * Where others of the account wait the gate is asked before: a slow chain holds up nobody of
 * another.
 */
export async function signAndKeep(
  context: Context,
  leg: SetLeg,
  keeping: Keeping,
  nowMs: () => number = () => performance.now(),
): Promise<Kept> {
  const hand = handOf(context, leg);
  const { gate, isUrgent } = keeping;
  if (hand.sends) return askAndKeep(context, keeping);
  const gated = async (signed: Kept) => {
    await gate(signed);
  };
  if (!hand.sharesNonces) {
    return hand.keeping(() => keepSigned(context, leg, keeping, gated), isUrgent);
  }
  for (let snapshots = 1; ; snapshots += 1) {
    const again = await gate(null);
    const takenAtMs = nowMs();
    const isOlder = (ms: number) => nowMs() - takenAtMs > ms;
    const check = (signed: Kept) => (isOlder(signedFreshMs) ? gated(signed) : again(signed));
    const kept = await hand.keeping(async () => {
      // The lock came late: others go on while the gate is asked again.
      if (isOlder(freshMs) && snapshots < mostSnapshots) return null;
      return keepSigned(context, leg, keeping, check);
    }, isUrgent);
    if (kept !== null) return kept;
  }
}

/**
 * A wallet that sends is checked beforehand, since nothing can be taken back. A refusal leaves what
 * was kept before, and every other failure leaves open whether it was sent.
 */
async function askAndKeep(
  context: Context,
  { sign, keeps, gate, asks = () => ({}) }: Keeping,
): Promise<Kept> {
  await gate(null);
  const { asked: before = null } = context.record;
  await context.keep(asks());
  const { asked } = context.record;
  try {
    const kept = keptNow(await sign());
    await context.keep(keeps(kept));
    return kept;
  } catch (error) {
    if (asked && asked !== before) await context.keep({ asked: stillAsked(asked, before, error) });
    throw error;
  }
}

/** Before they ask: the person saw nothing yet, or said no. */
const unsent: readonly WalletFault[] = ['declined', 'wrong_network', 'wrong_account'];

function stillAsked(
  asked: AskedFunding,
  before: AskedFunding | null,
  error: unknown,
): AskedFunding | null {
  // Any error that is no answer of the wallet came before it was asked.
  if (!(error instanceof WalletError) || unsent.includes(error.code)) return before;
  return { ...asked, txid: error.txid };
}

async function keepSigned(
  context: Context,
  leg: SetLeg,
  { sign, keeps, still }: Keeping,
  check: (signed: Kept) => Promise<void>,
): Promise<Kept> {
  const signed = await sign();
  try {
    await check(signed);
    // From this moment on it is on its way.
    const kept = keptNow(signed);
    const change = keeps(kept);
    await (still === undefined ? context.keep(change) : putTelling(context, change, still));
    return kept;
  } catch (error) {
    // Its nonce must not be left out.
    handOf(context, leg).forget();
    throw error;
  }
}

/** A reveal waits so long for the market's word. */
const wordLimitMs = 5_000;

/**
 * Another device may have given the swap up a moment ago; once this one has announced its claim,
 * the market lets none do so. A market that is silent is no reason to wait.
 */
async function announce(context: Context): Promise<void> {
  const { client, announcer = client, swapId, signal } = context;
  if (announcer === null) return;
  const { leg } = payingLeg(context);
  try {
    await asked(context, (how) => announcer.announceClaim(swapId, leg, how), wordLimitMs);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ParleyApiError)) throw error;
    if (error.code === 'given_up') await keepOwnWord(context, 'wish');
    // A market that refuses is there, and may know of a release.
    else if (!error.silent) throw error;
  }
  signal?.throwIfAborted();
  await takeOwnWord(context);
  if (context.record.givenUp === undefined) return;
  const sentence = 'this swap is given up: a claim now would reveal the secret';
  throw new ParleyError('given_up', sentence, { leg });
}

/** The secret counts as public once this has succeeded, and not before. */
export async function putTelling(context: Context, change: Partial<SwapRecord>, still: Still) {
  await announce(context);
  const { record, store } = context;
  return unquoted(() => store.putTelling({ ...record, ...change }, record, still));
}

/** The escrow as this side spends it: Bitcoin is paid where the wallet says. */
export function paidBy(context: Context, { leg, chain }: SetLeg, verb: Spending['verb']) {
  const wallet = context.chains[chain]?.wallet;
  const { view } = sourceOf(context, chain);
  const payout = has(wallet, 'coins') ? wallet.payout : undefined;
  return paidWhere(watchedOf(context.record, leg), verb, view, payout);
}

/** A claim or refund of this leg, built and checked, to be signed when it has the lock. */
export async function builtSpend(
  context: Context,
  leg: SetLeg,
  asked: Spending,
): Promise<SpendSigning> {
  const built = await unsignedSpend(context, leg, asked);
  shows(context, leg, asked, built);
  const isPublic = context.record.publicSecret !== null;
  const how = { isPublic, hasFailed: context.record.claimFailed ?? false };
  const { sign, gas } = await handOf(context, leg).signSpend(built, asked, how);
  return { sign: isPublic || asked.verb === 'refund' ? sign : () => unquoted(sign), gas };
}

/** The same for whoever signs elsewhere. */
export async function unsignedSpend(
  context: Context,
  leg: SetLeg,
  asked: Spending,
): Promise<Material> {
  const { record } = context;
  const { adapter, view } = sourceOf(context, leg.chain);
  const isPublic = record.publicSecret !== null;
  const escrow = paidBy(context, leg, asked.verb);
  const release = asked.verb === 'refund' ? asked.release : undefined;
  const given = { escrow, feeRateSatPerVbyte: null, isPublic };
  const input = release === undefined ? given : { ...given, release };
  const build = (adapter: ChainAdapter) =>
    asked.verb === 'claim'
      ? adapter.buildClaim(input, asked.secret, context.limit())
      : adapter.buildRefund(input, context.limit());
  const isReveal = asked.verb === 'claim' && !isPublic;
  // Before a reveal no node may refuse.
  const builds = context.builds.get(leg.leg) ?? 0;
  context.builds.set(leg.leg, builds + 1);
  const built = isReveal ? await build(adapter) : await byAnyNode(context, leg, build, builds);
  const outputs = built.sign === 'btc-sighash' ? outputsOf(built.psbtBase64) : null;
  const limits = { validUntil: null, outputs, isPublic, now: await context.now() };
  verifyMaterial(built, asked, escrow.terms, view, limits);
  return built;
}

/**
 * By all nodes in turn; where they refuse, by each alone, the one that shows the most to do first:
 * one that says "already claimed" stops no claim. Each second time another one alone is first: one
 * may build what no block takes, and take it. Throws what the first one said.
 */
async function byAnyNode<T>(
  context: Context,
  leg: SetLeg,
  build: (adapter: ChainAdapter) => Promise<T>,
  builds: number,
): Promise<T> {
  const source = sourceOf(context, leg.chain);
  const { evidence } = context.lastSeen.get(leg.leg) ?? {};
  const all = source.nodes ?? [];
  const open = evidence?.agreed === false ? all[evidence.node] : undefined;
  const usual = [...(open === undefined ? [] : [open]), source.adapter, ...all];
  const turned = builds % 2 === 0 ? [] : all.toReversed().slice(((builds - 1) / 2) % all.length);
  const adapters = new Set([...turned.slice(0, 1), ...usual]);
  const refusals: unknown[] = [];
  for (const adapter of adapters) {
    try {
      return await build(adapter);
    } catch (error) {
      context.signal?.throwIfAborted();
      refusals.push(error);
    }
  }
  throw refusals[0];
}

/** Signing a funding may have taken long: all is read once more, right before sending. */
export async function fundingGate(context: Context): Promise<Still> {
  const { leg } = ownLeg(context);
  const { state, clocks } = await snapshot(context);
  fundGate(state, leg, clocks);
  await mustBeOnly(context.store, context.record);
  return async () => fundGate(state, leg, { ...clocks, wall: await context.now() });
}

/**
 * A claim that cannot be paid for leaves this side with neither. Other claims it owes are no reason
 * to wait.
 */
export async function mustAfford(context: Context, offered: Offered | null): Promise<void> {
  const { leg, chain, escrow } = payingLeg(context);
  const { terms } = escrow;
  const address = claimPayerOf(context);
  const owed = { claims: [terms], fundings: [] };
  const all = await byEachNode(context, chain, async (adapter, limit) =>
    offered === null
      ? adapter.claimShortage?.(terms, address, limit)
      : adapter.fundsShortage?.({ ...owed, offered }, address, limit),
  );
  const shortage = all.find((each) => each);
  if (!shortage) return;
  const { sentence, code } = shortage;
  throw new ParleyError('claim_unpayable', sentence, { leg, address, lack: code });
}

/** The offer for a claim with this gas; exactly so, once it is signed. */
export function offeredFor(gas: bigint | null, signed: Kept | null): Offered | null {
  if (gas === null) return null;
  return { gas, feePerGas: signed === null ? null : mostFeePerGasOf(signed) };
}

/** Several nodes of one chain must show the same before money or a secret relies on it. */
export async function mustAgree(
  context: Context,
  legs: readonly LegName[] = ['a', 'b'],
): Promise<void> {
  for (const name of legs) {
    const { adapter } = sourceOf(context, legOf(context.record, name).chain);
    await adapter.mustAgree?.(watchedOf(context.record, name), context.limit());
  }
}
