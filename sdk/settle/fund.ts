// Funding the own leg, by a signature where that is the better way (ways/), else by transactions.
// Approvals come first where there are any, each mined before the next is signed.
// Gate, build, verify, sign, gate again, keep, send. What was kept is sent again; another is made
// only when none of its versions can be mined any more.

import type { ChainAdapter } from '../../chains/adapter.ts';
import { ParleyError } from '../../core/errors.ts';
import { opens } from '../../core/hashlock.ts';
import { SettleError, VerificationError } from '../errors.ts';
import { sleep } from '../http.ts';
import { inPlaceOf, keptNow, mayBeFunded, mustBeOnly, type SwapRecord } from '../stores/store.ts';
import type { Built } from '../types.ts';
import { mustFollowToday } from '../verify-kept.ts';
import { askToFund } from './ask-to-fund.ts';
import { mustAgree, open, signAndKeep } from './before-sending.ts';
import {
  type Context,
  legOf,
  ownSides,
  type Seen,
  type SetLeg,
  sourceOf,
  viewsOf,
  walletOf,
} from './context.ts';
import { onlyOf, sendGate } from './fund-gate.ts';
import { approvalLimitMs } from './hands/account.ts';
import type { Signing } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { claimPayerOf, owing } from './owed.ts';
import { send, sendWaiting } from './send.ts';
import { authorize, tendAuthorization } from './ways/authorization.ts';
import { type Way, wayOf } from './ways/choose.ts';
import { permitCall } from './ways/permit.ts';

/** Funds the own leg. Needs the market: with it gone nothing new is begun. */
export async function fund(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const hand = handOf(context, legOf(record, ownSides(record).gives));
  const { funding } = record;
  let latest = record;
  if (funding !== null) {
    const tended = await hand.tendFunding(record, funding);
    if (tended !== 'dead') return tended;
    hand.forget();
    // What was kept while it was looked after counts.
    latest = (await context.store.getSwap(context.swapId)) ?? record;
  }
  // Approving and funding belong together, until the funding has used the allowance up.
  return hand.alone(async () => {
    const next = await fundOnce(context, latest);
    const sent = next.funding;
    if (sent !== null && sent !== funding) await hand.untilMined(sent);
    return next;
  });
}

async function fundOnce(context: Context, before: SwapRecord): Promise<SwapRecord> {
  await mustBeOnly(context.store, onlyOf(before));
  await mustHoldSecret(context, before);
  const record = await approved(context, before);
  if (!(await followsToday(context, record))) return record;
  const { authorization } = record;
  if (authorization) return tendAuthorization(context, record, authorization);
  const built = await askToFund(context, record);
  if (built === null) return record;
  await mustAgree(context, record);
  const way = await wayOf(context, record, built);
  const isSent = way.way !== 'authorization';
  return owing(context, record, { isSent }, async () => {
    await preflight(context, record);
    if (!isSent) return authorize(context, record);
    return signAndSend(context, record, await carried(context, record, built, way));
  });
}

/** What is signed and sent: one transaction with a permit, where that works. */
async function carried(
  context: Context,
  record: SwapRecord,
  built: Built,
  way: Way,
): Promise<Built> {
  const leg = legOf(record, ownSides(record).gives);
  const wallet = walletOf(context, leg.chain);
  if (way.way !== 'permit' || wallet.family !== 'evm') return built;
  const call = await permitCall({ context, leg, wallet }, record, way.alternative);
  return call === null ? built : { ...way.built, txs: [call] };
}

async function signAndSend(
  context: Context,
  record: SwapRecord,
  built: Built,
): Promise<SwapRecord> {
  const { gives } = ownSides(record);
  const leg = legOf(record, gives);
  const hand = handOf(context, leg);
  const { after, sign } = await sendApprovals(context, record, hand.signFunding(built));
  const { funding } = record;
  const next = await signAndKeep(context, leg, {
    sign: async () => {
      const kept = await sign();
      return funding === null ? kept : inPlaceOf(funding, kept);
    },
    next: (kept) => ({ ...after, funding: keptNow(kept), owedBy: claimPayerOf(context, after) }),
    gate: () => sendGate(context, after),
    turn: { isUrgent: false },
  });
  const { funding: signed } = next;
  await send(context, leg, signed);
  const text = `sent the funding of leg ${gives} to ${leg.escrow.address}`;
  context.tell('funded', gives, text, signed.txid);
  return next;
}

/**
 * A swap that was kept before an upgrade, or before policies changed, is not funded under its
 * former times. Where a funding of it was sent already it is still watched, claimed and refunded.
 */
