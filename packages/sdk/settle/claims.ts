// Claiming and refunding: gate, build, verify, sign, gate again, keep, send.

import type { Offered, Shortage } from '@parley/chains/interface/gas.ts';
import type { Signed } from '@parley/chains/interface/material.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowFacts } from '@parley/core/facts.ts';
import { has } from '@parley/core/families.ts';
import { claimGate, mustOpen, refundGate } from '@parley/core/gates.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { releaseOf } from '@parley/core/release.ts';
import { hasPassed } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';
import { messageOf, SettleError } from '../errors.ts';
import { type Kept, keptNow } from '../stores/store.ts';
import { byEachNode, refreshed, snapshot } from './chains.ts';
import { asPersonWants, type Context, ownLeg, payingLeg, sourceOf, walletOf } from './context.ts';
import { claimsTogether } from './cosigning.ts';
import { mustHoldNoMore } from './extra.ts';
import type { Spending } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { aloneOf, type LegSeen, legOf, ownSides, type Seen } from './record.ts';
import { asksMarket, relayClaim, revealer, shortage, unpayable } from './relaying.ts';
import { due, sendAlone } from './send.ts';
import {
  builtSpend,
  mustAfford,
  mustAgree,
  offeredFor,
  open,
  putTelling,
  signAndKeep,
} from './sign.ts';

/** Tells the secret by claiming the leg that pays this side, if both chains still let it. */
export async function reveal(context: Context, seen: Seen): Promise<void> {
  const { hashlock } = context.record.swap;
  const leg = payingLeg(context);
  const secret = await context.store.getSecret(hashlock);
  if (secret === null) {
    throw new SettleError('secret_lost', `the store has no secret for ${hashlock}`);
  }
  mustOpen(seen.state, secret);
  claimGate(seen.state, leg.leg, seen.clocks);
  if ((await revealer(context, seen)) === 'market') {
    const fresh = await snapshot(context);
    await mayReveal(context, fresh, 'market');
    const { facts } = seen.state.legs[leg.leg];
    // No signature comes between this and the relay. Once the secret is sent, only haste helps.
    const isWaitedFor = await relayClaim(context, facts, secret, () => inTime(context, fresh));
    // A side that may lack funds learns it from the next poll.
    return isWaitedFor || context.relay !== true ? undefined : claimNow(context, secret);
  }
  const hand = handOf(context, leg);
  // Until a claim is mined the balance does not show it: the next reveal of this account waits,
  // this swap goes on.
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const revealing = hand.alone(async () => {
        await claimTelling(context, secret);
        resolve();
        const { claim: sent } = context.record;
        if (sent !== null) await hand.untilMined(sent).catch(() => {});
      });
      revealing.catch(reject);
    });
  // A person decides about what was paid too much before a wallet is to be asked.
  await mustHoldNoMore(context);
  return asPersonWants(context, leg, 'claim', work);
}

/** Claims with a public secret, by what the chain that pays shows. */
export async function claim(context: Context, seen: LegSeen): Promise<void> {
  const { facts } = seen.leg;
  const { publicSecret: secret, claim: kept } = context.record;
  if (secret === null) return;
  if (kept !== null) await resend(context, 'claim', kept);
  else if (isClaimedForUs(context, facts)) return;
  if (kept === null && (await claimsTogether(context, seen))) return;
  const byMarket = () => relayClaim(context, facts, secret);
  const isAsked = asksMarket(context, null);
  if (kept !== null && !isAsked) return;
  // While the market's claim is waited for, nobody asks what the wallet lacks.
  if (isAsked && (await byMarket())) return;
  const short = await shortage(context);
  if (!isAsked && asksMarket(context, short) && (await byMarket())) return;
  // A node may be wrong about what the wallet has: a failed try costs less than a missed claim.
  if (kept === null) await claimAnyway(context, secret, short);
  if (short !== null && facts.claimed === null) throw unpayable(context, short);
}

/**
 * Bitcoin: a claim of the own key waits that this run has not sent, such as one that was left with
 * the market. It is raised when it waits too long.
 */
