// Claiming and refunding. Each: gate, build, verify, sign, gate again, keep, send. What was kept is
// sent again, and made anew only where the chain takes one of them at most.

import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts, Sighting } from '../../core/facts.ts';
import { claimGate, mustOpen, refundGate } from '../../core/gates.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import type { LegName } from '../../core/trade.ts';
import { SettleError } from '../errors.ts';
import { type Kept, keptNow, type SwapRecord } from '../stores/store.ts';
import { open, signAndKeep, type Telling } from './before-sending.ts';
import {
  type Context,
  type LegSeen,
  legOf,
  ownSides,
  relays,
  type Seen,
  type SetLeg,
} from './context.ts';
import { handOf } from './hands/of.ts';
import { relayClaim } from './relay.ts';
import { relayGate, revealGate } from './reveal.ts';
import { due, sendAlone } from './send.ts';
import { builtSpend, spend } from './spend.ts';

/** Tells the secret by claiming the leg that pays this side, if both chains still let it. */
export async function reveal(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  const { gets } = ownSides(record);
  const secret = await context.store.getSecret(record.swap.hashlock);
  if (secret === null) {
    const sentence = `the store has no secret for ${record.swap.hashlock}`;
    throw new SettleError('secret_lost', sentence);
  }
  mustOpen(seen.state, secret);
  claimGate(seen.state, gets, seen.clocks);
  const leg = legOf(record, gets);
  if (relays(context, leg)) {
    const telling = await relayGate(context, record);
    return relayOrClaim(context, record, seen.state.legs[gets].facts, { secret, telling });
  }
  const hand = handOf(context, leg);
  // One wallet may be able to pay for one claim and not for two: until the first is mined, its
  // balance does not show it. This swap goes on meanwhile: what was lost is to be sent again.
  return new Promise((resolve, reject) => {
    const revealing = hand.alone(async () => {
      const next = await claimNow(context, record, secret);
      resolve(next);
      if (next.claim !== null) await hand.untilMined(next.claim).catch(() => {});
    });
    revealing.catch(reject);
  });
}

/** Claims with a public secret, by what the chain that pays shows. */
export async function claim(
  context: Context,
  record: SwapRecord,
  { leg: { facts }, clock }: LegSeen,
  secret: Hex32,
): Promise<SwapRecord> {
  const { gets } = ownSides(record);
  const leg = legOf(record, gets);
  const hand = handOf(context, leg);
  if (!hand.claimsPastTimelock && clock >= leg.timelock) {
    // Sending it could only tell the secret.
    context.tell('waiting', gets, `leg ${gets} takes no claim since its timelock`);
    return hand.withdrawClaim(record);
  }
  if (record.claim !== null) return resend(context, record, 'claim', gets);
  return relayOrClaim(context, record, facts, { secret });
}

async function relayOrClaim(
  context: Context,
  record: SwapRecord,
  facts: EscrowFacts,
  told: { readonly secret: Hex32; readonly telling?: Telling },
): Promise<SwapRecord> {
  const relayed = await relayClaim(context, record, facts, told);
  // The market has it: only haste helps now.
  return relayed.waits ? relayed.record : claimNow(context, relayed.record, told.secret);
}

async function claimNow(context: Context, record: SwapRecord, secret: Hex32): Promise<SwapRecord> {
  const { gets } = ownSides(record);
  const leg = legOf(record, gets);
  const isPublic = record.publicSecret !== null;
  const { sign, gas } = await builtSpend(context, record, gets, { verb: 'claim', secret });
  const next = await signAndKeep(context, leg, {
    sign,
    // Once sent it cannot be taken back, seen or not: from then on only haste helps.
    next: (kept) => ({ ...record, claim: keptNow(kept), publicSecret: secret }),
    // What is public is claimed whatever a chain shows, or does not.
    ...(isPublic ? { gate: open } : revealGate(context, record, gas)),
    turn: { isUrgent: isPublic },
  });
  context.tell('claimed', gets, `sends the claim of leg ${gets}`, next.claim?.txid);
  return sendAnyway(context, next, 'claim', gets);
}