async function followsToday(context: Context, record: SwapRecord): Promise<boolean> {
  try {
    mustFollowToday(record, viewsOf(context), await context.now());
    return true;
  } catch (error) {
    if (!mayBeFunded(record) || !(error instanceof SettleError)) throw error;
    context.tell('waiting', ownSides(record).gives, error.message);
    return false;
  }
}

/** Nobody but the initiator can begin: the other leg pays for a secret that it alone has. */
async function mustHoldSecret(context: Context, { swap }: SwapRecord): Promise<void> {
  if (swap.role !== 'initiator') return;
  const secret = await context.store.getSecret(swap.hashlock);
  if (secret !== null && opens(secret, swap.hashlock)) return;
  const sentence = `the store has no secret for ${swap.hashlock}: never fund it`;
  throw new SettleError('secret_lost', sentence);
}

/** Both legs must be payable before either is worth funding. */
async function preflight(context: Context, record: SwapRecord): Promise<void> {
  const { gives, gets } = ownSides(record);
  for (const [name, about] of [
    [gets, 'payout'],
    [gives, 'payout'],
    [gives, 'funding'],
  ] as const) {
    const leg = legOf(record, name);
    const { adapter } = sourceOf(context, leg.chain);
    const { terms } = leg.escrow;
    if (about === 'funding') await mustHold(adapter, leg, context.limit());
    // An approval is part of the funding: whether the token lets the contract take it is tried
    // when the funding itself is signed.
    const isToken = terms.token !== null;
    if (about === 'funding' && isToken && handOf(context, leg).approvesTokens) continue;
    await adapter.preflight(terms, about, context.limit());
  }
}

/** Before anything is signed: an approval, or a funding that others send, would be paid in vain. */
async function mustHold(
  adapter: ChainAdapter,
  { leg, escrow: { terms } }: SetLeg,
  signal: AbortSignal,
): Promise<void> {
  const { token, amount, refund } = terms;
  const held = token === null ? amount : await (adapter.held?.(terms, signal) ?? amount);
  if (held >= amount) return;
  const sentence = `${refund.address} has ${held} of token ${token}, and leg ${leg} takes ${amount}`;
  throw new ParleyError('funding_would_fail', sentence, { held, amount });
}

/** How to sign the funding, once every approval before it is mined. */
async function sendApprovals(
  context: Context,
  before: SwapRecord,
  signings: readonly Signing[],
): Promise<{ after: SwapRecord; sign: Signing }> {
  const { gives } = ownSides(before);
  const leg = legOf(before, gives);
  let after = before;
  for (const sign of signings.slice(0, -1)) {
    const approving = after;
    const kept = await signAndKeep(context, leg, {
      sign,
      next: (approval) => ({ ...approving, approval: keptNow(approval) }),
      gate: open,
      turn: { isUrgent: false },
    });
    const { approval } = kept;
    await sendWaiting(context, leg, approval);
    after = await approved(context, kept);
    const much = context.allowance === 'standing' ? 'any amount from now on' : 'exactly the amount';
    const text = `the contract may take ${much}`;
    context.tell('approved', gives, text, approval.txid);
  }
  const sign = signings.at(-1);
  if (sign === undefined) throw new VerificationError('sign', 'something', 'nothing');
  return { after, sign };
}

/** Waits for the kept approval, whichever version of it is mined. */
async function approved(context: Context, before: SwapRecord): Promise<SwapRecord> {
  const until = performance.now() + approvalLimitMs;
  const hand = handOf(context, legOf(before, ownSides(before).gives));
  for (let record = await hand.recallApproval(before); ; ) {
    record = await pushApproval(context, record);
    if (!record.approval) return record;
    if (performance.now() > until) {
      const { txid } = record.approval;
      throw new ParleyError('funding_would_fail', `the approval ${txid} is not mined`, { txid });
    }
    await sleep(context.pollMs, context.signal);
  }
}

/**
 * Looks after a kept approval. Also when nothing is to be funded any more: until its nonce is used
 * every later transaction of the account waits behind it.
 */
export async function pushApproval(context: Context, record: SwapRecord): Promise<SwapRecord> {
  const { approval } = record;
  if (!approval) return record;
  return handOf(context, legOf(record, ownSides(record).gives)).tendApproval(record, approval);
}

/** Puts a funding that pays more in the place of an own one that no block takes. */
export async function raiseFunding(
  context: Context,
  record: SwapRecord,
  seen: Seen,
): Promise<SwapRecord> {
  const { funding } = record;
  const { gives } = ownSides(record);
  const { funded } = seen.state.legs[gives].facts;
  if (funding === null || (funded?.confirmations ?? 0) > 0) return record;
  return handOf(context, legOf(record, gives)).raiseFunding(record, funding, seen);
}