function isClaimedForUs(context: Context, { claimed }: EscrowFacts): boolean {
  const leg = payingLeg(context);
  if (claimed === null || !has(leg, 'coins')) return false;
  return !handOf(context, leg).isStuck({ txid: claimed.txid, raw: '' }, 0);
}

async function claimAnyway(context: Context, secret: Secret, short: Shortage | null) {
  try {
    await claimNow(context, secret);
  } catch (error) {
    context.signal?.throwIfAborted();
    // The shortage says more than the node's error.
    if (short === null) throw error;
  }
}

function claimNow(context: Context, secret: Secret): Promise<void> {
  const leg = payingLeg(context);
  return asPersonWants(context, leg, 'claim', () => claimTelling(context, secret));
}

async function claimTelling(context: Context, secret: Secret): Promise<void> {
  const { asks } = walletOf(context, payingLeg(context).chain);
  if (asks !== undefined && context.record.publicSecret === null) await tellWallet(context, secret);
  await claimAlone(context, secret);
}

/**
 * A person's wallet shows what it is to sign to whoever it trusts. From then on the secret counts
 * as public, signed or not.
 */
async function tellWallet(context: Context, secret: Secret): Promise<void> {
  const { gate, still } = revealGate(context, null);
  await gate(null);
  await putTelling(context, { publicSecret: secret }, still);
}

async function claimAlone(context: Context, secret: Secret): Promise<void> {
  const leg = payingLeg(context);
  const isPublic = context.record.publicSecret !== null;
  const { sign, gas } = await builtSpend(context, leg, { verb: 'claim', secret });
  const { txid } = await signAndKeep(context, leg, {
    sign,
    // Once sent it cannot be taken back, seen or not: from then on only haste helps.
    keeps: (kept) => ({ claim: kept, publicSecret: secret }),
    // A claim with a public secret is sent whatever a chain shows.
    ...(isPublic ? { gate: open } : revealGate(context, gas)),
    isUrgent: isPublic,
  });
  context.emit('claimed', leg.leg, `sends the claim of leg ${leg.leg}`, txid);
  await handOf(context, leg).sendSpend('claim');
}

/** The sender of the claim pays for it: oneself, for what is offered, or the market. */
type By = { readonly offered: Offered | null } | 'market';

/**
 * At both chains before signing; after it at the paying one, whose every change could cost the
 * secret.
 */
function revealGate(context: Context, gas: bigint | null) {
  const { leg: gets } = payingLeg(context);
  let seen: Seen | null = null;
  const gate = async (signed: Kept | null) => {
    const fresh = await snapshot(context);
    seen = fresh;
    await mayReveal(context, fresh, { offered: offeredFor(gas, signed) });
    return async (signedNow: Kept) => {
      const again = await refreshed(context, fresh, gets);
      seen = again;
      await mayReveal(context, again, { offered: offeredFor(gas, signedNow) }, [gets]);
    };
  };
  const still = async () => {
    if (seen !== null) await inTime(context, seen);
  };
  return { gate, still };
}

async function inTime(context: Context, { state, clocks }: Seen) {
  claimGate(state, payingLeg(context).leg, { ...clocks, wall: await context.now() });
}

/** A token that was paused, or refuses the payout, must not cost the secret. */
export async function mayReveal(
  context: Context,
  seen: Seen,
  by: By,
  agreeing?: readonly LegName[],
): Promise<void> {
  const { leg, chain, escrow } = payingLeg(context);
  claimGate(seen.state, leg, seen.clocks);
  // From then on only the chain may refuse.
  if (seen.state.secret !== null) return;
  const tried = await Promise.allSettled([
    mustAgree(context, agreeing),
    by === 'market' ? null : mustAfford(context, by.offered),
    byEachNode(context, chain, (each, limit) => each.preflight(escrow.terms, 'claim', limit)),
    mustHoldNoMore(context),
  ]);
  for (const each of tried) if (each.status === 'rejected') throw each.reason;
  await inTime(context, seen);
}