/** Takes back what the own leg holds. */
export async function refund(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  refundGate(seen.state.legs[gives], leg.timelock, seen.clocks);
  if (record.refund !== null) return resend(context, record, 'refund', gives);
  const { sign } = await builtSpend(context, record, gives, { verb: 'refund' });
  const next = await signAndKeep(context, leg, {
    sign,
    next: (kept) => ({ ...record, refund: keptNow(kept) }),
    gate: open,
    turn: { isUrgent: true },
  });
  context.tell('refunded', gives, `sends the refund of leg ${gives}`, next.refund?.txid);
  return sendAnyway(context, next, 'refund', gives);
}

/**
 * Rent that a claim without the funder's account left in a Solana escrow. Sent for once, and waited
 * for by nobody: the swap has ended.
 */
export async function takeRent(context: Context, record: SwapRecord, seen: Seen): Promise<void> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  if (leg.family !== 'solana' || seen.state.legs[gives].facts.claimed === null) return;
  try {
    const kept = await spend(context, record, gives, { verb: 'refund' });
    await sendAlone(context, leg, kept);
    context.tell('refunded', gives, `sends for the rent that leg ${gives} left`, kept.txid);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'nothing_there') return;
    const why = error instanceof Error ? error.message : String(error);
    context.tell('waiting', gives, `the rent that leg ${gives} left is not fetched: ${why}`);
  }
}

/**
 * A claim or refund of ours that no block takes is replaced by one that pays more, where it helps:
 * the adapter bids higher as the deadline nears, within the customer's bounds.
 */
export async function replaceStuck(
  context: Context,
  record: SwapRecord,
  { leg: { leg: name, facts } }: LegSeen,
  wall: number,
): Promise<SwapRecord> {
  const leg = legOf(record, name);
  const { publicSecret: secret } = record;
  if (name === ownSides(record).gives) {
    if (!isStuck(context, leg, record.refund, { shown: facts.refunded, wall })) return record;
    const kept = await spend(context, record, name, { verb: 'refund' });
    return sendInstead(context, { ...record, refund: keptNow(kept) }, 'refund', name);
  }
  if (secret === null || !isStuck(context, leg, record.claim, { shown: facts.claimed, wall })) {
    return record;
  }
  const kept = await spend(context, record, name, { verb: 'claim', secret });
  return sendInstead(context, { ...record, claim: keptNow(kept) }, 'claim', name);
}

/** Whether our own transaction, seen by our node, has waited for its first block long enough. */
function isStuck(
  context: Context,
  leg: SetLeg,
  kept: Kept | null,
  { shown, wall }: { readonly shown: Sighting | null; readonly wall: number },
): boolean {
  if (kept === null || shown?.txid !== kept.txid || shown.confirmations > 0) return false;
  return handOf(context, leg).isStuck(kept, wall);
}

async function sendInstead(
  context: Context,
  next: SwapRecord,
  verb: 'claim' | 'refund',
  name: LegName,
): Promise<SwapRecord> {
  await context.store.putSwap(next);
  const step = verb === 'claim' ? 'claimed' : 'refunded';
  const text = `sends the ${verb} of leg ${name} again, with a higher fee`;
  context.tell(step, name, text, next[verb]?.txid);
  return sendAnyway(context, next, verb, name);
}

/** Sends a kept claim or refund again; one that no node takes any more is made anew. */
async function resend(
  context: Context,
  record: SwapRecord,
  verb: 'claim' | 'refund',
  name: LegName,
): Promise<SwapRecord> {
  const kept = record[verb];
  const leg = legOf(record, name);
  if (kept === null || !due(context, leg, kept)) return record;
  return handOf(context, leg).tendSpend(record, verb, kept);
}

async function sendAnyway(
  context: Context,
  record: SwapRecord,
  verb: 'claim' | 'refund',
  name: LegName,
): Promise<SwapRecord> {
  const kept = record[verb];
  if (kept === null) return record;
  return handOf(context, legOf(record, name)).sendSpend(record, verb, kept);
}