export async function refund(context: Context, own: LegSeen, wall: number): Promise<void> {
  const leg = ownLeg(context);
  const { record } = context;
  const { state, clocks } = aloneOf(record, own, wall);
  const given = state.legs[leg.leg];
  // From the timelock on, by the chain's own clock, the leg needs no release.
  const isDue = hasPassed(given, leg.timelock, clocks);
  const release = isDue ? null : releaseOf(given, leg.escrow.address);
  if (release === null) refundGate(given, leg.timelock, clocks);
  const { refund: kept } = record;
  if (kept !== null && !(await takesLess(context, own, kept))) {
    return resend(context, 'refund', kept);
  }
  try {
    await asPersonWants(context, leg, 'refund', () => refundNow(context, release));
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'nothing_there') throw error;
    context.refunding.isTried = true;
    context.waits(leg, error.message);
  }
}

/** Bitcoin: whether a former run's refund is out, and more lies in the escrow than that takes. */
async function takesLess(context: Context, { leg }: LegSeen, kept: Kept): Promise<boolean> {
  const { adapter } = sourceOf(context, leg.chain);
  const { refunded } = leg.facts;
  const isWaiting = refunded !== null && !refunded.deep;
  if (adapter.payments === undefined || isWaiting || context.refunding.isTried) return false;
  const read = await adapter.readSigned(kept.raw as Signed, context.limit());
  return adapter.isKnown(read, context.limit());
}

async function refundNow(context: Context, release: string | null): Promise<void> {
  const leg = ownLeg(context);
  const spending: Spending = release === null ? { verb: 'refund' } : { verb: 'refund', release };
  const { sign } = await builtSpend(context, leg, spending);
  const { txid } = await signAndKeep(context, leg, {
    sign,
    keeps: (kept) => ({ refund: kept }),
    gate: open,
    isUrgent: true,
  });
  context.emit('refunded', leg.leg, `sends the refund of leg ${leg.leg}`, txid);
  await handOf(context, leg).sendSpend('refund');
  context.refunding.isTried = true;
}

/** Sends a kept claim or refund again; one that no node takes any more is made anew. */
async function resend(context: Context, verb: Spending['verb'], kept: Kept): Promise<void> {
  const leg = verb === 'claim' ? payingLeg(context) : ownLeg(context);
  if (!due(context, leg, kept)) return;
  await handOf(context, leg).tendSpend(verb);
  if (verb === 'refund') context.refunding.isTried = true;
}

/** A claim that the chain refuses since the timelock is of no use any more. */
export async function withdrawClaim(context: Context): Promise<void> {
  const leg = payingLeg(context);
  context.waits(leg, `leg ${leg.leg} takes no claim since its timelock`);
  await handOf(context, leg).withdrawClaim();
}

/** Rent that a claim left in a Solana escrow. Waited for by nobody: the swap has ended. */
export async function takeRent(context: Context): Promise<void> {
  const leg = ownLeg(context);
  // The swap is over: the person is not asked for it.
  if (walletOf(context, leg.chain).asks !== undefined) return;
  try {
    const { sign } = await builtSpend(context, leg, { verb: 'refund' });
    const kept = await sign();
    await sendAlone(context, leg, kept);
    context.emit('refunded', leg.leg, `sends for the rent that leg ${leg.leg} left`, kept.txid);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'nothing_there') return;
    context.waits(leg, `the rent that leg ${leg.leg} left is not fetched: ${messageOf(error)}`);
  }
}

/** The adapter bids higher as the deadline nears, within the customer's bounds. */
export async function replaceStuck(context: Context, name: LegName, wall: number): Promise<void> {
  const { record } = context;
  const leg = legOf(record, name);
  const { publicSecret: secret } = record;
  const isOwn = name === ownSides(record).gives;
  if (!isOwn && secret === null) return;
  const asked: Spending = isOwn ? { verb: 'refund' } : { verb: 'claim', secret: secret ?? '' };
  const { verb } = asked;
  const kept = record[verb];
  const hand = handOf(context, leg);
  if (kept === null || !hand.isStuck(kept, wall)) return;
  const { sign } = await builtSpend(context, leg, asked);
  const raised = keptNow(await sign());
  await context.keep({ [verb]: raised });
  const step = verb === 'claim' ? 'claimed' : 'refunded';
  context.emit(
    step,
    name,
    `sends the ${verb} of leg ${name} again, with a higher fee`,
    raised.txid,
  );
  await hand.sendSpend(verb);
}
